#include "engine/output_text.h"

#include <algorithm>

#include "base/text.h"

namespace errand {

std::string output_text(const Driver& driver, const TaskId& task, const OutputRange& range) {
  const auto page = static_cast<int64_t>(output_text_max);
  const int64_t end = range.offset + range.length;
  std::string bytes;
  for (int64_t from = range.offset; from < end && bytes.size() <= output_text_max;) {
    Result<LogRead> log = driver.read_log(task, range.run, from, std::min(page, end - from));
    if (!log) break;
    // Where the log is over its limit it goes on behind what was left out, which may be behind this range.
    for (const LogPiece& piece : log->pieces)
      if (piece.stream == range.stream && piece.offset < end) bytes += piece.bytes;
    if (log->damaged) bytes += damage_text(log->cut);
    if (log->next <= from) break;
    from = log->next;
  }
  std::string text = to_utf8(bytes);
  text.resize(utf8_prefix(text, output_text_max));
  return text;
}

}  // namespace errand
