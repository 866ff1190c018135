// The query parts of requests, as plain structs, and their reading. Strict: an unknown or repeated parameter is refused
// by name, so that a misspelt filter does not quietly list everything. An empty value counts as not given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/transcript.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/tasks.h"
#include "store/store.h"

namespace errand::api {

using Query = std::vector<std::pair<std::string, std::string>>;

// GET /api/tasks
struct ListQuery {
  TaskFilter filter;
  Page page;
  bool total = false;
  bool counts = false;
};
Result<ListQuery> parse_list(const Query& query);

// GET /api/batches?cursor=&limit=
struct BatchesQuery {
  std::string cursor;
  int limit = 50;
};
Result<BatchesQuery> parse_batches(const Query& query);

// GET /api/usage?by=&from=&to=&utc_offset_min=
Result<UsageQuery> parse_usage(const Query& query);

// GET /api/tasks/{id}/export?format=
Result<TranscriptFormat> parse_export(const Query& query);

// GET .../result?block=&timeout_s=
struct ResultQuery {
  Millis block_ms = 0;
};
Result<ResultQuery> parse_result(const Query& query);

// GET /api/batches/{id}/results?block=all|first&timeout_s=
struct BatchQuery {
  std::optional<Until> until;  // Absent: answer at once.
  Millis block_ms = 0;
};
Result<BatchQuery> parse_batch(const Query& query);

// GET .../messages?after=&before=&limit=
struct MessagesQuery {
  int64_t after = 0, before = 0;
  int limit = 100;
};
Result<MessagesQuery> parse_messages(const Query& query);

// GET .../events?after=&limit=
struct EventsQuery {
  int64_t after = 0;
  int limit = 100;
};
Result<EventsQuery> parse_events(const Query& query);

// GET .../log
struct LogQuery {
  enum class Format : uint8_t { text, jsonl };
  std::optional<int> attempt;         // Absent: the last.
  std::optional<int> run;             // A start of work, exactly: a restart after a hang is a run of its own.
  bool setup = false;                 // Of the command that prepared the task's own work tree.
  int64_t offset = 0;                 // In the child's bytes; negative counts from the end.
  int64_t limit = log_limit_default;  // Bytes that are read; with grep, stream or since bytes that are given.
  std::optional<int> tail;            // The last so many lines.
  std::string grep;                   // Only lines that contain it.
  Time since;                         // Only what was printed from then on.
  std::string stream;                 // Only this one: stdout or stderr.
  Format format = Format::text;
  bool strip = false;  // Without terminal escapes.
  bool follow = false;

  static constexpr int64_t log_limit_default = 1 << 20;
  static constexpr int64_t log_limit_max = 8 << 20;
  static constexpr int tail_max = 100'000;
};
Result<LogQuery> parse_log(const Query& query);

// GET .../artifacts/{name}: the bytes, or a part of them; with `preview` as text in JSON, as files/look.h gives it.
struct ArtifactQuery {
  bool preview = false;
  std::optional<int64_t> offset, limit;
  std::optional<int> tail;
  std::string grep;
  int context = 0;
  bool strip = true;
};
Result<ArtifactQuery> parse_artifact(const Query& query);

// GET /api/sessions/{id}/notices?after=&block=&timeout_s=&limit=
struct NoticesQuery {
  int64_t after = 0;
  int limit = 100;
  Millis block_ms = 0;
};
Result<NoticesQuery> parse_notices(const Query& query);

// Streams: where to go on (the Last-Event-ID header wins over ?after=), and for /api/stream the tasks whose transcripts
// are wanted.
struct StreamQuery {
  std::optional<int64_t> after;
  std::vector<TaskId> tasks;
};
inline constexpr size_t stream_tasks_max = 100;
Result<StreamQuery> parse_stream(const Query& query, std::string_view last_event_id);
Result<StreamQuery> parse_shared_stream(const Query& query, std::string_view last_event_id);

// DELETE /api/quotas: the account; empty: each of them.
Result<std::string> parse_quota_account(const Query& query);

// GET .../changes?format=json|patch: whether it is the patch.
Result<bool> parse_changes_query(const Query& query);

// GET /api/folders.
struct FoldersQuery {
  std::string path;    // What was typed so far; may be empty.
  bool files = false;  // Files are completed too.
};
Result<FoldersQuery> parse_folders(const Query& query);

// A route that takes no parameters.
Status parse_no_query(const Query& query);

// How long a call waits that was told to block and not how long.
inline constexpr Millis block_forever_ms = 7LL * 86'400'000;
inline constexpr Millis notices_block_default_ms = 60'000;

}  // namespace errand::api
