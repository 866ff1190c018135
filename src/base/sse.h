// Server-sent events, as they come over the wire (WHATWG HTML, 9.2.6), in pieces.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace errand {

struct SseEvent {
  std::string id;    // The last one given so far: what to reconnect with.
  std::string type;  // "message" where none was given.
  std::string data;
};

class SseParser {
 public:
  // Calls `event` for each whole event; where it answers false the rest of the piece is dropped and so is feed's
  // answer. False also where a line or an event is over the bound (16 MiB): the peer is not what we think it is.
  bool feed(std::string_view piece, const std::function<bool(const SseEvent&)>& event);
  // After a reconnect: forgets the half event, keeps the last id.
  void restart();
  bool too_large() const { return too_large_; }

 private:
  bool line(std::string_view text, const std::function<bool(const SseEvent&)>& event);

  std::string line_;  // What came of the current line.
  bool after_cr_ = false;
  bool at_start_ = true;  // A byte-order mark may stand here.
  std::string id_, type_, data_;
  bool has_data_ = false;
  bool too_large_ = false;
};

}  // namespace errand
