#include "net/routes/log_text.h"

#include "base/json_out.h"

namespace errand::net {

using Format = api::LogQuery::Format;

void LogText::add(const LogRead& read, std::string& out) {
  if (read.cut > 0 && !read.pieces.empty()) say_cut(read.cut, read.pieces.front().offset, out);
  for (const LogPiece& piece : read.pieces) add_piece(piece, out);
}

void LogText::say_cut(int64_t bytes, int64_t offset, std::string& out) const {
  if (format_ == Format::jsonl) {
    JsonOut(out).object().field("cut", bytes).field("offset", offset - bytes).end();
    out += '\n';
  } else if (grep_.empty()) {
    out += "\n[... " + std::to_string(bytes) + " bytes were left out: the output was over its limit ...]\n";
  }
}

void LogText::add_piece(const LogPiece& piece, std::string& out) {
  if (piece.at < since_) return;
  if (format_ == Format::text && grep_.empty()) {
    out += piece.bytes;
    return;
  }
  Line& open = open_[piece.stream];
  std::string_view rest = piece.bytes;
  int64_t offset = piece.offset;
  while (!rest.empty()) {
    const size_t newline = rest.find('\n');
    size_t taken = newline == std::string_view::npos ? rest.size() : newline + 1;
    const bool full = open.text.size() + taken > log_line_max;
    if (full) taken = log_line_max - open.text.size();
    if (open.text.empty()) {
      open.offset = offset;
      open.at = piece.at;
    }
    open.text += rest.substr(0, taken);
    rest.remove_prefix(taken);
    offset += static_cast<int64_t>(taken);
    if (full || open.text.ends_with('\n')) {
      give(piece.stream, open, out);
      open.text.clear();
    }
  }
}

void LogText::give(std::string_view stream, const Line& line, std::string& out) const {
  if (!grep_.empty() && line.text.find(grep_) == std::string::npos) return;
  if (format_ == Format::text) {
    out += line.text;
    if (!line.text.ends_with('\n')) out += '\n';
    return;
  }
  JsonOut(out)
      .object()
      .field("stream", stream)
      .field("offset", line.offset)
      .field("at", line.at)
      .field("text", line.text)
      .end();
  out += '\n';
}

void LogText::finish(std::string& out) {
  for (auto& [stream, line] : open_) {
    if (!line.text.empty()) give(stream, line, out);
    line.text.clear();
  }
}

std::string_view last_lines(std::string_view text, size_t lines) {
  if (lines == 0) return {};
  size_t at = text.size();
  if (text.ends_with('\n')) --at;
  for (; at > 0; --at) {
    if (text[at - 1] == '\n' && --lines == 0) break;
  }
  return text.substr(at);
}

}  // namespace errand::net
