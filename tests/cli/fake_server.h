// A server for the tests of the CLI's client: it says what its script says, and remembers what it was asked.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace errand::cli {

struct Asked {
  std::string method, path, head, body;
  // Of the head; empty where it has none. `name` in lower case.
  std::string header(const std::string& name) const;
};

struct Answer {
  std::string bytes;   // As they go over the wire.
  bool close = false;  // Afterwards.
};

class FakeServer {
 public:
  // The script is called for each request, with how many came before it, on the server's own thread; one connection at
  // a time.
  using Script = std::function<Answer(const Asked&, size_t before)>;

  // TCP on a free port of 127.0.0.1, or a unix socket where a path is given.
  explicit FakeServer(Script script, const std::string& unix_path = {});
  ~FakeServer();

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Asked> asked() const;

 private:
  void serve();
  void serve_connection(int fd);

  Script script_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Asked> asked_;
  std::thread thread_;
};

// "HTTP/1.1 200 OK" with a length and a body.
std::string reply(int status, const std::string& body, const std::string& headers = {});
// The head of a stream that ends with the connection.
std::string stream_head();
std::string event(int id, const std::string& type, const std::string& data);

}  // namespace errand::cli
