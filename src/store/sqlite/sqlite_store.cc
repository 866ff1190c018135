#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iterator>
#include <sqlite3.h>

#include <fmt/format.h>

#include "base/log.h"
#include "store/sqlite/list.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/owner.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/search_index.h"
#include "store/sqlite/writer.h"

namespace errand {
namespace sqlite {
namespace {

constexpr int64_t checked_whole_bytes = 4 << 20;
constexpr size_t queued_alone = 20'000;  // So many in line are read by one reader.

class SqliteStore final : public Store {
 public:
  // In the order in which they are made; they go the other way round.
  struct Parts {
    std::optional<Owner> owner;
    std::unique_ptr<SearchIndex> index;
    std::unique_ptr<Writer> writer;
    std::unique_ptr<Readers> readers;
    std::string description;
  };

  explicit SqliteStore(Parts parts) : parts_(std::move(parts)) {}
  ~SqliteStore() override {
    parts_.readers.reset();
    parts_.writer->stop();  // Tells the index of its last commits.
    parts_.index.reset();
    // The writer's connection closes last: it is the one that may checkpoint.
    parts_.writer.reset();
  }

  void commit(Group group, Answer answer) override { parts_.writer->commit(std::move(group), std::move(answer)); }

  Result<Task> get(const TaskId& id) override { return get_task(borrow()->db, id); }
  Result<TaskPage> list(const TaskFilter& filter, const Page& page) override {
    return list_tasks(*borrow(), filter, page);
  }
  Result<int64_t> count(const TaskFilter& filter) override {
    TaskFilter rest = filter;
    rest.states.clear();
    // Nothing, or states alone: that is kept.
    if (rest != TaskFilter{}) return count_tasks(*borrow(), filter);
    const StateCounts kept = counts();
    int64_t sum = 0;
    for (int i = 0; i < task_state_count; ++i)
      if (filter.states.empty() || std::ranges::find(filter.states, static_cast<TaskState>(i)) != filter.states.end())
        sum += kept.by_state[i];
    return sum;
  }
  StateCounts counts() override { return parts_.writer->counts(); }
  Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) override {
    return sqlite::find_prefix(borrow()->db, prefix, limit);
  }
  Result<std::vector<Task>> working() override { return sqlite::working(borrow()->db); }
  Result<std::vector<QueuedTask>> queued() override;
  Result<std::vector<TaskId>> expired(Time now, int limit) override {
    return sqlite::expired(borrow()->db, now, limit);
  }
  Result<Time> next_expiry() override { return sqlite::next_expiry(borrow()->db); }
  Result<BatchCounts> batch_counts(const BatchId& id) override { return sqlite::batch_counts(borrow()->db, id); }
  Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) override {
    return sqlite::tasks_of_parent(borrow()->db, parent);
  }
  Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) override {
    return sqlite::events_after(borrow()->db, id, seq, limit);
  }
  Result<std::vector<Change>> changes_after(int64_t pos, int limit) override {
    return sqlite::changes_after(borrow()->db, pos, limit);
  }
  int64_t last_pos() override { return parts_.writer->last_pos(); }
  Result<Session> session(const SessionId& id) override { return get_session(borrow()->db, id); }
  Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) override {
    return sqlite::messages(borrow()->db, id, after, before, limit);
  }
  Result<Message> message(const MessageId& id) override { return get_message(borrow()->db, id); }
  Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) override {
    return sqlite::notices(borrow()->db, id, after, limit);
  }
  Result<Notice> notice(const NoticeId& id) override { return get_notice(borrow()->db, id); }
  Result<std::vector<Notice>> notices_of_task(const TaskId& id) override {
    return sqlite::notices_of_task(borrow()->db, id);
  }
  Result<std::optional<Commit::Key>> find_key(const std::string& key) override {
    return sqlite::find_key(borrow()->db, key);
  }
  Result<std::vector<Commit::Setting>> settings(const std::string& prefix) override {
    return sqlite::settings(borrow()->db, prefix);
  }
  std::string describe() override { return parts_.description; }

 private:
  Readers::Lease borrow() { return parts_.readers->borrow(); }

  Parts parts_;
};

// A long line is read by two: decoding rows is what takes the time. Each task is in one of the two halves, so what is
// written meanwhile is seen by one of them or by none, as it is by a single reader.
Result<std::vector<QueuedTask>> SqliteStore::queued() {
  const Result<std::pair<int64_t, int64_t>> range = queued_range(borrow()->db);
  if (!range) return std::unexpected(range.error());
  const auto [from, to] = *range;
  const auto most =
      static_cast<size_t>(std::min(counts().by_state[static_cast<int>(TaskState::pending)] + 1'000, to - from + 1));
  if (most < queued_alone) return sqlite::queued(borrow()->db, from, to, most);
  const int64_t middle = from + (to - from) / 2;
  // Without a thread it is read behind the first half.
  std::future<Result<std::vector<QueuedTask>>> second = std::async(std::launch::async | std::launch::deferred, [&] {
    return sqlite::queued(borrow()->db, middle + 1, to, most / 2);
  });
  Result<std::vector<QueuedTask>> first = sqlite::queued(borrow()->db, from, middle, most);
  Result<std::vector<QueuedTask>> rest = second.get();
  if (!first) return first;
  if (!rest) return rest;
  first->insert(first->end(), std::move_iterator(rest->begin()), std::move_iterator(rest->end()));
  return first;
}

[[noreturn]] void end_process(const std::string& message) {
  log_error(
      "store",
      fmt::format("{} What is stored is not known: the server ends, and recovers when it is started again.", message));
  // Not exit(): nothing may run that could still answer somebody.
  std::_Exit(74);
}

// Every page and index of a small file. A large one would take longer than a start may.
Status check_pages(Database& db) {
  const Result<int64_t> bytes = db.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  if (!bytes) return std::unexpected(bytes.error());
  if (*bytes > checked_whole_bytes) return {};
  Use row(db.cached("PRAGMA integrity_check(1)"));
  const int code = row->step();
  if (code != SQLITE_ROW) return std::unexpected(db.error(code, "check it"));
  if (row->text(0) == "ok") return {};
  return fail(Code::internal,
              fmt::format("The database {} is damaged ({}): restore it from a copy.", db.path(), row->text(0)),
              "corrupt");
}

Result<Database> open_for_writing(const SqliteOptions& options) {
  std::error_code unreadable;
  if (options.vfs.empty() && std::filesystem::file_size(options.path, unreadable) == 0) {
    // Never an empty start where there was something: the index is only ever made behind a database.
    if (std::filesystem::exists(options.path + ".search", unreadable))
      return fail(
          Code::internal,
          fmt::format("The database {0} is empty, and it was not: restore it from a copy, or delete {0}.search to "
                      "begin anew.",
                      options.path),
          "corrupt");
    if (const Status made = make_database(options.path, migrations()); !made) return std::unexpected(made.error());
  }
  Result<Database> db = Database::open(options.path, Database::Mode::create, options.vfs);
  if (!db) return db;
  sqlite3_busy_timeout(db->handle(), options.busy_ms);
  const Status ready = db->exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = "
      "0; "
      "PRAGMA secure_delete = OFF; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; "
      "PRAGMA journal_size_limit = 33554432;");
  if (!ready) return std::unexpected(ready.error());
  if (const Status migrated = migrate(*db, migrations(), options.vfs); !migrated)
    return std::unexpected(migrated.error());
  if (const Status checked = check_pages(*db); !checked) return std::unexpected(checked.error());
  return db;
}

Result<std::unique_ptr<Store>> open(const SqliteOptions& options, Executor& answers) {
  SqliteStore::Parts parts;
  if (options.vfs.empty()) {
    if (const Status file = prepare_file(options.path); !file) return std::unexpected(file.error());
    Result<Owner> owner = Owner::take(options.path + ".lock");
    if (!owner) return std::unexpected(owner.error());
    parts.owner = std::move(*owner);
  }
  Result<Database> db = open_for_writing(options);
  if (!db) return std::unexpected(db.error());

  Result<std::unique_ptr<SearchIndex>> index =
      SearchIndex::start({options.path, options.path + ".search", options.vfs});
  if (!index) return std::unexpected(index.error());
  parts.index = std::move(*index);

  std::vector<Reader> readers;
  for (int i = 0; i < std::max(options.readers, 1); ++i) {
    Result<Database> reader = open_for_reading(options.path, options.vfs);
    if (!reader) return std::unexpected(reader.error());
    Result<Database> search = parts.index->open_reader();
    if (!search) return std::unexpected(search.error());
    readers.push_back({std::move(*reader), std::move(*search)});
  }
  parts.readers = std::make_unique<Readers>(std::move(readers));

  Ballast ballast(options.ballast ? options.ballast : Ballast::file(options.path + ".ballast", options.ballast_bytes));
  if (!ballast.take())
    log_warning("store", "there is no space for the ballast: only deleting is possible until there is");
  Writer::Parts writing{answers,
                        [index = parts.index.get()](std::vector<RemovedText> removed, bool space_is_short) {
                          index->stored(std::move(removed), space_is_short);
                        },
                        options.fatal ? options.fatal : end_process};
  Result<std::unique_ptr<Writer>> writer = Writer::start(std::move(*db), std::move(ballast), std::move(writing));
  if (!writer) return std::unexpected(writer.error());
  parts.writer = std::move(*writer);
  parts.description =
      fmt::format("sqlite {}, {}, schema {}", sqlite3_libversion(), options.path, migrations().back().version);
  return std::make_unique<SqliteStore>(std::move(parts));
}

}  // namespace
}  // namespace sqlite

Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteOptions& options, Executor& answers) {
  return sqlite::open(options, answers);
}

}  // namespace errand
