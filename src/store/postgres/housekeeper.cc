#include "store/postgres/housekeeper.h"

#include <chrono>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/log.h"
#include "store/search_text.h"
#include "task/json_in.h"

namespace errand::postgres {
namespace {

constexpr int tasks_at_once = 200;
constexpr int rows_at_once = 2'000;
// While commits come it waits for a moment of quiet, since PostgreSQL would do its work instead of theirs; but not for
// ever.
constexpr std::chrono::milliseconds quiet{100};
constexpr int quiet_tries = 50;
constexpr std::chrono::seconds try_again{2};

std::vector<std::string> grams_of(std::string_view text) {
  std::vector<std::string> grams;
  each_gram(text, [&](std::string_view gram) {
    grams.emplace_back(gram);
    return true;
  });
  return grams;
}

}  // namespace

Housekeeper::Housekeeper(ConnectOptions connect) : options_(std::move(connect)) {
  thread_ = std::thread([this] { run(); });
}

Housekeeper::~Housekeeper() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Housekeeper::wake() {
  {
    const Lock lock(mutex_);
    if (std::exchange(dirty_, true)) return;
  }
  wake_.notify_one();
}

void Housekeeper::run() {
  // Answers come first: where there is too little CPU, this waits.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  Lock lock(mutex_);
  while (!stop_) {
    wake_.wait(lock, [&]() REQUIRES(mutex_) { return stop_ || dirty_; });
    for (int tries = 0; dirty_ && !stop_ && tries < quiet_tries; ++tries) {
      dirty_ = false;
      wake_.wait_for(lock, quiet, [&]() REQUIRES(mutex_) { return stop_; });
    }
    dirty_ = false;
    for (bool more = true; more && !stop_;) {
      lock.unlock();
      Result<bool> done = index();
      if (done && !*done) done = sweep();
      if (!done && done.error().reason != reason::away && db_.is_up() && !db_.run("ROLLBACK")) db_.close();
      lock.lock();
      more = done && *done;
      if (done || stop_) continue;
      log_debug("store", fmt::format("the search index is behind: {}", done.error().message));
      dirty_ = true;
      wake_.wait_for(lock, try_again, [&]() REQUIRES(mutex_) { return stop_; });
    }
  }
}

Result<bool> Housekeeper::index() {
  if (!db_.is_up()) {
    Result<Connection> made = Connection::open(options_);
    if (!made) return std::unexpected(made.error());
    db_ = std::move(*made);
  }
  const Result<Rows> rows = db_.run(
      "SELECT u.n, u.version, l.title, l.launch, r.result FROM (SELECT n, version FROM unindexed ORDER BY n LIMIT $1) "
      "u "
      "LEFT JOIN launches l ON l.n = u.n LEFT JOIN results r ON r.n = u.n",
      Values().add(tasks_at_once));
  if (!rows) return std::unexpected(rows.error());
  if (rows->count() == 0) return false;
  db_.send("BEGIN");
  std::vector<int64_t> numbers, versions;
  for (int i = 0; i < rows->count(); ++i) {
    const Row row{*rows, i};
    numbers.push_back(row.integer(0));
    versions.push_back(row.integer(1));
    if (row.is_null(3)) continue;  // It is gone.
    const LaunchWork work = decode_launch_work(row.text(3));
    std::string text = searched_text(row.text(2), work.prompt, work.command);
    if (!row.is_null(4)) (text += '\n') += searched_text(row.text(4));
    // Not for a task that goes meanwhile. It waits for nobody, so nobody can wait for it in a circle.
    db_.send(
        "INSERT INTO searched (n, grams) SELECT n, $2::bytea[] FROM launches WHERE n = $1 FOR KEY SHARE SKIP LOCKED "
        "ON CONFLICT (n) DO UPDATE SET grams = excluded.grams",
        Values().add(row.integer(0)).add_array(grams_of(text)));
  }
  // One that was stored again meanwhile stays, and one that was skipped.
  db_.send(
      "DELETE FROM unindexed WHERE n IN (SELECT u.n FROM unindexed u JOIN unnest($1::bigint[], $2::bigint[]) AS done "
      "(n, version) ON u.n = done.n AND u.version = done.version WHERE EXISTS (SELECT 1 FROM searched s WHERE s.n = "
      "u.n) OR NOT EXISTS (SELECT 1 FROM launches l WHERE l.n = u.n) FOR UPDATE OF u SKIP LOCKED)",
      Values().add_array(numbers).add_array(versions));
  db_.send("COMMIT");
  const Result<std::vector<Rows>> done = db_.flush();
  if (!done) return std::unexpected(done.error());
  return true;
}

Result<bool> Housekeeper::sweep() {
  const Result<Rows> rows = db_.run("SELECT g, task, session FROM garbage ORDER BY g LIMIT 1");
  if (!rows) return std::unexpected(rows.error());
  if (rows->count() == 0) return false;
  const bool of_task = !rows->is_null(0, 1);
  const Result<Rows> swept =
      of_task
          ? db_.run("DELETE FROM events WHERE pos IN (SELECT pos FROM events WHERE task = $1 ORDER BY seq LIMIT $2)",
                    Values().add(rows->integer(0, 1)).add(rows_at_once))
          : db_.run(
                "DELETE FROM messages WHERE session = $1 AND seq IN (SELECT seq FROM messages WHERE session = $1 "
                "ORDER BY seq LIMIT $2)",
                Values().add(rows->integer(0, 2)).add(rows_at_once));
  if (!swept) return std::unexpected(swept.error());
  if (swept->affected() < rows_at_once) {
    const Result<Rows> done = db_.run("DELETE FROM garbage WHERE g = $1", Values().add(rows->integer(0, 0)));
    if (!done) return std::unexpected(done.error());
  }
  return true;
}

}  // namespace errand::postgres
