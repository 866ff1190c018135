#include "cli/whole_output.h"

#include <algorithm>

#include "base/text.h"
#include "cli/resolve.h"

namespace errand::cli {
namespace {

constexpr int64_t page_bytes = 1 << 20;
constexpr std::string_view replaced = "\xef\xbf\xbd";

// A byte that is no text is three in the event: only the log says whether those are all.
bool is_whole(const EventInfo& event) {
  return std::ssize(event.text) >= event.length && event.text.find(replaced) == std::string::npos;
}

}  // namespace

void with_whole_output(Context& context, const std::string& task, const EventInfo& event, const EachEvent& each) {
  if (event.type != "output" || is_whole(event)) return each(event);
  const int64_t end = event.offset + event.length;
  EventInfo piece = event;
  for (int64_t from = event.offset; from < end;) {
    Query query;
    query.add("run", std::to_string(event.run)).add("offset", std::to_string(from));
    query.add("limit", std::to_string(std::min(page_bytes, end - from))).add("format", "jsonl");
    const Result<Reply> reply = context.client.request("GET", task_path(task, "/log" + query.text()));
    if (!reply || reply->status >= 400) {
      if (from == event.offset) each(event);
      return;
    }
    piece.text.clear();
    for (const std::string_view line : split(reply->body, '\n')) {
      const LogLine printed = parse_log_line(line);
      // What the other stream printed in this range is another event's. Where the log is over its limit it goes on
      // behind what was left out, which may be behind this event.
      if (printed.stream == event.stream && printed.offset < end) piece.text += printed.text;
    }
    if (!piece.text.empty()) each(piece);
    const int64_t next = number(reply->header("x-log-next"));
    if (next <= from) return;
    from = next;
  }
}

}  // namespace errand::cli
