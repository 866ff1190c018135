#include "store/sqlite/search_index.h"

#include <chrono>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/log.h"
#include "store/folder_lock.h"
#include "store/search_text.h"
#include "store/sqlite/grams.h"
#include "task/json_in.h"

namespace errand::sqlite {
namespace {

constexpr int index_version = 2;  // Goes up when grams or the file's form change: an older index is made anew.
// A transaction makes a piece of the index, and pieces are merged again and again: few large ones cost half of many.
constexpr int batch_rows = 1'024;
constexpr int merge_pieces = 8;
constexpr int wal_pages_max = 2'048;
// Waiting a moment after the first change makes one transaction of many; a search looks through the rest itself.
constexpr std::chrono::milliseconds gather{50};
// Past this, texts of removed tasks are forgotten: their grams stay, and who searches finds no task behind them.
constexpr size_t removed_bytes_max = 32 << 20;
// Fewer removals are left to the merging that goes on anyway.
constexpr size_t untidy_many = 1'000;
constexpr int merge_pages = 500;
constexpr int64_t free_pages_kept = 256;
constexpr const char* shrink_step = "PRAGMA incremental_vacuum(512)";

void remove_files(const SearchIndex::Files& files) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(files.vfs.empty() ? nullptr : files.vfs.c_str());
  for (const char* suffix : {"", "-wal", "-shm"}) vfs->xDelete(vfs, (files.index + suffix).c_str(), 0);
}

Result<std::string> store_id(Database& source) {
  Use row(source.cached("SELECT store_id FROM meta WHERE one = 1"));
  const int code = row->step();
  if (code != SQLITE_ROW) return std::unexpected(source.error(code, "read it"));
  return std::string(row->text(0));
}

Result<Database> open_index(const SearchIndex::Files& files, Database& source) {
  if (files.vfs.empty()) {
    if (const Status ready = prepare_file(files.index); !ready) return std::unexpected(ready.error());
  }
  Result<Database> index = Database::open(files.index, Database::Mode::create, files.vfs);
  if (!index) return index;
  index->set_derived();
  if (const Status tokenizer = register_grams(*index); !tokenizer) return std::unexpected(tokenizer.error());
  // Not synced while it is made, and not FULL afterwards: what a power cut takes is indexed again.
  const Status ready = index->exec(
      "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; "
      "PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = "
      "OFF; "
      "PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216;"
      "CREATE TABLE IF NOT EXISTS indexed (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER, store_id TEXT, "
      "  task INTEGER, result INTEGER);"
      "CREATE VIRTUAL TABLE IF NOT EXISTS grams USING fts5 (text, content = '', columnsize = 0, detail = none, "
      "  tokenize = 'errand_grams');");
  if (!ready) return std::unexpected(ready.error());

  const Result<std::string> id = store_id(source);
  if (!id) return std::unexpected(id.error());
  Statement& put = index->cached("INSERT OR IGNORE INTO indexed VALUES (1, ?1, ?2, 0, 0)");
  if (const int code = put.bind(1, index_version).bind(2, *id).run(); code != SQLITE_OK)
    return std::unexpected(index->error(code, "begin the index"));
  const bool made = index->changes() > 0;
  const Result<Kept> kept = read_kept(source);
  if (!kept) return std::unexpected(kept.error());
  {
    Use row(index->cached("SELECT version, store_id, task FROM indexed WHERE one = 1"));
    if (row->step() != SQLITE_ROW || row->integer(0) != index_version || row->text(1) != *id ||
        row->integer(2) > kept->last_task)
      return fail(Code::conflict, "The search index belongs to another database.");
  }
  if (made) {
    Statement& merge = index->cached("INSERT INTO grams (grams, rank) VALUES ('automerge', ?1)");
    if (const int code = merge.bind(1, merge_pieces).run(); code != SQLITE_OK)
      return std::unexpected(index->error(code, "begin the index"));
  }
  const Status synced =
      index->exec(made ? "PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(PASSIVE)" : "PRAGMA synchronous = NORMAL");
  if (!synced) return std::unexpected(synced.error());
  return index;
}

}  // namespace

Result<Database> open_for_reading(const std::string& path, const std::string& vfs) {
  Result<Database> db = Database::open(path, Database::Mode::read, vfs);
  if (!db) return db;
  sqlite3_db_config(db->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  const Status ready = db->exec(
      "PRAGMA busy_timeout = 5000; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -4096; "
      "PRAGMA temp_store = MEMORY; PRAGMA query_only = ON;");
  if (!ready) return std::unexpected(ready.error());
  return db;
}

Result<Indexed> read_indexed(Database& index) {
  Use row(index.cached("SELECT task, result FROM indexed WHERE one = 1"));
  const int code = row->step();
  if (code != SQLITE_ROW) return std::unexpected(index.error(code, "read the search index"));
  return Indexed{row->integer(0), row->integer(1)};
}

Result<std::unique_ptr<SearchIndex>> SearchIndex::start(Files files) {
  Result<Database> source = open_for_reading(files.database, files.vfs);
  if (!source) return std::unexpected(source.error());
  Result<Database> index = open_index(files, *source);
  if (!index) {
    log_warning("store", fmt::format("rebuilding the search index: {}", index.error().message));
    remove_files(files);
    index = open_index(files, *source);
  }
  if (!index) return std::unexpected(index.error());
  return std::unique_ptr<SearchIndex>(new SearchIndex(std::move(files), std::move(*index), std::move(*source)));
}

SearchIndex::SearchIndex(Files files, Database index, Database source)
    : files_(std::move(files)), index_(std::move(index)), source_(std::move(source)) {
  sqlite3_wal_hook(
      index_.handle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<SearchIndex*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
      },
      this);
  thread_ = std::thread([this] { run(); });
}

SearchIndex::~SearchIndex() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SearchIndex::stored(std::vector<RemovedText> removed, bool space_is_short) {
  {
    const Lock lock(mutex_);
    waits_for_space_ = space_is_short;
    for (RemovedText& text : removed) {
      const size_t bytes = text.title.size() + text.launch.size() + text.result.size();
      if (removed_bytes_ + bytes > removed_bytes_max) break;
      removed_bytes_ += bytes;
      removed_.push_back(std::move(text));
    }
    dirty_ = true;
  }
  wake_.notify_one();
}

Result<Database> SearchIndex::open_reader() const {
  Result<Database> db = open_for_reading(files_.index, files_.vfs);
  if (!db) return db;
  db->set_derived();
  if (const Status tokenizer = register_grams(*db); !tokenizer) return std::unexpected(tokenizer.error());
  return db;
}

void SearchIndex::run() {
  // Answers come first: where there is too little CPU, the index waits.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  Lock lock(mutex_);
  while (!stop_) {
    wake_.wait(lock, [&]() REQUIRES(mutex_) { return stop_ || (dirty_ && !waits_for_space_); });
    if (!stop_) wake_.wait_for(lock, gather, [&]() REQUIRES(mutex_) { return stop_; });
    if (stop_) break;
    dirty_ = false;
    const std::vector<RemovedText> removed = std::move(removed_);
    removed_.clear();
    removed_bytes_ = 0;
    lock.unlock();

    Status done = remove(removed);
    while (done) {
      const Result<bool> more = catch_up();
      if (!more) done = std::unexpected(more.error());
      if (wal_pages_ > wal_pages_max) checkpoint();
      lock.lock();
      const bool enough = !more || !*more || stop_ || waits_for_space_;
      lock.unlock();
      if (enough) break;
    }
    while (done && untidy_ >= untidy_many) {
      const Result<bool> more = tidy();
      if (!more) done = std::unexpected(more.error());
      if (wal_pages_ > wal_pages_max || (more && !*more)) checkpoint();
      if (!more || !*more) untidy_ = 0;
      lock.lock();
      const bool interrupted = stop_ || dirty_ || waits_for_space_;
      lock.unlock();
      if (interrupted) break;
    }
    if (!done) fell_behind(done.error());
    lock.lock();
    // A full disk, most likely: try again in a while.
    if (!done) wake_.wait_for(lock, std::chrono::seconds(1), [&]() REQUIRES(mutex_) { return stop_; });
  }
}

Result<bool> SearchIndex::catch_up() {
  const Result<Indexed> before = read_indexed(index_);
  if (!before) return std::unexpected(before.error());
  Indexed after = *before;
  std::vector<std::pair<int64_t, std::string>> texts;
  int rows = 0;
  {
    const Snapshot snapshot(source_);
    Use tasks(source_.cached("SELECT n, title, launch FROM launches WHERE n > ?1 ORDER BY n LIMIT ?2"));
    tasks->bind(1, before->task).bind(2, batch_rows);
    int code = SQLITE_ROW;
    while ((code = tasks->step()) == SQLITE_ROW) {
      ++rows;
      after.task = tasks->integer(0);
      const LaunchWork work = decode_launch_work(tasks->text(2));
      texts.emplace_back(after.task, searched_text(tasks->text(1), work.prompt, work.command));
    }
    if (code != SQLITE_DONE) return std::unexpected(source_.error(code, "read tasks"));
    Use results(source_.cached("SELECT r, n, result FROM results WHERE r > ?1 ORDER BY r LIMIT ?2"));
    results->bind(1, before->result).bind(2, batch_rows);
    while ((code = results->step()) == SQLITE_ROW) {
      ++rows;
      after.result = results->integer(0);
      texts.emplace_back(results->integer(1), std::string(searched_text(results->text(2))));
    }
    if (code != SQLITE_DONE) return std::unexpected(source_.error(code, "read results"));
  }
  if (rows == 0) return false;

  if (const Status begun = index_.exec("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
  int code = SQLITE_OK;
  for (const auto& [number, text] : texts) {
    code = index_.cached("INSERT INTO grams (rowid, text) VALUES (?1, ?2)").bind(1, number).bind(2, text).run();
    if (code != SQLITE_OK) break;
  }
  Status done = code == SQLITE_OK ? note(after) : std::unexpected(index_.error(code, "index tasks"));
  if (done) done = index_.exec("COMMIT");
  if (!done) {
    if (index_.in_transaction()) index_.exec_code("ROLLBACK");
    return std::unexpected(done.error());
  }
  return true;
}

Status SearchIndex::note(const Indexed& indexed) {
  Statement& put = index_.cached("UPDATE indexed SET task = ?1, result = ?2 WHERE one = 1");
  const int code = put.bind(1, indexed.task).bind(2, indexed.result).run();
  if (code != SQLITE_OK) return std::unexpected(index_.error(code, "note how far the index is"));
  return {};
}

Status SearchIndex::remove(const std::vector<RemovedText>& removed) {
  if (removed.empty()) return {};
  untidy_ += removed.size();
  merging_ = false;  // A merge that is under way knows nothing of these: it is begun anew, with everything.
  const Result<Indexed> indexed = read_indexed(index_);
  if (!indexed) return std::unexpected(indexed.error());
  if (const Status begun = index_.exec("BEGIN IMMEDIATE"); !begun) return begun;
  int code = SQLITE_OK;
  for (const RemovedText& text : removed) {
    if (text.number > indexed->task) continue;  // It never got there.
    const LaunchWork work = decode_launch_work(text.launch);
    std::string grams = searched_text(text.title, work.prompt, work.command);
    if (text.result_number > 0 && text.result_number <= indexed->result) (grams += '\n') += searched_text(text.result);
    Statement& drop = index_.cached("INSERT INTO grams (grams, rowid, text) VALUES ('delete', ?1, ?2)");
    code = drop.bind(1, text.number).bind(2, grams).run();
    if (code != SQLITE_OK) break;
  }
  Status done =
      code == SQLITE_OK ? index_.exec("COMMIT") : std::unexpected(index_.error(code, "remove from the index"));
  if (!done && index_.in_transaction()) index_.exec_code("ROLLBACK");
  return done;
}

// With a negative number a merge takes in everything, which is what drops the grams of removed tasks for good; then it
// is gone on with until it changes nothing any more.
Result<bool> SearchIndex::tidy() {
  const int64_t before = sqlite3_total_changes64(index_.handle());
  Statement& merge = index_.cached("INSERT INTO grams (grams, rank) VALUES ('merge', ?1)");
  const int code = merge.bind(1, std::exchange(merging_, true) ? merge_pages : -merge_pages).run();
  if (code != SQLITE_OK) return std::unexpected(index_.error(code, "tidy it up"));
  if (sqlite3_total_changes64(index_.handle()) - before >= 2) return true;
  const Result<int64_t> free = index_.number("PRAGMA freelist_count");
  if (!free) return std::unexpected(free.error());
  if (*free > free_pages_kept) {
    if (const Status shrunk = index_.exec(shrink_step); !shrunk) return std::unexpected(shrunk.error());
    return true;
  }
  merging_ = false;
  return false;
}

void SearchIndex::fell_behind(const Error& error) {
  log_warning("store", fmt::format("the search index is behind: {}", error.message));
  if (error.reason != "index_corrupt") return;
  log_warning("store", "the search index is damaged: the next start rebuilds it");
  // Open connections go on with the file that has no name any more.
  remove_files(files_);
}

void SearchIndex::checkpoint() {
  int in_wal = 0, copied = 0;
  sqlite3_wal_checkpoint_v2(index_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_wal, &copied);
  wal_pages_ = 0;
}

}  // namespace errand::sqlite
