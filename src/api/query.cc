#include "api/query.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace errand::api {
namespace {

constexpr int64_t number_max = 1LL << 53;  // What every client can hold exactly.

// Reads parameters; as Fields does, the first thing that is wrong is what the answer names.
class Params {
 public:
  explicit Params(const Query& query) : query_(query) {}

  std::optional<std::string_view> get(std::string_view name) {
    if (std::ranges::find(known_, name) == known_.end()) known_.push_back(name);
    std::optional<std::string_view> found;
    for (const auto& [key, value] : query_) {
      if (key != name) continue;
      if (found) refuse(name, "is given twice", "duplicate_parameter");
      found = value;
    }
    if (found && !is_utf8(*found)) refuse(name, "is not valid UTF-8", "invalid_parameter");
    if (found && found->size() > 4096) refuse(name, "is longer than 4096 bytes", "too_long");
    return found && !found->empty() && !error_ ? found : std::nullopt;
  }

  void text(std::string_view name, std::string& into) {
    if (const auto value = get(name)) into = *value;
  }

  template <class Int>
  void integer(std::string_view name, Int& into, int64_t min, int64_t max) {
    const auto value = get(name);
    if (!value) return;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc() || end != value->data() + value->size() || number < min || number > max) {
      return refuse(name, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max),
                    "invalid_parameter");
    }
    into = static_cast<Int>(number);
  }

  template <class Int>
  void integer(std::string_view name, std::optional<Int>& into, int64_t min, int64_t max) {
    if (!get(name)) return;
    Int number = 0;
    integer(name, number, min, max);
    if (!error_) into = number;
  }

  void flag(std::string_view name, bool& into) {
    const auto value = get(name);
    if (!value) return;
    if (*value == "true" || *value == "1") {
      into = true;
    } else if (*value == "false" || *value == "0") {
      into = false;
    } else {
      refuse(name, "must be true or false", "invalid_parameter");
    }
  }

  std::optional<Millis> seconds(std::string_view name) {
    const auto value = get(name);
    if (!value) return std::nullopt;
    double seconds = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), seconds);
    const bool whole = error == std::errc() && end == value->data() + value->size();
    if (!whole || !(seconds >= 0) || seconds > static_cast<double>(block_forever_ms) / 1000) {
      refuse(name, "must be a number of seconds from 0 to " + std::to_string(block_forever_ms / 1000),
             "invalid_parameter");
      return std::nullopt;
    }
    return static_cast<Millis>(std::ceil(seconds * 1000));
  }

  void time(std::string_view name, Time& into) {
    const auto value = get(name);
    if (!value) return;
    if (const Result<Time> time = parse_time(*value)) {
      into = *time;
    } else {
      refuse(name, "must be a time such as 2026-11-15T09:52:03Z", "invalid_parameter");
    }
  }

  void refuse(std::string_view name, std::string_view must, std::string_view reason) {
    if (error_) return;
    error_ = Error{Code::invalid_argument, "The parameter `" + std::string(name) + "` " + std::string(must) + ".",
                   std::string(reason)};
  }

  template <class T>
  Result<T> done(T value) {
    if (error_) return std::unexpected(*error_);
    for (const auto& [key, text] : query_) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      std::string allowed;
      for (const std::string_view name : known_) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
      return fail(Code::invalid_argument,
                  "Unknown parameter `" + to_utf8(key.substr(0, 100)) +
                      "`. Known here: " + (allowed.empty() ? "none" : allowed) + ".",
                  "unknown_parameter");
    }
    return value;
  }

 private:
  const Query& query_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

void read_states(Params& params, TaskFilter& filter) {
  const auto value = params.get("status");
  if (!value) return;
  for (const std::string_view word : split(*value, ',')) {
    const std::optional<TaskState> state = parse_task_state(trim(word));
    if (!state) {
      return params.refuse("status", "must be a list of pending, running, completed, failed, cancelled and resumed",
                           "invalid_parameter");
    }
    if (std::ranges::find(filter.states, *state) == filter.states.end()) filter.states.push_back(*state);
  }
}

void read_waiting_for(Params& params, TaskFilter& filter) {
  const auto value = params.get("waiting_for");
  if (!value) return;
  const auto add = [](auto& kinds, auto kind) {
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  };
  for (const std::string_view word : split(*value, ',')) {
    if (const std::optional<AskKind> ask = parse_ask_kind(trim(word))) {
      add(filter.asks, *ask);
    } else if (const std::optional<WaitKind> wait = parse_wait_kind(trim(word))) {
      add(filter.waits, *wait);
    } else {
      return params.refuse("waiting_for", "must be a list of permission, answer, quota and children",
                           "invalid_parameter");
    }
  }
}

void read_label(Params& params, TaskFilter& filter) {
  const auto value = params.get("label");
  if (!value) return;
  const size_t colon = value->find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return params.refuse("label", "must be a name, a colon and a value", "invalid_parameter");
  }
  filter.label_key = value->substr(0, colon);
  filter.label_value = value->substr(colon + 1);
}

void read_sort(Params& params, Page& page) {
  const auto value = params.get("sort");
  if (!value || *value == "newest") return;
  if (*value == "oldest") {
    page.sort = Sort::oldest;
  } else if (*value == "updated") {
    page.sort = Sort::updated;
  } else if (*value == "attention") {
    page.sort = Sort::attention;
  } else {
    params.refuse("sort", "must be newest, oldest, updated or attention", "invalid_parameter");
  }
}

// What is archived is not shown unless it is asked for.
void read_archived(Params& params, TaskFilter& filter) {
  filter.archived = false;
  const auto value = params.get("archived");
  if (!value || *value == "false") return;
  if (*value == "true") {
    filter.archived = true;
  } else if (*value == "all") {
    filter.archived.reset();
  } else {
    params.refuse("archived", "must be true, false or all", "invalid_parameter");
  }
}

// A time, or a day that begins where the caller is.
void read_day(Params& params, std::string_view name, int utc_offset_min, Time& into) {
  const auto value = params.get(name);
  if (!value) return;
  if (value->size() != 10) return params.time(name, into);
  if (const Result<Time> day = parse_time(std::string(*value) + "T00:00:00Z")) {
    into = *day + -Millis{utc_offset_min} * 60'000;
  } else {
    params.refuse(name, "must be a day such as 2026-11-15, or a time", "invalid_parameter");
  }
}

// `block` and `timeout_s`: how long to wait.
Millis read_block(Params& params, Millis usual_ms) {
  bool block = false;
  params.flag("block", block);
  const std::optional<Millis> given = params.seconds("timeout_s");
  return block ? given.value_or(usual_ms) : 0;
}

void read_ansi(Params& params, bool& strip) {
  const auto value = params.get("ansi");
  if (!value) return;
  strip = *value == "strip";
  if (*value != "strip" && *value != "keep") params.refuse("ansi", "must be strip or keep", "invalid_parameter");
}

void read_position(Params& params, std::string_view last_event_id, StreamQuery& into) {
  params.integer("after", into.after, 0, number_max);
  if (last_event_id.empty()) return;
  const Query header = {{"Last-Event-ID", std::string(last_event_id)}};
  Params id(header);
  id.integer("Last-Event-ID", into.after, 0, number_max);
  if (!id.done(0)) params.refuse("Last-Event-ID", "must be the id of an event of this stream", "invalid_parameter");
}

}  // namespace

Result<ListQuery> parse_list(const Query& query) {
  ListQuery list;
  Params params(query);
  read_states(params, list.filter);
  read_waiting_for(params, list.filter);
  params.flag("unseen", list.filter.unseen);
  read_archived(params, list.filter);
  if (params.get("pinned")) params.flag("pinned", list.filter.pinned.emplace());
  params.flag("fold_batches", list.filter.fold);
  params.text("agent_id", list.filter.agent_id);
  if (const auto value = params.get("kind")) {
    list.filter.kind = parse_task_kind(*value);
    if (!list.filter.kind) params.refuse("kind", "must be agent or command", "invalid_parameter");
  }
  params.text("batch_id", list.filter.batch_id.value);
  params.text("parent_session_id", list.filter.parent_session_id.value);
  read_label(params, list.filter);
  params.text("q", list.filter.query);
  params.time("created_after", list.filter.created_after);
  params.time("created_before", list.filter.created_before);
  read_sort(params, list.page);
  params.integer("limit", list.page.limit, 1, 500);
  params.text("cursor", list.page.cursor);
  params.integer("offset", list.page.offset, 0, number_max);
  if (!list.page.cursor.empty() && list.page.offset > 0) {
    params.refuse("offset", "cannot be given together with a cursor", "invalid_parameter");
  }
  params.flag("total", list.total);
  params.flag("counts", list.counts);
  return params.done(std::move(list));
}

Result<BatchesQuery> parse_batches(const Query& query) {
  Params params(query);
  BatchesQuery batches;
  params.text("cursor", batches.cursor);
  params.integer("limit", batches.limit, 1, 500);
  return params.done(std::move(batches));
}

Result<UsageQuery> parse_usage(const Query& query) {
  Params params(query);
  UsageQuery usage;
  if (const auto value = params.get("by")) {
    const std::optional<UsageBy> by = parse_usage_by(*value);
    if (!by) params.refuse("by", "must be day, model, agent or folder", "invalid_parameter");
    usage.by = by.value_or(UsageBy::day);
  }
  params.integer("utc_offset_min", usage.utc_offset_min, -840, 840);
  read_day(params, "from", usage.utc_offset_min, usage.from);
  read_day(params, "to", usage.utc_offset_min, usage.to);
  return params.done(usage);
}

Result<TranscriptFormat> parse_export(const Query& query) {
  Params params(query);
  TranscriptFormat format = TranscriptFormat::md;
  if (const auto value = params.get("format")) {
    const std::optional<TranscriptFormat> given = parse_transcript_format(*value);
    if (!given) params.refuse("format", "must be md, json or html", "invalid_parameter");
    format = given.value_or(format);
  }
  return params.done(format);
}

Result<ResultQuery> parse_result(const Query& query) {
  Params params(query);
  ResultQuery result;
  result.block_ms = read_block(params, block_forever_ms);
  return params.done(result);
}

Result<BatchQuery> parse_batch(const Query& query) {
  Params params(query);
  BatchQuery batch;
  if (const auto value = params.get("block")) {
    if (*value == "all" || *value == "true") {
      batch.until = Until::all;
    } else if (*value == "first") {
      batch.until = Until::first;
    } else if (*value != "false") {
      params.refuse("block", "must be all or first", "invalid_parameter");
    }
  }
  batch.block_ms = params.seconds("timeout_s").value_or(block_forever_ms);
  return params.done(batch);
}

Result<MessagesQuery> parse_messages(const Query& query) {
  Params params(query);
  MessagesQuery messages;
  params.integer("after", messages.after, 0, number_max);
  params.integer("before", messages.before, 0, number_max);
  if (messages.after > 0 && messages.before > 0) {
    params.refuse("before", "cannot be given together with `after`", "invalid_parameter");
  }
  params.integer("limit", messages.limit, 1, 500);
  return params.done(messages);
}

Result<EventsQuery> parse_events(const Query& query) {
  Params params(query);
  EventsQuery events;
  params.integer("after", events.after, 0, number_max);
  params.integer("limit", events.limit, 1, 1000);
  return params.done(events);
}

Result<LogQuery> parse_log(const Query& query) {
  Params params(query);
  LogQuery log;
  params.integer("attempt", log.attempt, 1, 1'000'000);
  params.integer("run", log.run, 1, 1'000'000);
  if (log.attempt && log.run) params.refuse("run", "cannot be given together with `attempt`", "invalid_parameter");
  params.flag("setup", log.setup);
  if (log.setup && (log.attempt || log.run))
    params.refuse("setup", "cannot be given together with `attempt` or `run`", "invalid_parameter");
  params.integer("offset", log.offset, -number_max, number_max);
  params.integer("limit", log.limit, 1, LogQuery::log_limit_max);
  params.integer("tail", log.tail, 0, LogQuery::tail_max);
  if (log.tail && log.offset != 0) params.refuse("tail", "cannot be given together with `offset`", "invalid_parameter");
  params.text("grep", log.grep);
  params.time("since", log.since);
  if (const auto value = params.get("format")) {
    if (*value == "jsonl") {
      log.format = LogQuery::Format::jsonl;
    } else if (*value != "text") {
      params.refuse("format", "must be text or jsonl", "invalid_parameter");
    }
  }
  if (const auto value = params.get("stream")) {
    log.stream = *value;
    if (*value != "stdout" && *value != "stderr")
      params.refuse("stream", "must be stdout or stderr", "invalid_parameter");
  }
  read_ansi(params, log.strip);
  params.flag("follow", log.follow);
  if (log.setup && log.follow)
    params.refuse("setup", "cannot be given together with `follow`; read it again from `X-Log-Next`",
                  "invalid_parameter");
  return params.done(std::move(log));
}

Result<ArtifactQuery> parse_artifact(const Query& query) {
  Params params(query);
  ArtifactQuery artifact;
  params.flag("preview", artifact.preview);
  params.integer("offset", artifact.offset, -number_max, number_max);
  params.integer("limit", artifact.limit, 1, number_max);
  params.integer("tail", artifact.tail, 0, LogQuery::tail_max);
  params.text("grep", artifact.grep);
  params.integer("context", artifact.context, 0, 50);
  read_ansi(params, artifact.strip);
  if (!artifact.preview && (artifact.tail || !artifact.grep.empty() || artifact.context > 0))
    params.refuse("preview", "must be true where tail, grep or context are given", "invalid_parameter");
  return params.done(std::move(artifact));
}

Result<NoticesQuery> parse_notices(const Query& query) {
  Params params(query);
  NoticesQuery notices;
  params.integer("after", notices.after, 0, number_max);
  params.integer("limit", notices.limit, 1, 500);
  notices.block_ms = read_block(params, notices_block_default_ms);
  return params.done(notices);
}

Result<StreamQuery> parse_stream(const Query& query, std::string_view last_event_id) {
  Params params(query);
  StreamQuery stream;
  read_position(params, last_event_id, stream);
  return params.done(std::move(stream));
}

Result<StreamQuery> parse_shared_stream(const Query& query, std::string_view last_event_id) {
  Params params(query);
  StreamQuery stream;
  read_position(params, last_event_id, stream);
  if (const auto value = params.get("tasks")) {
    for (const std::string_view id : split(*value, ',')) {
      if (!trim(id).empty()) stream.tasks.emplace_back(trim(id));
    }
    if (stream.tasks.size() > stream_tasks_max) {
      params.refuse("tasks", "must name at most " + std::to_string(stream_tasks_max) + " tasks", "invalid_parameter");
    }
  }
  return params.done(std::move(stream));
}

Result<std::string> parse_quota_account(const Query& query) {
  Params params(query);
  std::string account;
  params.text("account", account);
  return params.done(std::move(account));
}

Result<FoldersQuery> parse_folders(const Query& query) {
  Params params(query);
  FoldersQuery folders;
  params.text("path", folders.path);
  params.flag("files", folders.files);
  const std::string& path = folders.path;
  if (path.size() > 4096 || path.contains('\0')) params.refuse("path", "must be a path", "invalid_parameter");
  return params.done(std::move(folders));
}

Result<bool> parse_changes_query(const Query& query) {
  Params params(query);
  std::string format = "json";
  params.text("format", format);
  if (format != "json" && format != "patch") params.refuse("format", "must be json or patch", "invalid_parameter");
  return params.done(format == "patch");
}

Status parse_no_query(const Query& query) {
  if (const Result<int> nothing = Params(query).done(0); !nothing) return std::unexpected(nothing.error());
  return {};
}

}  // namespace errand::api
