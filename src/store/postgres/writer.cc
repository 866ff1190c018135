#include "store/postgres/writer.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace errand::postgres {
namespace {

constexpr size_t commits_a_transaction = 1'000;
constexpr std::chrono::milliseconds retry_every{500};  // While PostgreSQL is away.
constexpr int again_max = 5;

// A commit behind one that forgets is looked up anew: the keys that it depends on may be gone.
size_t segment_end(const std::vector<const Commit*>& commits, size_t from) {
  while (from < commits.size())
    if (commits[from++]->forget) break;
  return from;
}

Error away_error(const Error& why) {
  return {Code::unavailable, fmt::format("{} Nothing was stored.", why.message), std::string(reason::away)};
}

}  // namespace

Writer::Writer(Connection db, Seat seat, const Kept& kept, Parts parts)
    : db_(std::move(db)), seat_(std::move(seat)), parts_(std::move(parts)), kept_(kept) {
  thread_ = std::thread([this] { run(); });
}

void Writer::commit(Store::Group group, Store::Answer answer) {
  // Who is told at once can try elsewhere, or later; and nothing grows while PostgreSQL is away.
  if (parts_.condition.is_away()) {
    const StoreHealth health = parts_.condition.health();
    std::vector<Result<Committed>> refused(group->size(),
                                           std::unexpected(away_error({Code::unavailable, health.text, {}})));
    return parts_.answers.post(
        [answer = std::move(answer), refused = std::move(refused)]() mutable { answer(std::move(refused)); });
  }
  {
    const Lock lock(mutex_);
    Group waiting{.commits = std::move(group), .answer = std::move(answer), .results = {}};
    waiting.results.resize(waiting.commits->size());
    waiting_.push_back(std::move(waiting));
  }
  wake_.notify_one();
}

void Writer::look() {
  {
    const Lock lock(mutex_);
    look_ = true;
  }
  wake_.notify_one();
}

void Writer::stop() {
  {
    const Lock lock(mutex_);
    if (std::exchange(stop_, true)) return;
  }
  wake_.notify_one();
  thread_.join();
}

StateCounts Writer::counts() {
  const Lock lock(mutex_);
  return kept_.counts;
}

int64_t Writer::last_pos() {
  const Lock lock(mutex_);
  return kept_.last_pos;
}

// --- the thread

void Writer::run() {
  auto next_beat = std::chrono::steady_clock::now() + std::chrono::milliseconds(beat_ms);
  for (;;) {
    bool ends = false;
    {
      Lock lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      const auto idle = db_.is_up() ? std::max(next_beat - now, std::chrono::steady_clock::duration(1))
                                    : std::chrono::steady_clock::duration(retry_every);
      wake_.wait_for(lock, idle, [&]() REQUIRES(mutex_) { return stop_ || look_ || !waiting_.empty(); });
      ends = stop_ && waiting_.empty();
      look_ = false;
    }
    if (ends) break;
    if (std::vector<Group> groups = take(); !groups.empty()) {
      store(groups);
      answer(std::move(groups));
    }
    if (const auto now = std::chrono::steady_clock::now(); now >= next_beat || !db_.is_up()) {
      beat();
      next_beat = now + std::chrono::milliseconds(beat_ms);
    }
  }
  if (parts_.condition.refusal() || seat_.leave(db_) || (connect() && seat_.leave(db_))) return;
  log_warning("store", "PostgreSQL could not be told that this server stops: a server elsewhere can begin in 30 s");
}

std::vector<Writer::Group> Writer::take() {
  std::vector<Group> groups;
  const Lock lock(mutex_);
  for (size_t commits = 0; !waiting_.empty() && commits < commits_a_transaction;) {
    commits += waiting_.front().commits->size();
    groups.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return groups;
}

std::vector<Writer::Item> Writer::items_of(std::vector<Group>& groups) {
  std::vector<Item> items;
  for (Group& group : groups)
    for (size_t i = 0; i < group.commits->size(); ++i) items.push_back({&(*group.commits)[i], &group.results[i]});
  return items;
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

void Writer::answer_all(std::vector<Item>& items, const Error& error) {
  for (Item& item : items) *item.result = std::unexpected(error);
  items.clear();
}

void Writer::store(std::vector<Group>& groups) {
  std::vector<Item> items = items_of(groups);
  sync_files(items);
  bool again_connected = false;
  again_ = 0;
  while (!items.empty()) {
    if (const std::optional<Error> refusal = parts_.condition.refusal()) return answer_all(items, *refusal);
    if (!db_.is_up()) {
      // Once: a server that was restarted is there again, and one that is not is away.
      if (std::exchange(again_connected, true) || !connect()) {
        if (const std::optional<Error> refusal = parts_.condition.refusal()) return answer_all(items, *refusal);
        return answer_all(items, away_error(failure_));
      }
    }
    switch (attempt(items)) {
      case Outcome::stored:
        return;
      case Outcome::not_stored:
        settle(items);
        break;
      case Outcome::unknown: {
        const std::optional<bool> stored = find_out(seat_.commits() + 1, items);
        if (stored.value_or(false)) {
          log_info("store", "the answer to a commit was lost; it is stored");
          seat_.stored();
          return;
        }
        for (Item& item : items) item.result->reset();
        if (!stored) return;  // The server stops, or has lost the database: nobody can say.
        again_connected = false;
        break;
      }
    }
  }
}

Writer::Outcome Writer::attempt(std::vector<Item>& items) {
  std::vector<const Commit*> commits;
  commits.reserve(items.size());
  for (const Item& item : items) commits.push_back(item.commit);
  culprit_ = items.size();
  static const std::string lock_meta = fmt::format("SELECT {} FROM meta WHERE one = 1 FOR UPDATE", kept_columns);

  CommitWriter tables(db_);
  // In this order, as whoever takes over locks them: nobody waits in a circle.
  db_.send("BEGIN");
  const size_t kept = db_.send(lock_meta);
  const size_t fence = seat_.fence(db_);
  size_t to = segment_end(commits, 0);
  tables.look_up(std::span(commits).first(to));
  Result<std::vector<Rows>> answers = db_.flush();
  if (!answers) {
    failure_ = answers.error();
    return Outcome::not_stored;
  }
  if (!Seat::holds((*answers)[fence])) {
    gone_for_good();
    return Outcome::not_stored;
  }
  if ((*answers)[kept].count() != 1) {
    failure_ = {Code::internal, "The table meta of the database is empty: restore the database from a copy.",
                std::string(reason::corrupt)};
    return Outcome::not_stored;
  }
  tables.begin(read_kept({(*answers)[kept], 0}));
  tables.take_answers(*answers, fence + 1);

  // Which commit a statement of the flight belongs to.
  std::vector<size_t> owners;
  const auto own = [&](size_t item) { owners.resize(db_.queued(), item); };
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == to) {
      own(items.size());
      const size_t first = db_.queued();
      to = segment_end(commits, i);
      tables.look_up(std::span(commits).subspan(i, to - i));
      answers = db_.flush();
      if (!answers) break;
      tables.written(*answers);
      tables.take_answers(*answers, first);
      owners.clear();
    }
    own(items.size());
    Committed& out = *items[i].result->emplace(Committed());
    if (const Status applied = tables.apply(*items[i].commit, out); !applied)
      *items[i].result = std::unexpected(applied.error());
    own(i);
  }
  bool sent_commit = false;
  if (answers) {
    tables.finish();
    db_.send("COMMIT");
    sent_commit = true;
    answers = db_.flush();
  }
  if (answers) {
    tables.written(*answers);
    seat_.stored();
    {
      const Lock lock(mutex_);
      kept_ = tables.kept();
    }
    if (tables.has_work_behind()) parts_.work_behind();
    if (parts_.condition.health().state == StoreState::full) parts_.condition.set(StoreState::well, "");
    return Outcome::stored;
  }
  failure_ = answers.error();
  if (sent_commit && !db_.is_up()) return Outcome::unknown;
  if (failure_.reason == reason::rule && db_.failed_at() < owners.size()) culprit_ = owners[db_.failed_at()];
  for (Item& item : items) item.result->reset();
  return Outcome::not_stored;
}

void Writer::settle(std::vector<Item>& items) {
  for (Item& item : items) item.result->reset();
  if (db_.is_up() && !db_.run("ROLLBACK")) db_.close();
  if (!db_.is_up() || parts_.condition.refusal()) return;  // Tried again on another connection, or refused.
  if (failure_.reason == reason::again && ++again_ < again_max) return;
  if (failure_.reason == reason::rule && culprit_ < items.size()) {
    // Nobody else's fault: it goes alone, and the others are tried again without it.
    log_error("store", fmt::format("a commit broke a rule of the tables: {}", failure_.message));
    *items[culprit_].result = std::unexpected(failure_);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(culprit_));
    return;
  }
  parts_.condition.note(failure_);
  if (failure_.code == Code::storage_full) parts_.condition.set(StoreState::full, failure_.message);
  answer_all(items, parts_.condition.refusal().value_or(failure_));
}

bool Writer::connect() {
  Result<Connection> made = Connection::open(parts_.connect);
  if (made) {
    const Result<std::optional<int64_t>> stored = seat_.count(*made);
    if (stored && !*stored) {
      gone_for_good();
      return false;
    }
    // Behind what was acknowledged; or it says more than was ever sent.
    if (stored && (**stored < seat_.commits() || **stored > seat_.commits() + (unsettled_ ? 1 : 0))) {
      parts_.fatal(fmt::format(
          "PostgreSQL has {} of the {} transactions that this server stored: it was restored, or failed over to a copy "
          "that was behind.",
          **stored, seat_.commits()));
      return false;
    }
    if (stored) {
      db_ = std::move(*made);
      parts_.condition.set(StoreState::well, "");
      return true;
    }
    failure_ = stored.error();
  } else {
    failure_ = made.error();
  }
  parts_.condition.set(StoreState::away, failure_.message);
  return false;
}

std::optional<bool> Writer::find_out(int64_t number, std::vector<Item>& items) {
  unsettled_ = true;
  for (;;) {
    if (connect()) {
      const Result<std::optional<int64_t>> stored = seat_.count(db_);
      const bool is_known = stored && *stored && (**stored != number || read_what_it_left(items));
      if (is_known) {
        unsettled_ = false;
        return **stored == number;
      }
    }
    if (parts_.condition.refusal()) return std::nullopt;
    refuse_waiting();
    Lock lock(mutex_);
    if (wake_.wait_for(lock, retry_every, [&]() REQUIRES(mutex_) { return stop_; })) return std::nullopt;
  }
}

// The answers to its statements are lost: what they would have said is read.
bool Writer::read_what_it_left(std::vector<Item>& items) {
  static const std::string sql = fmt::format("SELECT {} FROM meta WHERE one = 1", kept_columns);
  db_.send(sql);
  db_.send("SELECT at FROM tombstones ORDER BY pos LIMIT 1");
  const Result<std::vector<Rows>> answers = db_.flush();
  if (!answers || answers->front().count() != 1) return false;
  for (Item& item : items)
    if (item.commit->forget && *item.result && **item.result)
      (**item.result)->oldest_tombstone = answers->back().count() == 0 ? Time{} : answers->back().time(0, 0);
  const Lock lock(mutex_);
  kept_ = read_kept({answers->front(), 0});
  return true;
}

void Writer::beat() {
  if (parts_.condition.refusal()) return db_.close();
  if (!db_.is_up() && !connect()) return refuse_waiting();
  const Result<bool> holds = seat_.beat(db_);
  if (holds && !*holds) gone_for_good();
  if (!holds && holds.error().reason == reason::away) connect();
}

void Writer::gone_for_good() {
  parts_.condition.lose(
      StoreState::taken,
      "Another errand server has taken this database over, because this one was silent for too long.");
  failure_ = *parts_.condition.refusal();
}

// Nothing of it was sent.
void Writer::refuse_waiting() {
  for (std::vector<Group> groups = take(); !groups.empty(); groups = take()) {
    std::vector<Item> items = items_of(groups);
    answer_all(items, parts_.condition.refusal().value_or(away_error(failure_)));
    answer(std::move(groups));
  }
}

void Writer::answer(std::vector<Group> groups) {
  parts_.answers.post([groups = std::move(groups)]() mutable {
    for (Group& group : groups) {
      std::vector<Result<Committed>> results;
      results.reserve(group.results.size());
      for (auto& result : group.results)
        results.push_back(result ? std::move(*result)
                                 : fail(Code::unavailable, "It is not known whether this was stored: look at it again.",
                                        std::string(reason::away)));
      group.answer(std::move(results));
    }
  });
}

}  // namespace errand::postgres
