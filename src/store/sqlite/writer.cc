#include "store/sqlite/writer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <sqlite3.h>
#include <unistd.h>
#include <unordered_map>

#include <fmt/format.h>

#include "base/log.h"
#include "store/sqlite/migrate.h"

namespace errand::sqlite {
namespace {

// Past this many commits the next transaction begins: a reply should not wait for a thousand others.
constexpr size_t commits_a_transaction = 1'024;
// Up to this many, a transaction takes in what arrives while it is being written.
constexpr size_t commits_worth_a_sync = 32;
// 8 MiB: a checkpoint holds the writer, and how long goes with the pages. Fewer and larger ones store no more a second
// and make everybody wait for 25 ms.
constexpr int wal_pages_many = 2'048;
constexpr int wal_pages_again = 1'024;  // A reader was in its way: so many pages later it is tried again;
constexpr int wal_pages_max = 14'336;   // at 56 MiB the reader is waited for.
constexpr int wal_pages_worth_it = 512;
constexpr std::chrono::milliseconds idle_before_checkpoint{200};
constexpr int sweep_rows_idle = 2'000;
// Free pages are used again by what is stored next: an eighth of the file is kept for that, and 1 MiB.
constexpr int64_t free_pages_kept = 256, free_share_kept = 8;
// 256 KiB: a few milliseconds, for which a commit that comes just then waits.
constexpr const char* shrink_step = "PRAGMA incremental_vacuum(64)";
constexpr int sweep_rows_busy = 200;
constexpr int64_t ballast_try_every_ms = 200;

int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool frees_space(const Commit& commit) { return commit.remove || commit.remove_session || commit.forget; }

}  // namespace

Result<std::unique_ptr<Writer>> Writer::start(Database db, Ballast ballast, Parts parts) {
  Result<CommitWriter> commits = CommitWriter::open(db);
  if (!commits) return std::unexpected(commits.error());
  return std::make_unique<Writer>(std::move(db), std::move(*commits), std::move(ballast), std::move(parts));
}

Writer::Writer(Database db, CommitWriter commits, Ballast ballast, Parts parts)
    : db_(std::move(db)), commits_(std::move(commits)), ballast_(std::move(ballast)), parts_(std::move(parts)) {
  commits_.use(db_);
  sqlite3_wal_hook(
      db_.handle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Writer*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
      },
      this);
  checkpoint_at_ = wal_pages_many;
  parts_.condition.set_full(!ballast_.taken());
  has_files();
  publish();
  thread_ = std::thread([this] { run(); });
}

void Writer::stop() {
  if (!thread_.joinable()) return;
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Writer::commit(Store::Group group, Store::Answer answer) {
  Group entry;
  entry.results.resize(group->size());
  entry.commits = std::move(group);
  entry.answer = std::move(answer);
  {
    const Lock lock(mutex_);
    waiting_.push_back(std::move(entry));
  }
  wake_.notify_one();
}

StateCounts Writer::counts() {
  const Lock lock(mutex_);
  return counts_;
}

int64_t Writer::last_pos() {
  const Lock lock(mutex_);
  return last_pos_;
}

void Writer::publish() {
  const Lock lock(mutex_);
  counts_ = commits_.kept().counts;
  last_pos_ = commits_.kept().last_pos;
}

void Writer::run() {
  Lock lock(mutex_);
  while (!dead_) {
    if (waiting_.empty()) {
      if (stop_) break;
      lock.unlock();
      const bool busy = housekeep(/*idle=*/false);
      lock.lock();
      if (busy) continue;
      const auto something = [&]() REQUIRES(mutex_) { return stop_ || !waiting_.empty(); };
      if (wal_pages_ < wal_pages_worth_it && !may_shrink_) {
        wake_.wait(lock, something);
      } else if (!wake_.wait_for(lock, idle_before_checkpoint, something)) {
        for (bool more = true; more && !something();) {
          lock.unlock();
          more = housekeep(/*idle=*/true);
          lock.lock();
        }
      }
      continue;
    }
    lock.unlock();
    std::vector<Group> groups;
    store(groups);
    if (!dead_) answer(std::move(groups));
    if (!dead_ && std::exchange(to_rescue_, false)) rescue();
    // Where space is short the WAL begins anew each time: it must not eat what the ballast gave up.
    if (!dead_ && (wal_pages_ > checkpoint_at_ || !ballast_.taken()))
      checkpoint(/*whole=*/wal_pages_ > wal_pages_max || !ballast_.taken());
    lock.lock();
  }
  lock.unlock();
  if (!dead_) checkpoint(/*whole=*/true);
}

std::vector<Writer::Item> Writer::take(std::vector<Group>& groups, size_t most) {
  const size_t before = groups.size();
  {
    const Lock lock(mutex_);
    for (size_t commits = 0; !waiting_.empty() && commits < most;) {
      commits += waiting_.front().commits->size();
      groups.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }
  std::vector<Item> items;
  for (size_t at = before; at < groups.size(); ++at)
    for (size_t i = 0; i < groups[at].commits->size(); ++i)
      items.push_back({&(*groups[at].commits)[i], &groups[at].results[i]});
  refuse_where_lost(items);
  sync_files(items);
  refuse_while_full(items);
  return items;
}

void Writer::store(std::vector<Group>& groups) {
  std::vector<Item> items = take(groups, commits_a_transaction);
  while (!dead_ && !items.empty()) {
    const int code = attempt(groups, items);
    if (code == SQLITE_OK || dead_) break;
    settle_failed(items, code);
  }
  if (dead_) return;
  publish();
  std::vector<RemovedText> removed = commits_.take_removed();
  may_shrink_ = may_shrink_ || !removed.empty();
  parts_.stored(std::move(removed), !ballast_.taken());
}

// What a commit speaks of is on the disk before it.
void Writer::sync_files(std::vector<Item>& items) {
  // Asked once each: after a failed sync a second one may say that all is well, when it is not.
  std::unordered_map<Syncable*, Status> synced;
  for (Item& item : items) {
    for (const auto& file : item.commit->sync_first) {
      const auto [entry, first] = synced.try_emplace(file.get());
      if (first) entry->second = file->sync();
      if (entry->second) continue;
      *item.result = std::unexpected(entry->second.error());
      break;
    }
  }
  std::erase_if(items, [](const Item& item) { return item.result->has_value(); });
}

void Writer::refuse_while_full(std::vector<Item>& items) {
  if (ballast_.taken()) return;
  if (const int64_t now = steady_ms(); now >= next_ballast_try_ms_) {
    next_ballast_try_ms_ = now + ballast_try_every_ms;
    if (ballast_.take()) {
      log_info("store", "there is space again: everything is stored as before");
      parts_.condition.set_full(false);
      return;
    }
  }
  for (Item& item : items)
    if (!frees_space(*item.commit)) *item.result = std::unexpected(db_.error(SQLITE_FULL, "store"));
  std::erase_if(items, [](const Item& item) { return item.result->has_value(); });
}

void Writer::refuse_where_lost(std::vector<Item>& items) {
  const std::optional<Error> refusal = parts_.condition.refusal();
  if (!refusal) return;
  for (Item& item : items) *item.result = std::unexpected(*refusal);
  items.clear();
}

bool Writer::has_files() {
  for (FileIdentity& file : parts_.files) {
    if (file.is_there()) continue;
    const bool is_database = &file == &parts_.files.front();
    to_rescue_ = parts_.condition.lose(
        StoreState::unlinked,
        is_database
            ? fmt::format("The database {0} was deleted, moved or replaced while the server ran. Its content is saved "
                          "as {0}.rescued: stop the server and rename that file to {0}.",
                          file.path())
            : fmt::format("{} was deleted while the server ran. Restart the server; the database has everything that "
                          "was stored.",
                          file.path()));
    return false;
  }
  return true;
}

void Writer::rescue() {
  const std::string& path = db_.path();
  // Where only the WAL lost its name, this is all: the database has everything then.
  checkpoint(/*whole=*/true);
  if (dead_ || parts_.files.front().is_there()) return;
  if (const Status saved = rescue_database(db_, path); !saved) return log_error("store", saved.error().message);
  log_warning("store", fmt::format("saved the database as {}.rescued", path));
}

int Writer::attempt(std::vector<Group>& groups, std::vector<Item>& items) {
  int code = db_.exec_code("BEGIN IMMEDIATE");
  if (code != SQLITE_OK) return code;
  commits_.begin();
  std::vector<Result<Committed>> results;
  results.reserve(items.size());
  while (results.size() < items.size()) {
    const Item item = items[results.size()];
    results.push_back(commits_.apply(*item.commit));
    if (commits_.failure() == 0) {
      // A sync costs as much as ten commits: what came meanwhile shares it.
      if (results.size() == items.size() && items.size() < commits_worth_a_sync)
        std::ranges::copy(take(groups, commits_worth_a_sync - items.size()), std::back_inserter(items));
      continue;
    }
    if ((commits_.failure() & 0xFF) == SQLITE_CONSTRAINT) {
      // Nobody else's fault: it goes alone, and the others are tried again without it.
      log_error("store", fmt::format("a commit broke a rule of the tables: {}", sqlite3_errmsg(db_.handle())));
      *item.result = std::unexpected(db_.error(commits_.failure(), "store"));
    }
    break;
  }
  if (commits_.failure() == 0 && commits_.has_garbage()) commits_.sweep(sweep_rows_busy);
  if (commits_.failure() == 0) commits_.finish();
  code = end_transaction();
  if (code != SQLITE_OK) return code;
  for (size_t i = 0; i < items.size(); ++i) *items[i].result = std::move(results[i]);
  items.clear();
  return SQLITE_OK;
}

int Writer::end_transaction() {
  int code = commits_.failure();
  if (code == 0 && !has_files()) code = SQLITE_READONLY_DBMOVED;
  if (code == 0) code = db_.exec_code("COMMIT");
  if (code == SQLITE_OK) {
    commits_.committed();
    return SQLITE_OK;
  }
  if (db_.in_transaction()) db_.exec_code("ROLLBACK");
  commits_.rolled_back();
  const int kind = code & 0xFF;
  if (kind == SQLITE_IOERR || kind == SQLITE_NOMEM || db_.in_transaction()) die(code, "store a commit");
  return code;
}

// Answers those of `items` that cannot be helped, and leaves those that should be tried again.
void Writer::settle_failed(std::vector<Item>& items, int code) {
  const auto settled = [](const Item& item) { return item.result->has_value(); };
  Error error = db_.error(code, "store a commit");
  parts_.condition.note(error);
  error = parts_.condition.refusal().value_or(std::move(error));
  const bool culprit_found = (code & 0xFF) == SQLITE_CONSTRAINT && std::ranges::any_of(items, settled);
  bool space_was_made = false;
  if ((code & 0xFF) == SQLITE_FULL && ballast_.give_up()) {
    log_warning("store", "the disk is full: only deleting is possible until there is space");
    parts_.condition.set_full(true);
    space_was_made = true;
    checkpoint(/*whole=*/true);
    if (dead_) return;
  }
  for (Item& item : items) {
    const bool again = culprit_found || (space_was_made && frees_space(*item.commit));
    if (!again) *item.result = std::unexpected(error);
  }
  std::erase_if(items, settled);
}

void Writer::answer(std::vector<Group> groups) {
  parts_.answers.post([groups = std::move(groups)]() mutable {
    for (Group& group : groups) {
      std::vector<Result<Committed>> results;
      results.reserve(group.results.size());
      for (auto& result : group.results) results.push_back(std::move(*result));
      group.answer(std::move(results));
    }
  });
}

bool Writer::housekeep(bool idle) {
  if (parts_.condition.refusal()) return false;
  if (commits_.has_garbage()) {
    if (db_.exec_code("BEGIN IMMEDIATE") != SQLITE_OK) return false;
    commits_.begin();
    commits_.sweep(sweep_rows_idle);
    if (commits_.failure() == 0) commits_.finish();
    may_shrink_ = true;
    return end_transaction() == SQLITE_OK;
  }
  if (!idle) return false;
  if (may_shrink_ && shrink()) {
    if (wal_pages_ > checkpoint_at_ || !ballast_.taken()) checkpoint(/*whole=*/!ballast_.taken());
    return !dead_;
  }
  // What was given back goes from the file when the WAL that says so is in it.
  if (wal_pages_ >= wal_pages_worth_it || std::exchange(shrank_, false)) checkpoint(/*whole=*/false);
  return false;
}

bool Writer::shrink() {
  const Result<int64_t> free = db_.number("PRAGMA freelist_count"), pages = db_.number("PRAGMA page_count");
  // On a full disk every page counts.
  const int64_t kept = ballast_.taken() && pages ? std::max(free_pages_kept, *pages / free_share_kept) : 0;
  const bool worth_it = free && pages && *free > kept && has_files();
  const int code = worth_it ? db_.exec_code(shrink_step) : SQLITE_OK;
  if ((code & 0xFF) == SQLITE_IOERR) die(code, "give space back");
  // An older file that could not be copied (make_shrinkable) stays as it is.
  const Result<int64_t> left = worth_it && code == SQLITE_OK ? db_.number("PRAGMA freelist_count") : free;
  may_shrink_ = worth_it && code == SQLITE_OK && left && *left < *free;
  shrank_ = shrank_ || may_shrink_;
  return may_shrink_;
}

void Writer::checkpoint(bool whole) {
  int in_wal = 0, copied = 0;
  // A passive one copies what it can; a whole one waits for readers (they are short), so that the WAL begins anew.
  const int code = sqlite3_wal_checkpoint_v2(
      db_.handle(), nullptr, whole ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, &in_wal, &copied);
  const bool done = code == SQLITE_OK && copied >= in_wal;
  checkpoint_at_ = done ? wal_pages_many : wal_pages_ + wal_pages_again;
  if (done) wal_pages_ = 0;
  const int kind = code & 0xFF;
  if (kind == SQLITE_IOERR) die(code, "checkpoint");
}

void Writer::die(int code, const char* doing) {
  dead_ = true;
  parts_.fatal(db_.error(code, doing).message);
}

}  // namespace errand::sqlite
