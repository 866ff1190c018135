#include "base/sse.h"

namespace errand {

namespace {
constexpr size_t event_bytes_max = 16 << 20;
}

void SseParser::restart() {
  line_.clear();
  after_cr_ = false;
  at_start_ = true;
  type_.clear();
  data_.clear();
  has_data_ = false;
}

bool SseParser::feed(std::string_view piece, const std::function<bool(const SseEvent&)>& event) {
  while (!piece.empty()) {
    if (after_cr_ && piece[0] == '\n') piece.remove_prefix(1);
    after_cr_ = false;
    size_t end = piece.find_first_of("\r\n");
    line_ += piece.substr(0, end);
    if (line_.size() + data_.size() > event_bytes_max) {
      too_large_ = true;
      return false;
    }
    if (end == std::string_view::npos) return true;
    after_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    std::string whole = std::move(line_);
    line_.clear();
    if (!line(whole, event)) return false;
  }
  return true;
}

bool SseParser::line(std::string_view text, const std::function<bool(const SseEvent&)>& event) {
  if (at_start_ && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  at_start_ = false;
  if (text.empty()) {
    SseEvent made{id_, type_.empty() ? "message" : std::move(type_), std::move(data_)};
    bool whole = has_data_;
    type_.clear();
    data_.clear();
    has_data_ = false;
    return !whole || event(made);
  }
  if (text[0] == ':') return true;  // A comment: the server's heartbeat.
  size_t colon = text.find(':');
  std::string_view field = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (field == "event") {
    type_ = value;
  } else if (field == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  }
  return true;
}

}  // namespace errand
