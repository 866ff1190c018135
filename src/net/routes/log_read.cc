#include "net/routes/log_read.h"

#include <algorithm>

#include "net/routes/log_text.h"

namespace errand::net {
namespace {

using api::LogQuery;

constexpr int64_t search_chunk = 1 << 20, search_chunk_min = 64 * 1024;
constexpr size_t tail_kept = 4 << 20;  // What a search for the last lines holds before it drops the earlier ones.

bool filtered(const LogQuery& query) { return !query.grep.empty() || !query.stream.empty() || query.since; }

// Reads from `offset` on into `page`, `limit` bytes of the log, or, of a search, until so many are given.
class Reading {
 public:
  Reading(const LogSource& source, const LogQuery& query, Clock& clock)
      : source_(source), query_(query), clock_(clock), text_(query) {}

  Result<LogPage> range(int64_t offset, int64_t limit);
  Result<LogPage> search(int64_t offset);

 private:
  // False: there is nothing (more) to read.
  Result<bool> read(int64_t limit);

  const LogSource& source_;
  const LogQuery& query_;
  Clock& clock_;
  LogText text_;
  LogPage page_;
  int64_t taken_ = 0;  // Bytes of the log.
  bool begun_ = false;
};

Result<bool> Reading::read(int64_t limit) {
  Result<LogRead> read = source_.driver->read_log(source_.task, source_.run, page_.next, limit);
  // A run that printed nothing, or a kind of task that does not print, has an empty log.
  if (!read && read.error().code == Code::not_found && !query_.run && !query_.setup) return false;
  if (!read) return std::unexpected(read.error());
  page_.size = read->size;
  const bool some = !read->pieces.empty() || read->cut > 0;
  if (!some && page_.next >= 0 && read->next <= page_.next) return false;
  if (!begun_ && query_.tail && !read->damaged) read->cut = 0;  // What came before was not asked for.
  begun_ = true;
  page_.cut += read->cut;
  if (read->damaged) page_.damaged += read->cut;
  text_.add(*read, page_.text);
  for (const LogPiece& piece : read->pieces) taken_ += std::ssize(piece.bytes);
  const bool forward = page_.next < 0 || read->next > page_.next;
  page_.next = read->next;
  return forward && some;
}

// One reading ends where the log was cut: the next one begins behind that.
Result<LogPage> Reading::range(int64_t offset, int64_t limit) {
  page_.next = offset;
  while (taken_ < limit) {
    const Result<bool> more = read(limit - taken_);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  page_.next = std::max<int64_t>(0, page_.next);
  page_.more = page_.next < page_.size;
  // A page that ends within a line ends before it, so that the next one has the whole of it.
  const LogText::Clean& clean = text_.clean();
  const bool by_line = query_.format == LogQuery::Format::jsonl || !query_.grep.empty();
  if (page_.more && by_line && clean.offset > std::max<int64_t>(0, offset)) {
    page_.text.resize(clean.size);
    page_.next = clean.offset;
  } else {
    text_.finish(page_.text);
  }
  return std::move(page_);
}

Result<LogPage> Reading::search(int64_t offset) {
  const Time deadline = clock_.steady() + log_patience_ms;
  const auto lines = static_cast<size_t>(query_.tail.value_or(0));
  page_.next = offset;
  bool stopped = false;
  for (;;) {
    const Result<bool> more = read(std::clamp(query_.limit, search_chunk_min, search_chunk));
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    if (query_.tail && page_.text.size() > tail_kept)
      page_.text = std::string(last_lines(page_.text, std::max<size_t>(lines, 1)));
    stopped = clock_.steady() >= deadline || (!query_.tail && std::ssize(page_.text) >= query_.limit);
    if (stopped) break;
  }
  page_.next = std::max<int64_t>(0, page_.next);
  page_.more = stopped && page_.next < page_.size;
  const LogText::Clean& clean = text_.clean();
  const bool by_line = query_.format == LogQuery::Format::jsonl || !query_.grep.empty();
  if (page_.more && by_line && !query_.tail && clean.offset > offset) {
    page_.text.resize(clean.size);
    page_.next = clean.offset;
  } else {
    text_.finish(page_.text);
  }
  if (query_.tail) page_.text = std::string(last_lines(page_.text, lines));
  if (std::ssize(page_.text) > LogQuery::log_limit_max && query_.tail)
    page_.text.erase(0, page_.text.size() - static_cast<size_t>(LogQuery::log_limit_max));
  return std::move(page_);
}

// The last lines: reads backwards, further each time, until there are enough.
Result<LogPage> read_tail(const LogSource& source, const LogQuery& query, Clock& clock) {
  const auto lines = static_cast<size_t>(*query.tail);
  for (int64_t window = 64 * 1024;; window *= 8) {
    window = std::min<int64_t>(window, LogQuery::log_limit_max);
    Result<LogPage> page = Reading(source, query, clock).range(-window, window);
    if (!page) return page;
    const auto have = static_cast<size_t>(std::ranges::count(page->text, '\n'));
    if (have <= lines && page->size > window && window < LogQuery::log_limit_max) continue;
    page->text = std::string(last_lines(page->text, lines));
    return page;
  }
}

}  // namespace

Result<LogSource> find_log(const Task& task, const Driver* driver, const LogQuery& query) {
  if (!driver)
    return fail(Code::unavailable, "This server does not have the driver of this task, so its log cannot be read.");
  const auto missing = [](std::string_view what, int number) {
    return fail(Code::not_found,
                "There is no log of " + std::string(what) + " " + std::to_string(number) + " of this task.", "no_log");
  };
  LogSource source{.task = task.id, .driver = driver, .run = task.run, .runs = {}, .last = false};
  if (query.setup) {
    source.run = set_up_run;
    return source;
  }
  if (query.run) {
    if (*query.run > task.run) return missing("run", *query.run);
    source.run = *query.run;
    source.runs = {*query.run, *query.run};
    return source;
  }
  const int attempt = query.attempt.value_or(task.attempt);
  const std::optional<RunRange> runs = runs_of(task, attempt);
  // A retry that still waits for a slot has no log yet, and neither has one that was ended while it waited.
  if (!runs && attempt != task.attempt) return missing("attempt", attempt);
  source.run = runs ? runs->last : 0;
  source.runs = runs.value_or(RunRange{});
  source.last = attempt == task.attempt;
  return source;
}

Result<LogPage> read_log_page(const LogSource& source, const LogQuery& query, Clock& clock) {
  if (source.run == 0) return LogPage{};
  Reading reading(source, query, clock);
  if (query.tail) return filtered(query) ? reading.search(0) : read_tail(source, query, clock);
  return filtered(query) ? reading.search(query.offset) : reading.range(query.offset, query.limit);
}

}  // namespace errand::net
