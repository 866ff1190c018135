#include "driver/command/output.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/text.h"
#include "base/unfinished.h"

namespace errand::command {
namespace {

using process::Piece;
using process::Stream;

constexpr Stream streams[] = {Stream::out, Stream::err};

std::string_view mark_name(Stream stream) { return stream == Stream::out ? "out" : "err"; }
std::string_view stream_name(Stream stream) { return stream == Stream::out ? "stdout" : "stderr"; }

template <class Int>
bool parse_whole(std::string_view text, Int& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_held(std::string_view text, OutputMark::Held& held) {
  const size_t dash = text.find('-');
  const size_t equals = text.find('=');
  if (dash == std::string_view::npos || equals == std::string_view::npos || dash > equals) return false;
  if (!parse_whole(text.substr(0, dash), held.offset) ||
      !parse_whole(text.substr(dash + 1, equals - dash - 1), held.end))
    return false;
  if (held.offset < 0 || held.end <= held.offset) return false;
  const std::string_view hex = text.substr(equals + 1);
  if (hex.empty() || hex.size() > 6) return false;
  const std::optional<std::string> bytes = from_hex(hex);
  if (!bytes) return false;
  held.bytes = *bytes;
  return true;
}

}  // namespace

std::string encode_mark(const OutputMark& mark) {
  std::string out = fmt::format("{}", mark.next);
  for (const Stream stream : streams) {
    const OutputMark::Held& held = mark.held[static_cast<size_t>(stream)];
    if (!held.bytes.empty())
      out += fmt::format(" {}@{}-{}={}", mark_name(stream), held.offset, held.end, to_hex(held.bytes));
  }
  if (mark.cut_said) out += " cut";
  if (mark.next == 0 && !mark.boot.empty()) out += " boot=" + mark.boot;
  if (!mark.watch.empty()) out += " watch=" + mark.watch;
  return out;
}

Result<OutputMark> decode_mark(std::string_view text) {
  OutputMark mark;
  const std::vector<std::string_view> words = split(text, ' ');
  bool good = parse_whole(words[0], mark.next) && mark.next >= 0;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "cut") {
      mark.cut_said = true;
    } else if (words[i].starts_with("boot=")) {
      mark.boot = words[i].substr(5);
    } else if (words[i].starts_with("watch=")) {
      mark.watch = words[i].substr(6);
    } else if (words[i].starts_with("out@")) {
      good = good && parse_held(words[i].substr(4), mark.held[0]);
    } else if (words[i].starts_with("err@")) {
      good = good && parse_held(words[i].substr(4), mark.held[1]);
    } else {
      good = false;
    }
  }
  if (!good) return fail(Code::internal, "The checkpoint of the run's output is damaged.");
  return mark;
}

void OutputReports::add(const process::JournalRead& read) {
  if (read.cut > 0) {
    // What would have made a held character whole is no longer there.
    release_held();
    cut_ = !std::exchange(mark_.cut_said, true) || cut_;
  }
  for (const Piece& piece : read.pieces) add_piece(piece);
  mark_.next = std::max(mark_.next, read.next);
}

void OutputReports::add_piece(const Piece& piece) {
  const int64_t end = piece.offset + std::ssize(piece.bytes);
  OutputMark::Held before = std::exchange(held(piece.stream), {});
  if (before.bytes.empty()) return add_bytes(piece.stream, {piece.offset, end}, piece.bytes);
  // Only the front of the piece can belong to the held character; the rest need not be copied.
  const size_t front = std::min<size_t>(piece.bytes.size(), 3);
  const std::string joined = before.bytes + piece.bytes.substr(0, front);
  if (front == piece.bytes.size()) return add_bytes(piece.stream, {before.offset, end}, joined);
  const size_t rest = unfinished(joined);
  const int64_t middle = piece.offset + static_cast<int64_t>(front - rest);
  append(piece.stream, {before.offset, middle}, std::string_view(joined).substr(0, joined.size() - rest));
  add_bytes(piece.stream, {middle, end}, std::string_view(piece.bytes).substr(front - rest));
}

void OutputReports::add_bytes(Stream stream, Range range, std::string_view bytes) {
  const size_t back = unfinished(bytes);
  const std::string_view done = bytes.substr(0, bytes.size() - back);
  const int64_t middle = range.end - static_cast<int64_t>(back);
  append(stream, {range.offset, middle}, done);
  if (back > 0)
    held(stream) = {done.empty() ? range.offset : middle, range.end, std::string(bytes.substr(done.size()))};
}

void OutputReports::append(Stream stream, Range range, std::string_view bytes) {
  if (bytes.empty()) return;
  Segment* segment = nullptr;
  if (joined_) {
    const auto known = std::ranges::find(segments_, stream, &Segment::stream);
    if (known != segments_.end()) segment = &*known;
  } else if (!segments_.empty() && segments_.back().stream == stream && segments_.back().end == range.offset) {
    segment = &segments_.back();
  }
  if (!segment) {
    if (!joined_ && segments_.size() == segments_max) {
      join();
      return append(stream, range, bytes);
    }
    segment = &segments_.emplace_back(Segment{.stream = stream, .offset = range.offset, .end = range.end, .text = {}});
  }
  segment->end = std::max(segment->end, range.end);
  segment->lines += std::ranges::count(bytes, '\n');
  if (segment->full) return;
  const size_t room = output_text_max - segment->text.size();
  std::string_view shown = bytes.substr(0, room);
  if (shown.size() < bytes.size()) shown.remove_suffix(unfinished(shown));
  std::string text = to_utf8(shown);
  const size_t fits = utf8_prefix(text, room);
  segment->full = shown.size() < bytes.size() || fits < text.size();
  segment->text.append(text, 0, fits);
}

void OutputReports::skip(int64_t to) {
  if (to <= mark_.next) return;
  join();
  for (const Stream stream : streams) {
    auto known = std::ranges::find(segments_, stream, &Segment::stream);
    if (known == segments_.end()) {
      const OutputMark::Held& waiting = held(stream);
      const int64_t from = waiting.bytes.empty() ? mark_.next : waiting.offset;
      segments_.push_back({.stream = stream, .offset = from, .end = to, .text = {}});
      known = segments_.end() - 1;
    }
    known->end = to;
    known->full = true;
    held(stream) = {};
  }
  mark_.next = to;
}

void OutputReports::release_held() {
  for (const Stream stream : streams) {
    const OutputMark::Held waiting = std::exchange(held(stream), {});
    append(stream, {waiting.offset, waiting.end}, waiting.bytes);
  }
}

void OutputReports::finish() { release_held(); }

void OutputReports::join() {
  if (std::exchange(joined_, true)) return;
  std::vector<Segment> parts = std::exchange(segments_, {});
  for (Segment& part : parts) {
    const auto known = std::ranges::find(segments_, part.stream, &Segment::stream);
    if (known == segments_.end()) {
      segments_.push_back(std::move(part));
      continue;
    }
    known->end = part.end;
    known->lines += part.lines;
    if (known->full) continue;
    const size_t fits = utf8_prefix(part.text, output_text_max - known->text.size());
    known->full = part.full || fits < part.text.size();
    known->text.append(part.text, 0, fits);
  }
}

std::vector<Report> OutputReports::take(const std::shared_ptr<Syncable>& log) {
  std::vector<Report> reports;
  if (std::exchange(cut_, false))
    reports.emplace_back(
        report::Warning{"output_truncated",
                        "The output is over its limit: its beginning and its end are kept, and what is "
                        "between them is left out."});
  for (Segment& segment : segments_)
    reports.emplace_back(report::Output{std::string(stream_name(segment.stream)), segment.offset,
                                        segment.end - segment.offset, std::move(segment.text), segment.lines, log});
  segments_.clear();
  joined_ = false;
  return reports;
}

}  // namespace errand::command
