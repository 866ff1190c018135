#include "net/routes/log_text.h"

#include "base/json_out.h"
#include "base/text.h"

namespace errand::net {

using Format = api::LogQuery::Format;

void LogText::add(const LogRead& read, std::string& out) {
  if (read.cut > 0) {
    // What would have ended a line is gone.
    finish(out);
    say_cut(read, out);
  }
  for (const LogPiece& piece : read.pieces) {
    const int64_t end = piece.offset + std::ssize(piece.bytes);
    if (piece.at >= since_ && (only_.empty() || piece.stream == only_)) add_piece(piece, out);
    if (open_lines_ == 0) clean_ = {end, out.size()};
  }
}

void LogText::say_cut(const LogRead& read, std::string& out) const {
  const int64_t behind = read.pieces.empty() ? read.next : read.pieces.front().offset;
  if (format_ == Format::jsonl) {
    JsonOut json(out);
    json.object().field("cut", read.cut).field("offset", behind - read.cut);
    if (read.damaged) json.field("damaged", true);
    json.end();
    out += '\n';
  } else if (read.damaged) {
    // Also in a search: what is not looked through may have what is looked for.
    out += damage_text(read.cut);
  } else if (grep_.empty()) {
    out += "\n[... " + std::to_string(read.cut) + " bytes were left out: the output was over its limit ...]\n";
  }
}

void LogText::say_run(int run, std::string& out) {
  finish(out);
  if (format_ == Format::jsonl) {
    JsonOut(out).object().field("run", run).end();
    out += '\n';
  } else if (grep_.empty()) {
    out += "\n[... begun again: run " + std::to_string(run) + " ...]\n";
  }
}

EscapeFilter& LogText::filter(std::string_view stream) {
  const auto known = filters_.find(stream);
  if (known != filters_.end()) return known->second;
  return filters_.emplace(stream, EscapeFilter(EscapeFilter::Colours::drop)).first->second;
}

void LogText::add_piece(const LogPiece& piece, std::string& out) {
  if (by_line()) return add_lines(piece, out);
  if (strip_) {
    filter(piece.stream).feed(piece.bytes, out);
  } else {
    out += piece.bytes;
  }
}

void LogText::add_lines(const LogPiece& piece, std::string& out) {
  Line& open = open_[piece.stream];
  std::string_view rest = piece.bytes;
  int64_t offset = piece.offset;
  // Most of a long log has no match: whole lines without one are not taken apart.
  const size_t whole = rest.rfind('\n') + 1;
  if (!grep_.empty() && open.text.empty() && whole > 0 && !(strip_ && rest.contains('\x1b')) &&
      !contains_text(rest.substr(0, whole), grep_)) {
    rest.remove_prefix(whole);
    offset += static_cast<int64_t>(whole);
    clean_ = open_lines_ == 0 ? Clean{offset, out.size()} : clean_;
  }
  while (!rest.empty()) {
    const size_t newline = rest.find('\n');
    size_t taken = newline == std::string_view::npos ? rest.size() : newline + 1;
    const bool full = open.text.size() + taken > log_line_max;
    if (full) taken = log_line_max - open.text.size();
    if (open.text.empty()) {
      open.offset = offset;
      open.at = piece.at;
      ++open_lines_;
    }
    open.text += rest.substr(0, taken);
    rest.remove_prefix(taken);
    offset += static_cast<int64_t>(taken);
    if (full || open.text.ends_with('\n')) {
      give(piece.stream, open, out);
      open.text.clear();
      if (--open_lines_ == 0) clean_ = {offset, out.size()};
    }
  }
}

void LogText::give(std::string_view stream, const Line& line, std::string& out) const {
  const std::string stripped = strip_ ? without_escapes(line.text, EscapeFilter::Colours::drop) : std::string();
  const std::string& text = strip_ ? stripped : line.text;
  if (!grep_.empty() && !contains_text(text, grep_)) return;
  if (format_ == Format::text) {
    out += text;
    if (!text.ends_with('\n')) out += '\n';
    return;
  }
  JsonOut(out)
      .object()
      .field("stream", stream)
      .field("offset", line.offset)
      .field("at", line.at)
      .field("text", text)
      .end();
  out += '\n';
}

void LogText::finish(std::string& out) {
  for (auto& [stream, line] : open_) {
    if (!line.text.empty()) give(stream, line, out);
    line.text.clear();
  }
  open_lines_ = 0;
  for (auto& [stream, filter] : filters_) out += filter.finish();
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
