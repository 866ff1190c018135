#include "files/look.h"

#include <algorithm>
#include <deque>

#include "base/escape_filter.h"
#include "base/text.h"
#include "base/unfinished.h"

namespace errand::files {
namespace {

constexpr int64_t chunk_bytes = 256 * 1024;
constexpr int64_t sniff_bytes = 8 * 1024;
constexpr int64_t limit_min = 64;

class FileSource final : public Source {
 public:
  explicit FileSource(File file) : file_(std::move(file)) {}

  Result<Chunk> read(int64_t offset, int64_t limit) override {
    Chunk chunk{.bytes = {}, .offset = offset, .next = offset};
    chunk.bytes.resize(static_cast<size_t>(limit));
    const int64_t n = read_at(file_, offset, chunk.bytes.data(), chunk.bytes.size());
    if (n < 0) return fail(Code::unavailable, "The file cannot be read; it may be on a disk that has failed.");
    chunk.bytes.resize(static_cast<size_t>(n));
    chunk.next = offset + n;
    return chunk;
  }
  int64_t size() override { return file_.size; }

 private:
  File file_;
};

std::string cut_line(const Source::Chunk& chunk) {
  return "[... " + std::to_string(chunk.cut) +
         (chunk.damaged ? " bytes are damaged on the disk and were left out ...]\n"
                        : " bytes were left out: the output was over its limit ...]\n");
}

std::string shown(std::string_view bytes, bool strip) {
  return strip ? without_escapes(bytes, EscapeFilter::Colours::drop) : to_utf8(bytes);
}

// One look, under way.
class Looking {
 public:
  Looking(Source& source, const Look& what, Clock& clock)
      : source_(source), what_(what), clock_(clock), deadline_(clock.steady() + what.patience_ms) {
    seen_.size = source.size();
  }

  Result<Seen> page(int64_t offset);
  Result<Seen> last_lines();
  Result<Seen> search(int64_t offset);
  Result<bool> is_binary();

 private:
  struct Line {
    std::string text;  // As it is shown, with its end.
    int64_t offset = 0;
    int64_t number = 0;
    bool match = false;
  };
  struct Raw {
    std::string bytes;
    int64_t begin = 0, next = 0;
  };
  // Bytes from `offset` up to `limit` of them, over cuts, which are said in `bytes`.
  Result<Raw> gather(int64_t offset, int64_t limit);
  void take_line(std::string_view raw, int64_t offset);
  void keep(Line line);
  bool full() const { return !what_.tail && std::ssize(seen_.text) >= what_.limit; }
  // It may have become shorter since it was opened: nobody is sent there again.
  void nothing_follows(int64_t end) { seen_.size = end < seen_.size ? end : seen_.size; }
  bool out_of_time() { return clock_.steady() >= deadline_; }
  std::string numbered(const Line& line) const;

  Source& source_;
  const Look& what_;
  Clock& clock_;
  const Time deadline_;
  Seen seen_;

  // Of a search.
  bool count_lines_ = false;
  int64_t line_number_ = 0;
  std::deque<Line> before_;  // Context of a match that may come.
  int after_ = 0;            // Lines of context still to be given.
  int64_t given_line_ = 0;
  std::deque<Line> kept_;  // With tail: the last of them.
};

Result<bool> Looking::is_binary() {
  if (!source_.may_be_binary()) return false;
  const Result<Source::Chunk> head = source_.read(0, sniff_bytes);
  if (!head) return std::unexpected(head.error());
  return head->bytes.contains('\0');
}

Result<Looking::Raw> Looking::gather(int64_t offset, int64_t limit) {
  Raw raw{.bytes = {}, .begin = offset, .next = offset};
  while (limit > 0) {
    Result<Source::Chunk> chunk = source_.read(raw.next, std::min(limit, chunk_bytes));
    if (!chunk) return std::unexpected(chunk.error());
    if (chunk->cut > 0 && raw.bytes.empty() && offset > 0 && !chunk->damaged) {
      raw.begin = chunk->offset;  // What was asked for begins behind the cut.
    } else if (chunk->cut > 0) {
      if (!raw.bytes.empty() && !raw.bytes.ends_with('\n')) raw.bytes += '\n';
      raw.bytes += cut_line(*chunk);
    }
    if (chunk->next <= raw.next) {
      nothing_follows(raw.next);
      break;
    }
    limit -= std::ssize(chunk->bytes);
    raw.bytes += chunk->bytes;
    raw.next = chunk->next;
  }
  return raw;
}

// A page ends with a whole line where it can, so that no character and no escape sequence is split between two.
Result<Seen> Looking::page(int64_t offset) {
  Result<Raw> raw = gather(offset, what_.limit);
  if (!raw) return std::unexpected(raw.error());
  seen_.offset = raw->begin;
  seen_.next = raw->next;
  if (raw->next < seen_.size) {
    const size_t newline = raw->bytes.rfind('\n');
    const bool whole = newline != std::string::npos && newline >= raw->bytes.size() / 2;
    const size_t end = whole ? newline + 1 : raw->bytes.size() - unfinished(raw->bytes);
    seen_.next -= static_cast<int64_t>(raw->bytes.size() - end);
    raw->bytes.resize(end);
  }
  seen_.text = shown(raw->bytes, what_.strip);
  seen_.more = seen_.next < seen_.size;
  return std::move(seen_);
}

// Reads backwards, further each time, until there are enough lines.
Result<Seen> Looking::last_lines() {
  const auto lines = static_cast<size_t>(*what_.tail);
  for (int64_t window = std::min<int64_t>(64 * 1024, what_.limit);; window = std::min(window * 8, what_.limit)) {
    const int64_t from = std::max<int64_t>(0, seen_.size - window);
    Result<Raw> raw = gather(from, window);
    if (!raw) return std::unexpected(raw.error());
    std::string_view rest = raw->bytes;
    size_t at = rest.size();
    size_t wanted = lines + (rest.ends_with('\n') ? 1 : 0);
    if (lines > 0)
      while (at > 0 && (rest[at - 1] != '\n' || --wanted > 0)) --at;
    const bool found = at > 0 || lines == 0;
    if (!found && from > 0 && window < what_.limit) continue;
    // What is not a whole line at the front is left out, where there is more than one.
    if (!found && from > 0 && rest.contains('\n')) at = rest.find('\n') + 1;
    rest.remove_prefix(at);
    while (!rest.empty() && from > 0 && (static_cast<unsigned char>(rest.front()) & 0xc0) == 0x80)
      rest.remove_prefix(1);
    seen_.offset = raw->next - std::ssize(rest);
    seen_.next = raw->next;
    seen_.more = from > 0 || at > 0;
    seen_.text = shown(rest, what_.strip);
    return std::move(seen_);
  }
}

std::string Looking::numbered(const Line& line) const {
  std::string out;
  if (what_.line_numbers && count_lines_) out = std::to_string(line.number) + (line.match ? ":" : "-");
  out += line.text;
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

void Looking::keep(Line line) {
  // Where lines between two matches were left out, as grep says it.
  if (what_.context > 0 && given_line_ > 0 && line.number > given_line_ + 1) {
    Line gap{.text = "--\n", .offset = line.offset, .number = 0};
    if (what_.tail) {
      kept_.push_back(std::move(gap));
    } else {
      seen_.text += gap.text;
    }
  }
  given_line_ = line.number;
  if (!what_.tail) {
    seen_.text += numbered(line);
    return;
  }
  kept_.push_back(std::move(line));
  // `tail` counts matches; the context around the last ones comes with them.
  while (seen_.matches > *what_.tail && !kept_.empty()) {
    seen_.matches -= kept_.front().match ? 1 : 0;
    kept_.pop_front();
    seen_.more = true;
  }
}

void Looking::take_line(std::string_view raw, int64_t offset) {
  ++line_number_;
  Line line{.text = shown(raw, what_.strip), .offset = offset, .number = line_number_};
  line.match = contains_text(line.text, what_.grep);
  if (line.match) {
    ++seen_.matches;
    for (Line& earlier : before_) keep(std::move(earlier));
    before_.clear();
    after_ = what_.context;
    keep(std::move(line));
  } else if (after_ > 0) {
    --after_;
    keep(std::move(line));
  } else if (what_.context > 0) {
    before_.push_back(std::move(line));
    if (std::ssize(before_) > what_.context) before_.pop_front();
  }
}

Result<Seen> Looking::search(int64_t offset) {
  seen_.offset = offset;
  count_lines_ = offset == 0;
  // A plain search of text that has no escapes need not look at lines one by one: most chunks have no match.
  const bool skip_chunks = what_.context == 0;
  std::string carry;          // A line that has no end yet,
  int64_t carry_at = offset;  // and where it begins.
  int64_t at = offset;
  while (!full()) {
    if (out_of_time() || at - offset >= what_.scan_max) {
      seen_.stopped = true;
      break;
    }
    Result<Source::Chunk> chunk = source_.read(at, chunk_bytes);
    if (!chunk) return std::unexpected(chunk.error());
    if (chunk->cut > 0) {
      if (!carry.empty()) take_line(carry, carry_at);
      carry.clear();
      count_lines_ = false;  // How many lines were left out nobody knows.
    }
    if (chunk->next <= at) {
      nothing_follows(at);
      break;
    }
    at = chunk->next;
    if (carry.empty()) carry_at = chunk->offset;
    carry += chunk->bytes;
    std::string_view rest = carry;
    const size_t whole = rest.rfind('\n') + 1;  // 0 where there is none.
    const std::string_view lines = rest.substr(0, whole);
    if (skip_chunks && !lines.empty() && !lines.contains('\x1b') && !contains_text(lines, what_.grep)) {
      line_number_ += std::ranges::count(lines, '\n');
      carry_at += std::ssize(lines);
      rest.remove_prefix(whole);
    }
    while (!rest.empty() && !full()) {
      const size_t newline = rest.find('\n');
      if (newline == std::string_view::npos && rest.size() < look_line_max) break;
      const size_t length = std::min(newline == std::string_view::npos ? rest.size() : newline + 1, look_line_max);
      take_line(rest.substr(0, length), carry_at);
      carry_at += static_cast<int64_t>(length);
      rest.remove_prefix(length);
    }
    carry = std::string(rest);
  }
  const bool ended = !full() && !seen_.stopped;
  if (ended && !carry.empty()) take_line(carry, carry_at);
  seen_.next = ended ? at : carry_at;
  if (what_.tail) {
    for (const Line& line : kept_) seen_.text += line.number == 0 ? line.text : numbered(line);
    if (std::ssize(seen_.text) > what_.limit) {
      seen_.text.erase(0, seen_.text.size() - utf8_suffix(seen_.text, static_cast<size_t>(what_.limit)));
      seen_.text.erase(0, seen_.text.find('\n') + 1);
      seen_.more = true;
    }
  } else {
    seen_.more = seen_.next < seen_.size;
  }
  seen_.more = seen_.more || seen_.stopped;
  return std::move(seen_);
}

}  // namespace

std::unique_ptr<Source> file_source(File file) { return std::make_unique<FileSource>(std::move(file)); }

Result<Seen> look(Source& source, Look what, Clock& clock) {
  what.limit = std::clamp(what.limit, limit_min, look_limit_max);
  what.context = std::clamp(what.context, 0, look_context_max);
  if (what.tail) what.tail = std::clamp(*what.tail, 0, look_tail_max);
  const int64_t size = source.size();
  int64_t offset = what.offset < 0 ? std::max<int64_t>(0, size + what.offset) : what.offset;
  Looking looking(source, what, clock);
  const Result<bool> binary = looking.is_binary();
  if (!binary) return std::unexpected(binary.error());
  if (*binary) return Seen{.text = {}, .next = size, .size = size, .binary = true};
  if (what.grep.empty()) return what.tail ? looking.last_lines() : looking.page(offset);
  // The last matches of something huge are looked for in its last part.
  if (what.tail) offset = std::max<int64_t>(0, size - what.scan_max);
  return looking.search(offset);
}

std::string describe(const Seen& seen) {
  const std::string size = std::to_string(seen.size);
  if (seen.binary) return "It is not text (" + size + " bytes); download it instead.";
  if (seen.stopped)
    return "The search stopped at byte " + std::to_string(seen.next) + " of " + size + ", because it took too long; " +
           "ask for offset=" + std::to_string(seen.next) + " to search on.";
  if (!seen.more) return {};
  if (seen.next < seen.size)
    return "Bytes " + std::to_string(seen.offset) + " to " + std::to_string(seen.next) + " of " + size +
           "; ask for offset=" + std::to_string(seen.next) + " to go on.";
  return "The end of " + size + " bytes; ask for offset=0, or for a larger tail, to see what came before.";
}

}  // namespace errand::files
