#include "store/postgres/postgres_store.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <type_traits>

#include <fmt/format.h>

#include "base/id.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "store/folder_lock.h"
#include "store/postgres/condition.h"
#include "store/postgres/housekeeper.h"
#include "store/postgres/list.h"
#include "store/postgres/migrate.h"
#include "store/postgres/readers.h"
#include "store/postgres/reads.h"
#include "store/postgres/seat.h"
#include "store/postgres/writer.h"

namespace errand {
namespace postgres {
namespace {

class PostgresStore final : public Store {
 public:
  // In the order in which they are made; they go the other way round.
  struct Parts {
    std::optional<FolderLock> folder;
    std::unique_ptr<Condition> condition = std::make_unique<Condition>();
    std::unique_ptr<Housekeeper> housekeeper;
    std::unique_ptr<Writer> writer;
    std::unique_ptr<Readers> readers;
    std::string description;
  };

  explicit PostgresStore(Parts parts) : parts_(std::move(parts)) {}

  void commit(Group group, Answer answer) override { parts_.writer->commit(std::move(group), std::move(answer)); }

  Result<Task> get(const TaskId& id) override {
    return ask([&](Connection& db) { return get_task(db, id); });
  }
  Result<TaskPage> list(const TaskFilter& filter, const Page& page) override {
    return ask([&](Connection& db) { return list_tasks(db, filter, page); });
  }
  Result<int64_t> count(const TaskFilter& filter) override;
  StateCounts counts() override { return parts_.writer->counts(); }
  Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) override {
    return ask([&](Connection& db) { return postgres::find_prefix(db, prefix, limit); });
  }
  Result<std::vector<Task>> working() override { return ask(postgres::working); }
  Result<std::vector<QueuedTask>> queued() override { return ask(postgres::queued); }
  Result<std::vector<TaskId>> expired(Time now, int limit) override {
    return ask([&](Connection& db) { return postgres::expired(db, now, limit); });
  }
  Result<Time> next_expiry() override { return ask(postgres::next_expiry); }
  Result<BatchCounts> batch_counts(const BatchId& id) override {
    return ask([&](Connection& db) { return postgres::batch_counts(db, id); });
  }
  Result<BatchPage> batches(const std::string& cursor, int limit) override {
    return ask([&](Connection& db) { return postgres::batches(db, cursor, limit); });
  }
  Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) override {
    return ask([&](Connection& db) { return postgres::tasks_of_parent(db, parent); });
  }
  Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) override {
    return ask([&](Connection& db) { return postgres::events_after(db, id, seq, limit); });
  }
  Result<std::vector<Change>> changes_after(int64_t pos, int limit) override {
    return ask([&](Connection& db) { return postgres::changes_after(db, pos, limit); });
  }
  int64_t last_pos() override { return parts_.writer->last_pos(); }
  Result<Session> session(const SessionId& id) override {
    return ask([&](Connection& db) { return get_session(db, id); });
  }
  Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) override {
    return ask([&](Connection& db) { return postgres::messages(db, id, after, before, limit); });
  }
  Result<Message> message(const MessageId& id) override {
    return ask([&](Connection& db) { return get_message(db, id); });
  }
  Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) override {
    return ask([&](Connection& db) { return postgres::notices(db, id, after, limit); });
  }
  Result<Notice> notice(const NoticeId& id) override {
    return ask([&](Connection& db) { return get_notice(db, id); });
  }
  Result<std::vector<Notice>> notices_of_task(const TaskId& id) override {
    return ask([&](Connection& db) { return postgres::notices_of_task(db, id); });
  }
  Result<std::optional<Commit::Key>> find_key(const std::string& key) override {
    return ask([&](Connection& db) { return postgres::find_key(db, key); });
  }
  Result<std::vector<Commit::Setting>> settings(const std::string& prefix) override {
    return ask([&](Connection& db) { return postgres::settings(db, prefix); });
  }
  Result<UsageReport> usage(const UsageQuery& query) override {
    return ask([&](Connection& db) { return postgres::usage(db, query); });
  }
  StoreHealth health() override { return parts_.condition->health(); }
  std::string describe() override { return parts_.description; }

 private:
  template <class Question>
  std::invoke_result_t<Question, Connection&> ask(Question question) {
    return parts_.readers->ask(std::move(question));
  }

  Parts parts_;
};

// Nothing, or states alone: that is kept. Those that are archived are few, and can be taken off.
Result<int64_t> PostgresStore::count(const TaskFilter& filter) {
  TaskFilter rest = filter;
  rest.states.clear();
  if (rest == TaskFilter{.archived = false}) {
    TaskFilter archived = filter, all = filter;
    archived.archived = true;
    all.archived.reset();
    const Result<int64_t> hidden = count(archived);
    const Result<int64_t> together = hidden ? count(all) : hidden;
    if (!together) return together;
    return std::max<int64_t>(0, *together - *hidden);
  }
  if (rest != TaskFilter{}) return ask([&](Connection& db) { return count_tasks(db, filter); });
  const StateCounts kept = counts();
  int64_t sum = 0;
  for (int i = 0; i < task_state_count; ++i)
    if (filter.states.empty() || std::ranges::find(filter.states, static_cast<TaskState>(i)) != filter.states.end())
      sum += kept.by_state[i];
  return sum;
}

[[noreturn]] void end_process(const std::string& message) {
  log_error("store", fmt::format("{} The server stops, and takes up what is stored at its next start.", message));
  // Not exit(): nothing may run that could still answer somebody.
  std::_Exit(74);
}

Result<Kept> kept_now(Connection& db) {
  static const std::string sql = fmt::format("SELECT {} FROM meta WHERE one = 1", kept_columns);
  const Result<Rows> rows = db.run(sql);
  if (!rows) return std::unexpected(rows.error());
  if (rows->count() != 1)
    return fail(Code::internal, "The table meta of the database is empty: restore the database from a copy.",
                std::string(reason::corrupt));
  return read_kept({*rows, 0});
}

// What the database's owner should know, once.
void warn(Connection& db) {
  const Result<Rows> rows = db.run(
      "SELECT (current_setting('fsync') = 'off')::int::bigint, (current_setting('data_checksums') = "
      "'off')::int::bigint");
  if (!rows) return;
  if (rows->integer(0, 0) != 0)
    log_warning("store", "this PostgreSQL has fsync = off: what is acknowledged can be lost in a power cut");
  if (rows->integer(0, 1) != 0)
    log_warning("store", "this PostgreSQL has no data checksums: a damaged page is not noticed (see pg_checksums)");
}

}  // namespace
}  // namespace postgres

bool is_postgres_url(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

Result<std::string> read_place(const std::string& file) {
  std::string place;
  std::ifstream(file) >> place;
  if (!place.empty()) return place;
  SystemRandom random;
  place = fmt::format("{:016x}{:016x}", random.next(), random.next());
  if (const int error = replace_file(file, place + "\n", 0600, Durability::power); error != 0)
    return fail(Code::unavailable, fmt::format("{} cannot be written ({}).", file, std::strerror(error)),
                "cannot_open");
  return place;
}

Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options, Executor& answers) {
  using namespace postgres;
  PostgresStore::Parts parts;
  std::string place = options.place;
  if (!options.data_dir.empty()) {
    // The lock that SQLite's store has, too: a folder has one server, whichever store that uses.
    Result<FolderLock> lock = FolderLock::take(options.data_dir + "/errand.db.lock");
    if (!lock) return std::unexpected(lock.error());
    parts.folder = std::move(*lock);
    Result<std::string> named = read_place(options.data_dir + "/place");
    if (!named) return std::unexpected(named.error());
    place = std::move(*named);
  }
  ConnectOptions connect{.url = options.url, .schema = options.schema};
  Result<Connection> db = Connection::open(connect);
  if (!db) return std::unexpected(db.error());
  if (const Status migrated = migrate(*db, options.schema); !migrated) return std::unexpected(migrated.error());
  Result<Seat> seat = Seat::take(*db, place);
  if (!seat) return std::unexpected(seat.error());
  const Result<Kept> kept = kept_now(*db);
  if (!kept) return std::unexpected(kept.error());
  warn(*db);

  parts.description = fmt::format("{}, schema {}", db->describe(), migrations().size());
  parts.housekeeper = std::make_unique<Housekeeper>(connect);
  parts.writer =
      std::make_unique<Writer>(std::move(*db), std::move(*seat), *kept,
                               Writer::Parts{.answers = answers,
                                             .condition = *parts.condition,
                                             .connect = connect,
                                             .work_behind = [&keeper = *parts.housekeeper] { keeper.wake(); },
                                             .fatal = options.fatal ? options.fatal : end_process});
  connect.read_only = true;
  parts.readers = std::make_unique<Readers>(connect, options.readers, *parts.condition,
                                            [&writer = *parts.writer] { writer.look(); });
  return std::unique_ptr<Store>(std::make_unique<PostgresStore>(std::move(parts)));
}

}  // namespace errand
