#include "store/sqlite/rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "store/plain_rows.h"
#include "store/sqlite/seal.h"
#include "task/json_in.h"

namespace errand::sqlite {
namespace {

// Stored as numbers: these hold them to be what the first release wrote.
static_assert(static_cast<int>(TaskState::pending) == 0 && static_cast<int>(TaskState::resumed) == 5);
static_assert(static_cast<int>(TurnPhase::queued) == 0 && static_cast<int>(TurnPhase::ended) == 2);
static_assert(static_cast<int>(EventType::task_created) == 0 && static_cast<int>(EventType::end) == 15);
static_assert(static_cast<int>(Role::user) == 0 && static_cast<int>(Role::system) == 2);
static_assert(static_cast<int>(NoticeKind::turn_ended) == 0 && static_cast<int>(NoticeKind::progress) == 4);
static_assert(static_cast<int>(PriceSource::unknown) == 0 && static_cast<int>(PriceSource::agent) == 4);
static_assert(static_cast<int>(Gone::deleted) == 0 && static_cast<int>(Gone::session_ended) == 3);

enum Flags : int { stopping = 1, interrupting = 2, is_forked = 4, pinned = 8, archived = 16, renamed = 32 };

int flags_of(const Task& task) {
  return (task.stopping ? stopping : 0) | (task.interrupting ? interrupting : 0) | (task.is_forked ? is_forked : 0) |
         (task.pinned ? pinned : 0) | (task.archived ? archived : 0) | (task.renamed ? renamed : 0);
}

constexpr double billion = 1e9;
constexpr double cost_max = 1e9;  // In dollars, of one call: what fits into a column.

// The columns that every update writes, in the order of the schema from `version` on.
void put_changing(RowOut& out, const Task& task, const TaskTexts& texts) {
  out.put(task.version);
  out.put(task.last_seq);
  out.put(task.updated_at.ms);
  out.put(task.queued_at.ms);
  out.put_or_null(task.started_at);
  out.put_or_null(task.completed_at);
  out.put_or_null(task.retrieved_at);
  out.put(task.reason);
  out.put(flags_of(task));
  out.put(task.turn);
  out.put(task.attempt);
  out.put(task.run);
  out.put(task.restarts);
  out.put(task.resume_count);
  out.put_or_null(task.exit_code);
  out.put_or_null(task.signal);
  out.put(task.driver_session);
  out.put(task.checkpoint);
  out.put_or_null(texts.asks);
  out.put_or_null(texts.waiting);
  out.put_or_null(texts.progress);
  out.put_or_null(texts.error);
  if (task.result)
    out.put(seal_of(*task.result));
  else
    out.put_null();
  out.put_sum();
}

// Sealed first, in this order, by every writer and reader of a task's row.
template <class Row>
void seal_identity(Row& row, int64_t number, std::string_view id, int state, int phase, Time expires_at) {
  row.seal_only(number);
  row.seal_only(id);
  row.seal_only(state);
  row.seal_only(phase);
  row.seal_only(expires_at.ms);
}

template <class Row>
void seal_identity(Row& row, int64_t number, const Task& task) {
  seal_identity(row, number, task.id.value, static_cast<int>(task.state), static_cast<int>(task.phase),
                task.expires_at);
}

using rows::in_range;

}  // namespace

Error damaged(std::string_view what) {
  return {
      Code::internal,
      fmt::format("A stored {} is damaged on the disk: stop the server and restore the database from a copy.", what),
      "corrupt"};
}

const char* const insert_task_sql =
    "INSERT INTO tasks (n, id, agent, model, batch, parent, priority, over_limit, created_high, state, phase, "
    "expires_at, version, last_seq, updated_at, queued_at, started_at, completed_at, retrieved_at, reason, flags, "
    "turn, "
    "attempt, run, restarts, resume_count, exit_code, signal, driver_session, checkpoint, asks, waiting, progress, "
    "error, "
    "result_sum, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
    "?20, "
    "?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36)";

#define ERRAND_CHANGING                                                                                     \
  "version = ?1, last_seq = ?2, updated_at = ?3, queued_at = ?4, started_at = ?5, completed_at = ?6, "      \
  "retrieved_at = ?7, reason = ?8, flags = ?9, turn = ?10, attempt = ?11, run = ?12, restarts = ?13, "      \
  "resume_count = ?14, exit_code = ?15, signal = ?16, driver_session = ?17, checkpoint = ?18, asks = ?19, " \
  "waiting = ?20, progress = ?21, error = ?22, result_sum = ?23, sum = ?24 "
const char* const update_task_same_state_sql = "UPDATE tasks SET " ERRAND_CHANGING "WHERE n = ?25";
const char* const update_task_sql =
    "UPDATE tasks SET state = ?26, phase = ?27, expires_at = ?28, " ERRAND_CHANGING "WHERE n = ?25";
#undef ERRAND_CHANGING

TaskTexts::TaskTexts(const Task& task) {
  if (!task.asks.empty()) asks = encode_asks(task.asks);
  if (!task.waiting.empty()) waiting = encode_waiting(task.waiting);
  progress = encode_progress(task);
  if (task.error) error = encode_error(*task.error);
}

void bind_insert(Statement& statement, int64_t number, const Task& task, const TaskTexts& texts, Time created_high) {
  const Launch& launch = task.launch;
  statement.bind(1, number).bind(2, task.id.value).bind(3, launch.agent_id).bind(4, launch.model);
  statement.bind_text_or_null(5, launch.batch_id.value).bind_text_or_null(6, launch.parent_session_id.value);
  statement.bind(7, launch.priority).bind(8, launch.authorize_over_limit ? 1 : 0).bind(9, created_high.ms);
  statement.bind(10, static_cast<int>(task.state)).bind(11, static_cast<int>(task.phase));
  statement.bind_time_or_null(12, task.expires_at);
  RowOut out(statement, 13);
  seal_identity(out, number, task);
  put_changing(out, task, texts);
}

void bind_update(Statement& statement, TaskUpdate which, int64_t number, const Task& task, const TaskTexts& texts) {
  RowOut out(statement);
  seal_identity(out, number, task);
  put_changing(out, task, texts);
  statement.bind(25, number);
  if (which == TaskUpdate::same_state) return;
  statement.bind(26, static_cast<int>(task.state)).bind(27, static_cast<int>(task.phase));
  statement.bind_time_or_null(28, task.expires_at);
}

const char* const insert_launch_sql =
    "INSERT INTO launches (n, session, title, created_at, launch, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

void bind_launch(Statement& statement, int64_t number, const Task& task, const std::string& launch_json) {
  RowOut out(statement);
  out.put(number);
  out.put(task.session_id.value);
  out.put(task.title);
  out.put(task.created_at.ms);
  out.put(launch_json);
  out.put_sum();
}

const char* const update_launch_sql =
    "UPDATE launches SET session = ?2, title = ?3, created_at = ?4, launch = ?5, sum = ?6 WHERE n = ?1";

const char* const task_columns =
    "t.n, t.id, t.state, t.phase, t.expires_at, t.version, t.last_seq, t.updated_at, t.queued_at, t.started_at, "
    "t.completed_at, t.retrieved_at, t.reason, t.flags, t.turn, t.attempt, t.run, t.restarts, t.resume_count, "
    "t.exit_code, t.signal, t.driver_session, t.checkpoint, t.asks, t.waiting, t.progress, t.error, t.result_sum, "
    "t.sum, "
    "l.n, l.session, l.title, l.created_at, l.launch, l.sum, r.result";
const char* const task_tables = "tasks t JOIN launches l ON l.n = t.n LEFT JOIN results r ON r.n = t.n";

Result<Task> read_task(const Statement& row) {
  Task task;
  task.id = TaskId(row.text(1));
  const int64_t state = row.integer(2), phase = row.integer(3);
  task.expires_at = row.time(4);
  RowIn in(row, 5);
  seal_identity(in, row.integer(0), task.id.value, static_cast<int>(state), static_cast<int>(phase), task.expires_at);
  task.version = in.number();
  task.last_seq = in.number();
  task.updated_at = in.time();
  task.queued_at = in.time();
  task.started_at = in.time_or_null();
  task.completed_at = in.time_or_null();
  task.retrieved_at = in.time_or_null();
  task.reason = in.text();
  const int flags = in.integer();
  task.turn = in.integer();
  task.attempt = in.integer();
  task.run = in.integer();
  task.restarts = in.integer();
  task.resume_count = in.integer();
  task.exit_code = in.integer_or_null();
  task.signal = in.integer_or_null();
  task.driver_session = in.text();
  task.checkpoint = in.text();
  const std::string_view asks = in.text_or_null();
  const std::string_view waiting = in.text_or_null();
  const std::string_view progress = in.text_or_null();
  const std::string_view error = in.text_or_null();
  const bool has_result = !in.take_null();
  const int64_t result_sum = has_result ? in.number() : 0;
  if (!in.take_sum() || !in_range(state, TaskState::resumed) || !in_range(phase, TurnPhase::ended))
    return std::unexpected(damaged("task"));
  task.state = static_cast<TaskState>(state);
  task.phase = static_cast<TurnPhase>(phase);
  task.stopping = (flags & stopping) != 0;
  task.interrupting = (flags & interrupting) != 0;
  task.is_forked = (flags & is_forked) != 0;
  task.pinned = (flags & pinned) != 0;
  task.archived = (flags & archived) != 0;
  task.renamed = (flags & renamed) != 0;

  RowIn fixed(row, in.next());
  if (fixed.number() != row.integer(0)) return std::unexpected(damaged("task"));
  task.session_id = SessionId(fixed.text());
  task.title = fixed.text();
  task.created_at = fixed.time();
  const std::string_view launch = fixed.text();
  if (!fixed.take_sum()) return std::unexpected(damaged("task"));
  if (has_result) {
    task.result = row.text(fixed.next());
    if (seal_of(*task.result) != result_sum) return std::unexpected(damaged("result"));
  }

  const auto decode = [](std::string_view json, auto decoder, auto& into) -> Status {
    if (json.empty()) return {};
    auto value = decoder(json);
    if (!value) return std::unexpected(value.error());
    into = std::move(*value);
    return {};
  };
  if (const Status ok = decode(launch, decode_launch, task.launch); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode(asks, decode_asks, task.asks); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode(waiting, decode_waiting, task.waiting); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode_progress(progress, task); !ok) return std::unexpected(ok.error());
  if (const Status ok = decode(error, decode_error, task.error); !ok) return std::unexpected(ok.error());
  return task;
}

const char* const insert_event_sql =
    "INSERT INTO events (pos, task, seq, type, at, data, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

void bind_event(Statement& statement, int64_t pos, int64_t number, const Event& event) {
  RowOut out(statement);
  out.put(pos);
  out.put(number);
  out.put(event.seq);
  out.put(static_cast<int>(event.type));
  out.put(event.at.ms);
  out.put(event.data);
  out.put_sum();
}

const char* const event_columns = "e.pos, e.task, e.seq, e.type, e.at, e.data, e.sum, t.id";

Result<Event> read_event(const Statement& row) {
  RowIn in(row);
  Event event;
  event.pos = in.number();
  in.number();
  event.seq = in.number();
  const int64_t type = in.number();
  event.at = in.time();
  event.data = in.text();
  if (!in.take_sum() || !in_range(type, EventType::end)) return std::unexpected(damaged("event"));
  event.type = static_cast<EventType>(type);
  event.task_id = TaskId(row.text(in.next()));
  return event;
}

const char* const put_message_sql =
    "INSERT INTO messages (m, id, role, turn, created_at, completed_at, interrupted, from_seq, to_seq, parts, sum) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (m) DO UPDATE SET role = ?3, turn = ?4, "
    "created_at = ?5, completed_at = ?6, interrupted = ?7, from_seq = ?8, to_seq = ?9, parts = ?10, sum = ?11";

void bind_message(Statement& statement, int64_t key, const Message& message, const std::string& parts_json,
                  int64_t from_seq, int64_t to_seq) {
  RowOut out(statement);
  out.put(key);
  out.put(message.id.value);
  out.put(static_cast<int>(message.role));
  out.put(message.turn);
  out.put(message.created_at.ms);
  out.put_or_null(message.completed_at);
  out.put(message.interrupted ? 1 : 0);
  out.put(from_seq);
  out.put(to_seq);
  out.put(parts_json);
  out.put_sum();
}

const char* const message_columns =
    "m.m, m.id, m.role, m.turn, m.created_at, m.completed_at, m.interrupted, m.from_seq, m.to_seq, m.parts, m.sum";

Result<StoredMessage> read_message(const Statement& row) {
  RowIn in(row);
  StoredMessage out;
  Message& message = out.message;
  message.seq = in.number() % messages_a_session;
  message.id = MessageId(in.text());
  const int64_t role = in.number();
  message.turn = in.integer();
  message.created_at = in.time();
  message.completed_at = in.time_or_null();
  message.interrupted = in.number() != 0;
  out.from_seq = in.number();
  out.to_seq = in.number();
  const std::string_view parts = in.text();
  if (!in.take_sum() || !in_range(role, Role::system)) return std::unexpected(damaged("message"));
  message.role = static_cast<Role>(role);
  Result<std::vector<Part>> decoded = decode_parts(parts);
  if (!decoded) return std::unexpected(decoded.error());
  message.parts = std::move(*decoded);
  return out;
}

const char* const insert_notice_sql =
    "INSERT INTO notices (id, session, seq, task, turn, kind, text, data, created_at, taken_at) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

void bind_notice(Statement& statement, const Notice& notice, int64_t seq) {
  statement.bind(1, notice.id.value).bind_text_or_null(2, notice.session_id.value).bind(3, seq);
  statement.bind(4, notice.task_id.value).bind(5, notice.turn).bind(6, static_cast<int>(notice.kind));
  statement.bind(7, notice.text).bind(8, notice.data).bind(9, notice.created_at.ms);
  statement.bind_time_or_null(10, notice.taken_at);
}

const char* const notice_columns = rows::notice_columns;
Notice read_notice(const Statement& row) { return rows::notice(row); }

const char* const insert_usage_sql =
    "INSERT INTO usage (at, task, turn, provider, model, agent, folder, input, output, cache_read, cache_write, cost, "
    "source, priced_at, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

void bind_usage(Statement& statement, const UsageRow& row) {
  RowOut out(statement);
  out.put(row.at.ms);
  out.put(row.task_id.value);
  out.put(row.turn);
  out.put(row.provider);
  out.put(row.model);
  out.put(row.agent);
  out.put(row.folder);
  out.put(row.tokens.input);
  out.put(row.tokens.output);
  out.put(row.tokens.cache_read);
  out.put(row.tokens.cache_write);
  if (row.cost_usd)
    out.put(static_cast<int64_t>(std::llround(std::clamp(*row.cost_usd, 0.0, cost_max) * billion)));
  else
    out.put_null();
  out.put(static_cast<int>(row.source));
  out.put(row.priced_at);
  out.put_sum();
}

const char* const usage_columns =
    "u, at, task, turn, provider, model, agent, folder, input, output, cache_read, cache_write, cost, source, "
    "priced_at, sum";

Result<UsageRow> read_usage(const Statement& row) {
  RowIn in(row, 1);
  UsageRow out;
  out.at = in.time();
  out.task_id = TaskId(in.text());
  out.turn = in.integer();
  out.provider = in.text();
  out.model = in.text();
  out.agent = in.text();
  out.folder = in.text();
  out.tokens.input = in.number();
  out.tokens.output = in.number();
  out.tokens.cache_read = in.number();
  out.tokens.cache_write = in.number();
  if (!in.take_null()) out.cost_usd = static_cast<double>(in.number()) / billion;
  const int64_t source = in.number();
  out.priced_at = in.text();
  if (!in.take_sum() || !in_range(source, PriceSource::agent)) return std::unexpected(damaged("row of usage"));
  out.source = static_cast<PriceSource>(source);
  return out;
}

const char* const session_columns = rows::session_columns;
Session read_session(const Statement& row) { return rows::session(row); }

const char* const tombstone_columns = rows::tombstone_columns;
Tombstone read_tombstone(const Statement& row) { return rows::tombstone(row); }

}  // namespace errand::sqlite
