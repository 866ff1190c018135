// TLS: the same server behind another transport.
#include <atomic>
#include <memory>
#include <unistd.h>

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/test_folder.h"
#include "net/sse.h"
#include "tests/net/running_server.h"
#include "tests/net/test_feed.h"

namespace errand::net {
namespace {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* thing) const {
    release(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;

// A certificate of its own making, for an hour.
struct TlsFolder {
  TlsFolder() {
    const Key key(EVP_EC_gen("P-256")), other(EVP_EC_gen("P-256"));
    const std::unique_ptr<X509, Release<X509_free>> certificate(X509_new());
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                               0);
    X509_set_issuer_name(certificate.get(), subject);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    write(files.certificate, [&](std::FILE* file) { PEM_write_X509(file, certificate.get()); });
    const auto write_key = [](EVP_PKEY* which) {
      return [which](std::FILE* file) { PEM_write_PrivateKey(file, which, nullptr, nullptr, 0, nullptr, nullptr); };
    };
    write(files.key, write_key(key.get()));
    write(other_key, write_key(other.get()));
  }
  template <class Put>
  static void write(const std::string& path, Put put) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    put(file);
    std::fclose(file);
  }

  TestFolder folder;
  std::string other_key = folder / "other.pem";
  TlsFiles files = {folder / "cert.pem", folder / "key.pem"};
};

class TlsClient {
 public:
  explicit TlsClient(int port) : context_(SSL_CTX_new(TLS_client_method())), socket_(RawClient::tcp(port)) {
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket_.fd());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }
  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
  }
  // Reads until `text` was seen; everything read since the last call up to its end.
  std::string until(std::string_view text) {
    size_t found;
    while ((found = got_.find(text)) == std::string::npos) {
      char buffer[32 << 10];
      const int got = SSL_read(ssl_.get(), buffer, sizeof buffer);
      if (got <= 0) return "<end>";
      got_.append(buffer, static_cast<size_t>(got));
    }
    std::string taken = got_.substr(0, found + text.size());
    got_.erase(0, taken.size());
    return taken;
  }

 private:
  std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>> context_;
  RawClient socket_;
  std::unique_ptr<SSL, Release<SSL_free>> ssl_;
  bool connected_ = false;
  std::string got_;
};

int listen(RunningServer& running, const TlsFiles& files) {
  Result<int> port = 0;
  running.on_loop([&] { port = running.server().listen_tls("127.0.0.1", 0, files); });
  EXPECT_TRUE(port) << (port ? "" : port.error().message);
  return port.value_or(0);
}

TEST(Tls, ServesRequestsAndSaysThatTheyAreSecure) {
  const TlsFolder folder;
  std::atomic<bool> secure = false;
  RunningServer running(
      {},
      [&](Request& head, uint64_t) -> std::optional<Response> {
        secure = head.secure;
        return std::nullopt;
      },
      echo);
  TlsClient client(listen(running, folder.files));
  ASSERT_TRUE(client.connected());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"));
    EXPECT_TRUE(client.until("POST /a hello").starts_with("HTTP/1.1 200 OK"));
  }
  EXPECT_TRUE(secure);
  RawClient plain = running.connect();
  plain.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(plain.reply()->status, 200);
  EXPECT_FALSE(secure);
}

TEST(Tls, LargeBodiesGoBothWays) {
  const TlsFolder folder;
  RunningServer running({}, {}, echo);
  TlsClient client(listen(running, folder.files));
  std::string body(3 << 20, 'b');
  for (size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                          body + "GET /end HTTP/1.1\r\nHost: x\r\n\r\n"));
  const std::string all = client.until("GET /end ");
  EXPECT_NE(all.find("POST /a " + body), std::string::npos);
}

TEST(Tls, StreamsAreWrittenAsTheyCome) {
  const TlsFolder folder;
  TestFeed feed(100'000);
  RunningServer running({}, {}, [&](ExchangePtr exchange) { exchange->stream(sse_response(), feed.reader()); });
  TlsClient client(listen(running, folder.files));
  client.send("GET /s HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  running.on_loop([&] {
    feed.publish("first\n");
    feed.wake();
  });
  EXPECT_NE(client.until("first\n"), "<end>");
  running.on_loop([&] {  // More than a socket takes at once.
    for (int i = 0; i < 30'000; ++i) feed.publish(std::string(199, 'x') + "\n");
    feed.publish("last\n");
    feed.wake();
  });
  EXPECT_GE(client.until("last\n").size(), 6'000'000u);
}

TEST(Tls, WhatIsNotTlsIsClosedAndSlowHandshakesAreEnded) {
  const TlsFolder folder;
  ServerLimits limits;
  limits.header_ms = 200;
  RunningServer running(limits, {}, echo);
  const int port = listen(running, folder.files);
  RawClient plain = RawClient::tcp(port), silent = RawClient::tcp(port);
  plain.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(plain.closed());
  EXPECT_TRUE(silent.closed());
  EXPECT_EQ(running.stats().requests, 0);
}

TEST(Tls, RefusesFilesThatDoNotBelongTogether) {
  const TlsFolder folder;
  const auto loop = Loop::make();
  const auto server = make_server(*loop, {}, {}, echo);
  EXPECT_FALSE(server->listen_tls("127.0.0.1", 0, {folder.files.certificate, folder.other_key}));
  EXPECT_FALSE(server->listen_tls("127.0.0.1", 0, {folder.folder / "missing", folder.files.key}));
  EXPECT_FALSE(server->listen_tls("127.0.0.1", 0, {folder.files.key, folder.files.key}));
  EXPECT_TRUE(server->listen_tls("127.0.0.1", 0, folder.files));
}

}  // namespace
}  // namespace errand::net
