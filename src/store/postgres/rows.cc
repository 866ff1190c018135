#include "store/postgres/rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/hash.h"
#include "store/plain_rows.h"
#include "task/json_in.h"

namespace errand::postgres {
namespace {

// Stored as numbers: these hold them to be what the first release wrote.
static_assert(static_cast<int>(TaskState::pending) == 0 && static_cast<int>(TaskState::resumed) == 5);
static_assert(static_cast<int>(TurnPhase::queued) == 0 && static_cast<int>(TurnPhase::ended) == 2);
static_assert(static_cast<int>(EventType::task_created) == 0 && static_cast<int>(EventType::end) == 15);
static_assert(static_cast<int>(Role::user) == 0 && static_cast<int>(Role::system) == 2);
static_assert(static_cast<int>(NoticeKind::turn_ended) == 0 && static_cast<int>(NoticeKind::progress) == 4);
static_assert(static_cast<int>(PriceSource::unknown) == 0 && static_cast<int>(PriceSource::agent) == 4);
static_assert(static_cast<int>(Gone::deleted) == 0 && static_cast<int>(Gone::session_ended) == 3);
static_assert(static_cast<int>(AskKind::answer) == 1 && static_cast<int>(WaitKind::children) == 1);
static_assert(static_cast<int>(Band::asks) == 0 && static_cast<int>(Band::rest) == 6);

constexpr int first_wait = 16;

enum Flags : int { stopping = 1, interrupting = 2, is_forked = 4, pinned = 8, archived = 16, renamed = 32 };

int flags_of(const Task& task) {
  return (task.stopping ? stopping : 0) | (task.interrupting ? interrupting : 0) | (task.is_forked ? is_forked : 0) |
         (task.pinned ? pinned : 0) | (task.archived ? archived : 0) | (task.renamed ? renamed : 0);
}

constexpr double billion = 1e9;
constexpr double cost_max = 1e9;  // In dollars, of one call: what fits into a column.

using rows::in_range;

void add_changing(Values& out, const Task& task) {
  out.add(static_cast<int>(task.state)).add(static_cast<int>(task.phase)).add(static_cast<int>(band_of(task)));
  out.add_or_null(waits_for(task)).add_or_null(task.expires_at).add(task.version).add(task.last_seq);
  out.add(task.updated_at.ms).add(task.queued_at.ms).add_or_null(task.started_at).add_or_null(task.completed_at);
  out.add_or_null(task.retrieved_at).add(task.reason).add(flags_of(task)).add(task.turn).add(task.attempt);
  out.add(task.run).add(task.restarts).add(task.resume_count).add_or_null(task.exit_code).add_or_null(task.signal);
  out.add(task.driver_session).add(task.checkpoint);
  out.add_or_null(task.asks.empty() ? std::string() : encode_asks(task.asks));
  out.add_or_null(task.waiting.empty() ? std::string() : encode_waiting(task.waiting));
  out.add_or_null(encode_progress(task));
  out.add_or_null(task.error ? encode_error(*task.error) : std::string());
  if (const std::optional<int64_t> sum = sum_of(task.result))
    out.add(*sum);
  else
    out.add_null();
}

}  // namespace

Error damaged(std::string_view what) {
  return {Code::internal,
          fmt::format("A stored {} is damaged in the database: stop the server and restore the database from a copy.",
                      what),
          "corrupt"};
}

std::optional<int64_t> sum_of(const std::optional<std::string>& result) {
  if (!result) return std::nullopt;
  return static_cast<int64_t>(fnv_hash(*result));
}

int stored_wait(AskKind kind) { return static_cast<int>(kind); }
int stored_wait(WaitKind kind) { return first_wait + static_cast<int>(kind); }

std::optional<int> waits_for(const Task& task) {
  if (const Ask* const ask = open_ask(task)) return stored_wait(ask->kind);
  if (task.wait) return stored_wait(task.wait->kind);
  return std::nullopt;
}

const char* const insert_task_sql =
    "INSERT INTO tasks (n, id, session, created_at, agent, model, batch, parent, priority, over_limit, state, phase, "
    "band, waits_for, expires_at, version, last_seq, updated_at, queued_at, started_at, completed_at, retrieved_at, "
    "reason, flags, turn, attempt, run, restarts, resume_count, exit_code, signal, driver_session, checkpoint, asks, "
    "waiting, progress, error, result_sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
    "$16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, "
    "$38)";
const char* const update_task_sql =
    "UPDATE tasks SET state = $2, phase = $3, band = $4, waits_for = $5, expires_at = $6, version = $7, last_seq = $8, "
    "updated_at = $9, queued_at = $10, started_at = $11, completed_at = $12, retrieved_at = $13, reason = $14, "
    "flags = $15, turn = $16, attempt = $17, run = $18, restarts = $19, resume_count = $20, exit_code = $21, "
    "signal = $22, driver_session = $23, checkpoint = $24, asks = $25, waiting = $26, progress = $27, error = $28, "
    "result_sum = $29 WHERE n = $1";

Values inserted_task(int64_t number, const Task& task) {
  const Launch& launch = task.launch;
  Values out;
  out.add(number).add(task.id.value).add(task.session_id.value).add(task.created_at.ms);
  out.add(launch.agent_id).add(launch.model);
  out.add_or_null(launch.batch_id.value).add_or_null(launch.parent_session_id.value);
  out.add(launch.priority).add(launch.authorize_over_limit ? 1 : 0);
  add_changing(out, task);
  return out;
}

Values updated_task(int64_t number, const Task& task) {
  Values out;
  out.add(number);
  add_changing(out, task);
  return out;
}

const char* const task_columns =
    "t.n, t.batch, t.band, t.id, t.session, t.created_at, t.state, t.phase, t.expires_at, t.version, t.last_seq, "
    "t.updated_at, t.queued_at, t.started_at, t.completed_at, t.retrieved_at, t.reason, t.flags, t.turn, t.attempt, "
    "t.run, t.restarts, t.resume_count, t.exit_code, t.signal, t.driver_session, t.checkpoint, t.asks, t.waiting, "
    "t.progress, t.error, l.title, l.launch, r.result";
const char* const task_tables = "tasks t JOIN launches l ON l.n = t.n LEFT JOIN results r ON r.n = t.n";

Result<Task> read_task(const Row& row) {
  Task task;
  task.id = TaskId(row.text(3));
  task.session_id = SessionId(row.text(4));
  task.created_at = row.time(5);
  const int64_t state = row.integer(6), phase = row.integer(7);
  if (!in_range(state, TaskState::resumed) || !in_range(phase, TurnPhase::ended))
    return std::unexpected(damaged("task"));
  task.state = static_cast<TaskState>(state);
  task.phase = static_cast<TurnPhase>(phase);
  task.expires_at = row.time(8);
  task.version = row.integer(9);
  task.last_seq = row.integer(10);
  task.updated_at = row.time(11);
  task.queued_at = row.time(12);
  task.started_at = row.time(13);
  task.completed_at = row.time(14);
  task.retrieved_at = row.time(15);
  task.reason = row.text(16);
  const int64_t flags = row.integer(17);
  task.stopping = (flags & stopping) != 0;
  task.interrupting = (flags & interrupting) != 0;
  task.is_forked = (flags & is_forked) != 0;
  task.pinned = (flags & pinned) != 0;
  task.archived = (flags & archived) != 0;
  task.renamed = (flags & renamed) != 0;
  task.turn = static_cast<int>(row.integer(18));
  task.attempt = static_cast<int>(row.integer(19));
  task.run = static_cast<int>(row.integer(20));
  task.restarts = static_cast<int>(row.integer(21));
  task.resume_count = static_cast<int>(row.integer(22));
  task.exit_code = row.integer_or_null(23);
  task.signal = row.integer_or_null(24);
  task.driver_session = row.text(25);
  task.checkpoint = row.text(26);
  task.title = row.text(31);
  if (!row.is_null(33)) task.result = row.text(33);

  const auto decode = [&](int column, auto decoder, auto& into) -> Status {
    if (row.is_null(column)) return {};
    auto value = decoder(row.text(column));
    if (!value) return std::unexpected(value.error());
    into = std::move(*value);
    return {};
  };
  if (const Status ok = decode(27, decode_asks, task.asks); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode(28, decode_waiting, task.waiting); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode_progress(row.text(29), task); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode(30, decode_error, task.error); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode(32, decode_launch, task.launch); !ok) return std::unexpected(ok.error());
  return task;
}

const char* const event_columns = "e.pos, e.seq, e.type, e.at, e.data, t.id";

Result<Event> read_event(const Row& row) {
  Event event;
  event.pos = row.integer(0);
  event.seq = row.integer(1);
  if (!in_range(row.integer(2), EventType::end)) return std::unexpected(damaged("event"));
  event.type = static_cast<EventType>(row.integer(2));
  event.at = row.time(3);
  event.data = row.text(4);
  event.task_id = TaskId(row.text(5));
  return event;
}

const char* const put_message_sql =
    "INSERT INTO messages (session, seq, id, role, turn, created_at, completed_at, interrupted, from_seq, to_seq, "
    "parts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (session, seq) DO UPDATE SET role = $4, "
    "turn = $5, created_at = $6, completed_at = $7, interrupted = $8, from_seq = $9, to_seq = $10, parts = $11";

Values put_message(int64_t session, int64_t seq, const Message& message, int64_t from_seq, int64_t to_seq) {
  Values out;
  out.add(session).add(seq).add(message.id.value).add(static_cast<int>(message.role)).add(message.turn);
  out.add(message.created_at.ms).add_or_null(message.completed_at).add(message.interrupted ? 1 : 0);
  out.add(from_seq).add(to_seq).add(encode_parts(message.parts));
  return out;
}

const char* const message_columns =
    "m.session, m.seq, m.id, m.role, m.turn, m.created_at, m.completed_at, m.interrupted, m.from_seq, m.to_seq, "
    "m.parts";

Result<StoredMessage> read_message(const Row& row) {
  StoredMessage out;
  Message& message = out.message;
  out.session = row.integer(0);
  message.seq = row.integer(1);
  message.id = MessageId(row.text(2));
  if (!in_range(row.integer(3), Role::system)) return std::unexpected(damaged("message"));
  message.role = static_cast<Role>(row.integer(3));
  message.turn = static_cast<int>(row.integer(4));
  message.created_at = row.time(5);
  message.completed_at = row.time(6);
  message.interrupted = row.integer(7) != 0;
  out.from_seq = row.integer(8);
  out.to_seq = row.integer(9);
  Result<std::vector<Part>> parts = decode_parts(row.text(10));
  if (!parts) return std::unexpected(parts.error());
  message.parts = std::move(*parts);
  return out;
}

const char* const insert_notice_sql =
    "INSERT INTO notices (id, session, seq, task, turn, kind, text, data, created_at, taken_at) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

Values inserted_notice(const Notice& notice, int64_t seq) {
  Values out;
  out.add(notice.id.value).add_or_null(notice.session_id.value).add(seq).add(notice.task_id.value).add(notice.turn);
  out.add(static_cast<int>(notice.kind)).add(notice.text).add(notice.data).add(notice.created_at.ms);
  out.add_or_null(notice.taken_at);
  return out;
}

const char* const notice_columns = rows::notice_columns;
Notice read_notice(const Row& row) { return rows::notice(row); }

const char* const session_columns = rows::session_columns;
Session read_session(const Row& row) { return rows::session(row); }

const char* const tombstone_columns = rows::tombstone_columns;
Tombstone read_tombstone(const Row& row) { return rows::tombstone(row); }

const char* const insert_usage_sql =
    "INSERT INTO usage (at, task, turn, provider, model, agent, folder, input, output, cache_read, cache_write, cost, "
    "source, priced_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

Values inserted_usage(const UsageRow& row) {
  Values out;
  out.add(row.at.ms).add(row.task_id.value).add(row.turn).add(row.provider).add(row.model).add(row.agent);
  out.add(row.folder).add(row.tokens.input).add(row.tokens.output).add(row.tokens.cache_read);
  out.add(row.tokens.cache_write);
  if (row.cost_usd)
    out.add(static_cast<int64_t>(std::llround(std::clamp(*row.cost_usd, 0.0, cost_max) * billion)));
  else
    out.add_null();
  out.add(static_cast<int>(row.source)).add(row.priced_at);
  return out;
}

const char* const usage_columns =
    "u, at, task, turn, provider, model, agent, folder, input, output, cache_read, cache_write, cost, source, "
    "priced_at";

Result<UsageRow> read_usage(const Row& row) {
  UsageRow out;
  out.at = row.time(1);
  out.task_id = TaskId(row.text(2));
  out.turn = static_cast<int>(row.integer(3));
  out.provider = row.text(4);
  out.model = row.text(5);
  out.agent = row.text(6);
  out.folder = row.text(7);
  out.tokens.input = row.integer(8);
  out.tokens.output = row.integer(9);
  out.tokens.cache_read = row.integer(10);
  out.tokens.cache_write = row.integer(11);
  if (!row.is_null(12)) out.cost_usd = static_cast<double>(row.integer(12)) / billion;
  if (!in_range(row.integer(13), PriceSource::agent)) return std::unexpected(damaged("row of usage"));
  out.source = static_cast<PriceSource>(row.integer(13));
  out.priced_at = row.text(14);
  return out;
}

}  // namespace errand::postgres
