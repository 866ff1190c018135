#include "cli/whole_output.h"

#include <algorithm>

#include "base/text.h"
#include "cli/resolve.h"

namespace errand::cli {
namespace {

constexpr int64_t page_bytes = 1 << 20;

}  // namespace

void WholeOutput::complete(const EventInfo& event, const Each& each) {
  if (event.type != "output") return each(event);
  if (event.run != run_) {
    run_ = event.run;
    covered_ = event.offset;
  }
  const int64_t end = event.offset + event.length;
  const bool whole = event.offset <= covered_ && std::ssize(event.text) >= event.length;
  if (whole || !read(std::min(covered_, event.offset), event, each)) each(event);
  covered_ = std::max(covered_, end);
}

bool WholeOutput::read(int64_t from, const EventInfo& event, const Each& each) {
  const int64_t end = event.offset + event.length;
  EventInfo piece = event;
  piece.text.clear();
  const auto give = [&] {
    if (!piece.text.empty()) each(piece);
    piece.text.clear();
  };
  for (bool begun = false; from < end; begun = true) {
    Query query;
    query.add("run", std::to_string(event.run)).add("offset", std::to_string(from));
    query.add("limit", std::to_string(std::min(page_bytes, end - from))).add("format", "jsonl");
    const Result<Reply> reply = context_.client.request("GET", task_path(task_, "/log" + query.text()));
    if (!reply || reply->status >= 400) {
      give();
      return begun;
    }
    for (const std::string_view line : split(reply->body, '\n')) {
      const LogLine printed = parse_log_line(line);
      // Before the event lies what no event told of; in its range, what the other stream printed is another event's.
      const bool ours = printed.offset < event.offset || printed.stream == event.stream;
      if (printed.stream.empty() || !ours) continue;
      if (printed.stream != piece.stream) give();
      piece.stream = printed.stream;
      piece.text += printed.text;
    }
    const int64_t next = number(reply->header("x-log-next"));
    if (next <= from) break;
    from = next;
  }
  give();
  return true;
}

}  // namespace errand::cli
