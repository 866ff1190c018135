#include "tests/http/test_server.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "base/check.h"

namespace errand::http {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<size_t>(size));
  BIO_free(bio);
  return out;
}

BIO* bio_of(const std::string& text) { return BIO_new_mem_buf(text.data(), static_cast<int>(text.size())); }

}  // namespace

TestCertificate::TestCertificate(const std::string& name) {
  EVP_PKEY* key_pair = EVP_EC_gen("P-256");
  X509* made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key_pair);
  X509_NAME* subject = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("errand test"), -1, -1,
                             0);
  X509_set_issuer_name(made, subject);
  const auto extend = [&](int what, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    ERRAND_CHECK(extension, "a test certificate");
    X509_add_ext(made, extension, -1);
    X509_EXTENSION_free(extension);
  };
  extend(NID_basic_constraints, "critical,CA:TRUE");
  extend(NID_subject_alt_name, name);
  X509_sign(made, key_pair, EVP_sha256());
  BIO* certificate_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_text, made);
  pem = text_of(certificate_text);
  BIO* key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_text, key_pair, nullptr, nullptr, 0, nullptr, nullptr);
  key_pem = text_of(key_text);
  X509_free(made);
  EVP_PKEY_free(key_pair);
}

Peer::Peer(int fd, ssl_ctx_st* tls) : fd_(fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!tls) return;
  ssl_ = SSL_new(tls);
  SSL_set_fd(ssl_, fd);
}

Peer::~Peer() { SSL_free(ssl_); }

bool Peer::handshake() { return !ssl_ || SSL_accept(ssl_) == 1; }

long Peer::receive(char* to, size_t bytes) {
  if (ssl_) return SSL_read(ssl_, to, static_cast<int>(bytes));
  return ::recv(fd_.get(), to, bytes, 0);
}

std::string Peer::request() {
  char buffer[16384];
  const auto more = [&] {
    const long got = receive(buffer, sizeof buffer);
    if (got > 0) read_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  };
  size_t end = 0;
  while ((end = read_.find("\r\n\r\n")) == std::string::npos)
    if (!more()) return {};
  end += 4;
  size_t length = 0;
  const size_t header = read_.find("Content-Length: ");
  if (header < end) length = std::strtoul(read_.c_str() + header + 16, nullptr, 10);
  while (read_.size() < end + length)
    if (!more()) return {};
  std::string whole = read_.substr(0, end + length);
  read_.erase(0, end + length);
  return whole;
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const long put = ssl_ ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                          : ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

bool Peer::room(int within_ms) {
  pollfd waits{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
  return ::poll(&waits, 1, within_ms) != 0;
}

bool Peer::answer(std::string_view body, std::string_view extra_headers) {
  return write(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{}\r\n{}", body.size(), extra_headers, body));
}

void Peer::wait_until_gone() {
  char buffer[4096];
  while (receive(buffer, sizeof buffer) > 0) {
  }
}

void Peer::shut() { ::shutdown(fd_.get(), SHUT_RDWR); }

TestServer::TestServer(Serve serve, const TestCertificate* certificate) : serve_(std::move(serve)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to whoever left.
  if (certificate) {
    tls_ = SSL_CTX_new(TLS_server_method());
    BIO* bio = bio_of(certificate->pem);
    X509* x509 = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    bio = bio_of(certificate->key_pem);
    EVP_PKEY* key_pair = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    SSL_CTX_use_certificate(tls_, x509);
    SSL_CTX_use_PrivateKey(tls_, key_pair);
    X509_free(x509);
    EVP_PKEY_free(key_pair);
  }
  listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ERRAND_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0, "a port for a test");
  ERRAND_CHECK(::listen(listener_.get(), 64) == 0, "a listening test server");
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { run(); });
}

TestServer::~TestServer() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& peer : peers_) peer->shut();
  }
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& each : threads_) each.join();
  peers_.clear();
  SSL_CTX_free(tls_);
}

std::string TestServer::url(std::string_view path) const {
  return fmt::format("{}://127.0.0.1:{}{}", tls_ ? "https" : "http", port_, path);
}

void TestServer::run() {
  for (;;) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    auto peer = std::make_shared<Peer>(fd, tls_);
    ++accepted_;
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    peers_.push_back(peer);
    threads_.emplace_back([this, peer] {
      if (peer->handshake()) serve_(*peer);
      peer->shut();
    });
  }
}

void TestLoop::post(Work work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  ready_.notify_one();
}

bool TestLoop::run_one(int wait_ms) {
  Work work;
  {
    std::unique_lock lock(mutex_);
    if (!ready_.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return !posted_.empty(); })) return false;
    work = std::move(posted_.front());
    posted_.pop_front();
  }
  work();
  return true;
}

bool TestLoop::run_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    run_one(20);
  }
  return true;
}

void TestLoop::run_posted() {
  while (waiting() > 0) run_one(0);
}

size_t TestLoop::waiting() {
  const std::lock_guard lock(mutex_);
  return posted_.size();
}

}  // namespace errand::http
