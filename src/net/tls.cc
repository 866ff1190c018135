#include "net/tls.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace errand::net {

class TlsContext {
 public:
  TlsContext() : context(SSL_CTX_new(TLS_server_method())) {}
  ~TlsContext() { SSL_CTX_free(context); }
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  SSL_CTX* const context;
};

namespace {

// One record: what a write gathers at most.
constexpr size_t record_bytes = 16 << 10;

class TlsTransport final : public Transport {
 public:
  TlsTransport(TlsContext& tls, int fd) : fd_(fd), ssl_(SSL_new(tls.context)) {
    SSL_set_fd(ssl_, fd);
    SSL_set_accept_state(ssl_);
  }
  ~TlsTransport() override { SSL_free(ssl_); }

  Moved read(char* to, size_t bytes) override {
    ERR_clear_error();
    size_t got = 0;
    if (SSL_read_ex(ssl_, to, bytes, &got) == 1) return {got, Moved::Want::nothing};
    return {0, want()};
  }

  Moved write(std::span<const iovec> parts) override {
    // OpenSSL takes one buffer. A write that has to be repeated gathers the same bytes again.
    std::array<char, record_bytes> gathered;
    const char* from = static_cast<const char*>(parts[0].iov_base);
    size_t bytes = std::min(parts[0].iov_len, record_bytes);
    if (parts.size() > 1 && bytes < record_bytes) {
      bytes = 0;
      for (const iovec& part : parts) {
        const size_t take = std::min(part.iov_len, record_bytes - bytes);
        std::memcpy(gathered.data() + bytes, part.iov_base, take);
        bytes += take;
        if (bytes == record_bytes) break;
      }
      from = gathered.data();
    }
    ERR_clear_error();
    size_t put = 0;
    if (SSL_write_ex(ssl_, from, bytes, &put) == 1) return {put, Moved::Want::nothing};
    const Moved::Want waits = want();
    return {0, waits == Moved::Want::end ? Moved::Want::gone : waits};
  }

  bool buffered() const override { return SSL_pending(ssl_) > 0; }
  void finish() override {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    ::shutdown(fd_, SHUT_WR);
  }
  bool secure() const override { return true; }

 private:
  Moved::Want want() const {
    switch (SSL_get_error(ssl_, 0)) {
      case SSL_ERROR_WANT_READ:
        return Moved::Want::read;
      case SSL_ERROR_WANT_WRITE:
        return Moved::Want::write;
      case SSL_ERROR_ZERO_RETURN:
        return Moved::Want::end;
      default:
        return Moved::Want::gone;
    }
  }

  const int fd_;
  SSL* const ssl_;
};

std::string last_tls_error() {
  char text[256] = "unknown error";
  if (const unsigned long error = ERR_peek_last_error()) ERR_error_string_n(error, text, sizeof text);
  ERR_clear_error();
  return text;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsFiles& files) {
  ERR_clear_error();
  auto tls = std::make_shared<TlsContext>();
  if (!tls->context) return fail(Code::internal, "TLS cannot be set up: " + last_tls_error() + ".");
  SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
  SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Idle connections give their 34 KB of record buffers back.
  SSL_CTX_set_mode(tls->context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(tls->context, files.certificate.c_str()) != 1)
    return fail(Code::invalid_argument,
                "The certificate " + files.certificate + " cannot be used: " + last_tls_error() + ".");
  if (SSL_CTX_use_PrivateKey_file(tls->context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail(Code::invalid_argument, "The key " + files.key + " cannot be used: " + last_tls_error() + ".");
  if (SSL_CTX_check_private_key(tls->context) != 1)
    return fail(Code::invalid_argument,
                "The key " + files.key + " does not belong to the certificate " + files.certificate + ".");
  return tls;
}

std::unique_ptr<Transport> make_tls_transport(TlsContext& context, int fd) {
  return std::make_unique<TlsTransport>(context, fd);
}

}  // namespace errand::net
