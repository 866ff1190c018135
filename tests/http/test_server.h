// An HTTP server that does exactly what a test says, byte by byte, on 127.0.0.1; with TLS where asked. A thread a
// connection, blocking.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/fd.h"

struct ssl_ctx_st;
struct ssl_st;

namespace errand::http {

// The other end of a connection. What fails because the client left answers false.
class Peer {
 public:
  Peer(int fd, ssl_ctx_st* tls);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  bool handshake();
  // Head and body of the next request; empty where the client left.
  std::string request();
  bool write(std::string_view bytes);
  // False: the client has taken nothing for `within_ms`, and there is no room for more.
  bool room(int within_ms);
  // 200 and this body.
  bool answer(std::string_view body, std::string_view extra_headers = {});
  // Until the client closes its end.
  void wait_until_gone();
  void shut();  // From any thread.

 private:
  long receive(char* to, size_t bytes);

  Fd fd_;
  ssl_st* ssl_ = nullptr;
  std::string read_;  // Behind the last request.
};

// A key and a certificate of its own authority, for `name`, made anew.
struct TestCertificate {
  explicit TestCertificate(const std::string& name);
  std::string pem;      // The certificate.
  std::string key_pem;  // And its key.
};

class TestServer {
 public:
  using Serve = std::function<void(Peer&)>;
  explicit TestServer(Serve serve, const TestCertificate* certificate = nullptr);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int port() const { return port_; }
  std::string url(std::string_view path = "/") const;
  int accepted() const { return accepted_; }

 private:
  void run();

  const Serve serve_;
  ssl_ctx_st* tls_ = nullptr;
  Fd listener_;
  int port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::mutex mutex_;
  bool stopped_ = false;                      // Guarded by mutex_.
  std::vector<std::shared_ptr<Peer>> peers_;  // Guarded by mutex_.
  std::vector<std::thread> threads_;          // Guarded by mutex_.
  std::thread acceptor_;
};

// The loop of a test: runs what was posted, on the thread that waits for something.
class TestLoop final : public Executor {
 public:
  void post(Work work) override;
  // Runs until `holds`; false after half a minute.
  bool run_until(const std::function<bool()>& holds);
  // Runs what waits now.
  void run_posted();
  size_t waiting();

 private:
  bool run_one(int wait_ms);

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Work> posted_;  // Guarded by mutex_.
};

}  // namespace errand::http
