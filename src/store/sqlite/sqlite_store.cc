#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iterator>
#include <sqlite3.h>

#include <fmt/format.h>

#include "base/log.h"
#include "store/folder_lock.h"
#include "store/sqlite/condition.h"
#include "store/sqlite/list.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/readers.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/row_check.h"
#include "store/sqlite/search_index.h"
#include "store/sqlite/writer.h"

namespace errand {
namespace sqlite {
namespace {

constexpr int64_t checked_whole_bytes = 4 << 20;
// What a start needs of the disk: the shared memory of two databases, the beginnings of two WALs, a few small files.
constexpr int64_t start_bytes = 2 << 20;
constexpr int64_t copy_spare_bytes = 64 << 20;
constexpr size_t queued_alone = 20'000;  // So many in line are read by one reader.

class SqliteStore final : public Store {
 public:
  // In the order in which they are made; they go the other way round.
  struct Parts {
    std::optional<FolderLock> owner;
    std::unique_ptr<Condition> condition = std::make_unique<Condition>();
    std::unique_ptr<SearchIndex> index;
    std::unique_ptr<Writer> writer;
    std::unique_ptr<Readers> readers;
    std::unique_ptr<Inspection> inspection;  // Of a database that was not looked through when it was opened.
    std::string description;
  };

  explicit SqliteStore(Parts parts) : parts_(std::move(parts)) {}
  ~SqliteStore() override {
    parts_.inspection.reset();
    parts_.readers.reset();
    parts_.writer->stop();  // Tells the index of its last commits.
    parts_.index.reset();
    // The writer's connection closes last: it is the one that may checkpoint.
    parts_.writer.reset();
  }

  void commit(Group group, Answer answer) override { parts_.writer->commit(std::move(group), std::move(answer)); }

  Result<Task> get(const TaskId& id) override { return noted(get_task(borrow()->db, id)); }
  Result<TaskPage> list(const TaskFilter& filter, const Page& page) override {
    return noted(list_tasks(*borrow(), filter, page));
  }
  Result<int64_t> count(const TaskFilter& filter) override {
    // Nothing, or states alone: that is kept. Those that are archived are few, and can be taken off.
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
    if (rest != TaskFilter{}) return noted(count_tasks(*borrow(), filter));
    const StateCounts kept = counts();
    int64_t sum = 0;
    for (int i = 0; i < task_state_count; ++i)
      if (filter.states.empty() || std::ranges::find(filter.states, static_cast<TaskState>(i)) != filter.states.end())
        sum += kept.by_state[i];
    return sum;
  }
  StateCounts counts() override { return parts_.writer->counts(); }
  Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) override {
    return noted(sqlite::find_prefix(borrow()->db, prefix, limit));
  }
  Result<std::vector<Task>> working() override { return noted(sqlite::working(borrow()->db)); }
  Result<std::vector<QueuedTask>> queued() override;
  Result<std::vector<TaskId>> expired(Time now, int limit) override {
    return noted(sqlite::expired(borrow()->db, now, limit));
  }
  Result<Time> next_expiry() override { return noted(sqlite::next_expiry(borrow()->db)); }
  Result<BatchCounts> batch_counts(const BatchId& id) override { return noted(sqlite::batch_counts(borrow()->db, id)); }
  Result<BatchPage> batches(const std::string& cursor, int limit) override {
    return noted(sqlite::batches(borrow()->db, cursor, limit));
  }
  Result<UsageReport> usage(const UsageQuery& query) override { return noted(sqlite::usage(borrow()->db, query)); }
  Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) override {
    return noted(sqlite::tasks_of_parent(borrow()->db, parent));
  }
  Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) override {
    return noted(sqlite::events_after(borrow()->db, id, seq, limit));
  }
  Result<std::vector<Change>> changes_after(int64_t pos, int limit) override {
    return noted(sqlite::changes_after(borrow()->db, pos, limit));
  }
  int64_t last_pos() override { return parts_.writer->last_pos(); }
  Result<Session> session(const SessionId& id) override { return noted(get_session(borrow()->db, id)); }
  Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) override {
    return noted(sqlite::messages(borrow()->db, id, after, before, limit));
  }
  Result<Message> message(const MessageId& id) override { return noted(get_message(borrow()->db, id)); }
  Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) override {
    return noted(sqlite::notices(borrow()->db, id, after, limit));
  }
  Result<Notice> notice(const NoticeId& id) override { return noted(get_notice(borrow()->db, id)); }
  Result<std::vector<Notice>> notices_of_task(const TaskId& id) override {
    return noted(sqlite::notices_of_task(borrow()->db, id));
  }
  Result<std::optional<Commit::Key>> find_key(const std::string& key) override {
    return noted(sqlite::find_key(borrow()->db, key));
  }
  Result<std::vector<Commit::Setting>> settings(const std::string& prefix) override {
    return noted(sqlite::settings(borrow()->db, prefix));
  }
  StoreHealth health() override { return parts_.condition->health(); }
  std::string describe() override { return parts_.description; }

 private:
  Readers::Lease borrow() { return parts_.readers->borrow(); }
  // Damage that a reader meets is the writer's to know: nothing is stored behind it.
  template <class T>
  Result<T> noted(Result<T> result) {
    if (!result) parts_.condition->note(result.error());
    return result;
  }

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
      fmt::format("{} It is not known what was stored, so the server stops. It recovers at its next start.", message));
  // Not exit(): nothing may run that could still answer somebody.
  std::_Exit(74);
}

bool small_file(Database& db) {
  const Result<int64_t> bytes = db.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  return bytes && *bytes <= checked_whole_bytes;
}

// Every row that is sealed.
Status check_rows(Database& db) {
  RowCheck check;
  for (;;) {
    const Result<bool> more = check.step(db, 1'000);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
}

// A file that cannot be opened for want of space says so.
Error why_not_open(const Error& error, const SqliteOptions& options, bool is_full) {
  if (!is_full || error.reason != "io") return error;
  return {Code::storage_full,
          fmt::format("The disk is full, and {} cannot be opened without some space: free {} MiB and start the server "
                      "again ({})",
                      options.path, start_bytes >> 20, error.message),
          {}};
}

// Every page and index of a small file. A large one would take longer than a start may.
Status check_pages(Database& db) {
  if (!small_file(db)) return {};
  Use row(db.cached("PRAGMA integrity_check(1)"));
  const int code = row->step();
  if (code != SQLITE_ROW) return std::unexpected(db.error(code, "check it"));
  if (row->text(0) == "ok") return {};
  return fail(Code::internal,
              fmt::format("The database {} is damaged ({}): restore it from a copy.", db.path(), row->text(0)),
              "corrupt");
}

// A file that an older errand made never gives a page back. Once, it is copied into one that can: all of it or nothing.
// True: the name stands for the copy now.
Result<bool> make_shrinkable(Database& db) {
  const Result<int64_t> mode = db.number("PRAGMA auto_vacuum");
  if (!mode) return std::unexpected(mode.error());
  if (*mode != 0) return false;
  const Result<int64_t> bytes = db.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  if (!bytes) return std::unexpected(bytes.error());
  if (free_bytes(db.path()) < *bytes + copy_spare_bytes) {
    log_warning("store", fmt::format("{} cannot shrink: it must be copied once, and the disk has no room for the copy",
                                     db.path()));
    return false;
  }
  log_info("store", fmt::format("copying {} ({} MiB), so that it can shrink", db.path(), *bytes >> 20));
  // Nothing of it may be left in a WAL: that would be played into the copy.
  const Result<int64_t> busy = db.number("PRAGMA wal_checkpoint(TRUNCATE)");
  if (!busy) return std::unexpected(busy.error());
  if (*busy != 0) return false;
  if (const Status copied = copy_database(db, db.path()); !copied) {
    log_warning("store", copied.error().message);
    return false;
  }
  return true;
}

Result<Database> open_for_writing(const SqliteOptions& options, bool may_shrink = false) {
  if (const Status finished = finish_rescue(options.path); !finished) return std::unexpected(finished.error());
  std::error_code unreadable;
  if (options.vfs.empty() && std::filesystem::file_size(options.path, unreadable) == 0) {
    // Never an empty start where there was something: the index is only ever made behind a database, and a WAL that
    // another database left must not be played into a new one.
    if (std::filesystem::exists(options.path + ".rescued", unreadable))
      return fail(Code::internal,
                  fmt::format("The database {0} was deleted while a server ran, and that server saved its content: "
                              "rename {0}.rescued to {0}, or delete it to begin anew.",
                              options.path),
                  "corrupt");
    for (const char* trace : {".search", "-wal"})
      if (std::filesystem::exists(options.path + trace, unreadable))
        return fail(
            Code::internal,
            fmt::format("The database {0} has lost its content: restore it from a copy, or delete {0}{1} to begin "
                        "anew.",
                        options.path, trace),
            "corrupt");
    if (const Status made = make_database(options.path, migrations()); !made) return std::unexpected(made.error());
  }
  Result<Database> db = Database::open(options.path, Database::Mode::create, options.vfs);
  if (!db) return db;
  sqlite3_busy_timeout(db->handle(), options.busy_ms);
  // Of a file that has tables already it says what a copy of it is to be. Only where it is not so yet: said again it
  // would be written into the file, also into one that is refused below.
  const Result<int64_t> vacuum = db->number("PRAGMA auto_vacuum");
  if (!vacuum) return std::unexpected(vacuum.error());
  constexpr int64_t incremental = 2;
  if (*vacuum != incremental)
    if (const Status set = db->exec("PRAGMA auto_vacuum = INCREMENTAL"); !set) return std::unexpected(set.error());
  const Status ready = db->exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; "
      "PRAGMA secure_delete = OFF; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; "
      "PRAGMA journal_size_limit = 33554432;");
  if (!ready) return std::unexpected(ready.error());
  if (const Status migrated = migrate(*db, migrations(), options.vfs); !migrated)
    return std::unexpected(migrated.error());
  if (const Status checked = check_pages(*db); !checked) return std::unexpected(checked.error());
  if (!options.vfs.empty() || may_shrink) return db;
  const Result<bool> copied = make_shrinkable(*db);
  if (!copied) return std::unexpected(copied.error());
  if (!*copied) return db;
  *db = Database();
  return open_for_writing(options, /*may_shrink=*/true);
}

Result<std::unique_ptr<Store>> open(const SqliteOptions& options, Executor& answers) {
  SqliteStore::Parts parts;
  if (options.vfs.empty()) {
    if (const Status file = prepare_file(options.path); !file) return std::unexpected(file.error());
    Result<FolderLock> owner = FolderLock::take(options.path + ".lock");
    if (!owner) return std::unexpected(owner.error());
    parts.owner = std::move(*owner);
  }
  Ballast ballast(options.ballast ? options.ballast : Ballast::file(options.path + ".ballast", options.ballast_bytes));
  // A full disk: a start needs a little, and so does deleting.
  const bool is_full = options.vfs.empty() && free_bytes(options.path) < start_bytes;
  if (is_full) ballast.give_up_old();
  Result<Database> db = open_for_writing(options);
  if (!db) return std::unexpected(why_not_open(db.error(), options, is_full));
  const bool is_small = small_file(*db);
  if (is_small) {
    if (const Status whole = check_rows(*db); !whole) parts.condition->note(whole.error());
  }

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

  if (is_full || !ballast.take())
    log_warning("store", "the disk is full: only deleting is possible until there is space");
  Writer::Parts writing{answers,
                        [index = parts.index.get()](std::vector<RemovedText> removed, bool space_is_short) {
                          index->stored(std::move(removed), space_is_short);
                        },
                        options.fatal ? options.fatal : end_process,
                        *parts.condition,
                        {}};
  if (options.vfs.empty()) writing.files = {FileIdentity(options.path), FileIdentity(options.path + "-wal")};
  Result<std::unique_ptr<Writer>> writer = Writer::start(std::move(*db), std::move(ballast), std::move(writing));
  if (!writer) return std::unexpected(writer.error());
  parts.writer = std::move(*writer);
  if (!is_small) {
    Result<Database> reader = open_for_reading(options.path, options.vfs);
    if (!reader) return std::unexpected(reader.error());
    parts.inspection = std::make_unique<Inspection>(std::move(*reader), *parts.condition);
  }
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
