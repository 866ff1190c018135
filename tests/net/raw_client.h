// A socket and nothing else: tests send the bytes that they mean and see the bytes that come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace errand::net {

struct RawReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  std::string body;
  bool chunked = false;

  std::string header(std::string_view name) const;
  bool has(std::string_view name) const;
};

class RawClient {
 public:
  static RawClient tcp(int port);
  static RawClient unix_socket(const std::string& path);
  explicit RawClient(int fd) : fd_(fd) {}
  RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)), got_(std::move(other.got_)) {}
  RawClient& operator=(RawClient&& other) noexcept;
  ~RawClient();

  // False where the server has closed.
  bool send(std::string_view bytes);
  void half_close();
  void reset();  // Closes with RST.
  // One whole reply; nothing where the connection ends before it (or nothing comes for 20 s).
  std::optional<RawReply> reply(bool head_only = false);
  // Reads until `text` is among the bytes not yet taken, and takes up to its end.
  std::optional<std::string> until(std::string_view text);
  // Everything up to the end of the connection.
  std::string rest();
  // True once the server has closed, whatever came before.
  bool closed();
  bool connected() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  bool more();  // Reads some; false at the end or after 20 s.

  int fd_ = -1;
  std::string got_;
};

}  // namespace errand::net
