// How fast the SQLite store is, against the simplest program that does the same to the disk. With ERRAND_BENCH_STORE (a
// PostgreSQL URL) the store in that database instead, each time in a new schema.
//
//   store_bench create [tasks]     durable creations with 1, 8, 64 and 256 waiting, and a raw insert loop beside each
//   store_bench events [events]    events of 200 B, 64 a commit
//   store_bench lists [tasks]      fills a database, then pages, counts and searches
//
// Compare only within one run: the disk and the machine differ more than the programs.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <sqlite3.h>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "task/decide.h"
#include "task/json.h"

namespace errand {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Queue final : public Executor {
 public:
  void post(Work work) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
  }
  void run_one() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return !queue_.empty(); });
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;
};

struct Folder {
  Folder() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = fmt::format("{}/errand-bench-XXXXXX", base ? base : "/tmp");
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    // ERRAND_BENCH_KEEP leaves what was made, to be looked at.
    if (!std::getenv("ERRAND_BENCH_KEEP")) std::filesystem::remove_all(path);
  }
  std::string path;
};

std::unique_ptr<Store> open_store(const Folder& folder, Queue& queue) {
  const char* const url = std::getenv("ERRAND_BENCH_STORE");
  const std::string schema = "bench_" + folder.path.substr(folder.path.size() - 6);
  Result<std::unique_ptr<Store>> store =
      url ? open_postgres_store({.url = url, .data_dir = folder.path, .schema = schema}, queue)
          : open_sqlite_store({.path = folder.path + "/errand.db"}, queue);
  if (store) return std::move(*store);
  fmt::print(stderr, "{}\n", store.error().message);
  std::exit(1);
}

constexpr const char* words[] = {"refactor", "the",   "server", "module", "and",   "write",  "tests",  "for",
                                 "every",    "error", "path",   "数据库", "连接",  "修复",   "report", "what",
                                 "changed",  "in",    "docs",   "before", "merge", "review", "build",  "release"};

// What a creation over HTTP stores: the task, its session, its first message, two events.
class Creations {
 public:
  Commit next() {
    const Time now = clock_.wall();
    Launch launch;
    launch.agent_id = agents_[random_.below(3)];
    for (int i = 0; i < 12; ++i) {
      launch.prompt += words[random_.below(std::size(words))];
      launch.prompt += ' ';
    }
    launch.prompt += fmt::format("number {}", ++count_);
    Message message;
    message.id = ids_.message();
    Step step = create(launch, ids_.task(), ids_.session(), message.id, now);
    Commit commit;
    commit.now = now;
    commit.task_id = step.after.id;
    message.session_id = step.after.session_id;
    message.seq = 1;
    message.created_at = now;
    message.parts.push_back(Part{.type = PartType::text, .text = launch.prompt});
    step.events.push_back(message_event(EventType::message_created, message, now));
    for (Event& event : step.events) {
      event.task_id = step.after.id;
      event.seq = ++step.after.last_seq;
    }
    commit.events = std::move(step.events);
    commit.messages.push_back(std::move(message));
    Session session;
    session.id = step.after.session_id;
    session.task_id = step.after.id;
    session.origin = "task";
    session.created_at = now;
    commit.session = std::move(session);
    step.after.version = 1;
    commit.after = std::make_shared<const Task>(std::move(step.after));
    return commit;
  }

 private:
  SystemClock clock_;
  SeededRandom random_{42};
  SystemRandom chance_;
  IdSource ids_{clock_, chance_};
  const char* agents_[3] = {"demo", "claude", "opencode"};
  int64_t count_ = 0;
};

double percentile(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<size_t>(p * static_cast<double>(values.size())))];
}

// `waiting` creations are always under way, each a group of its own, as from so many clients.
void run_creations(Store& store, Queue& queue, int waiting, int64_t total, Creations& creations) {
  std::vector<double> latencies;
  int64_t begun = 0, ended = 0, refused = 0;
  const auto start = Clock::now();
  const auto begin = [&] {
    ++begun;
    store.commit({creations.next()}, [&, at = Clock::now()](std::vector<Result<Committed>> results) {
      if (!results[0]) ++refused;
      latencies.push_back(seconds_since(at) * 1e6);
      ++ended;
    });
  };
  while (ended < total) {
    while (begun - ended < waiting && begun < total) begin();
    queue.run_one();
  }
  const double took = seconds_since(start);
  fmt::print("  store, {:>3} waiting: {:>8.0f} tasks/s   p50 {:>6.0f} us   p99 {:>7.0f} us{}\n", waiting,
             static_cast<double>(total) / took, percentile(latencies, 0.5), percentile(latencies, 0.99),
             refused ? fmt::format("   {} REFUSED", refused) : "");
}

// The limit: one row with five indexes, `rows` a transaction, nothing else.
void run_raw(int rows, int64_t total) {
  const Folder folder;
  sqlite3* db = nullptr;
  sqlite3_open((folder.path + "/raw.db").c_str(), &db);
  sqlite3_exec(
      db,
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (n INTEGER PRIMARY KEY, id TEXT UNIQUE, "
      "state INT, agent TEXT, created INT, updated INT, body TEXT); CREATE INDEX a ON t (state); CREATE INDEX b ON "
      "t (agent); CREATE INDEX c ON t (created); CREATE INDEX d ON t (updated);",
      nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO t VALUES (?, ?, 0, 'demo', ?, ?, ?)", -1, &insert, nullptr);
  const std::string body(600, 'x');
  const auto start = Clock::now();
  for (int64_t n = 0; n < total;) {
    sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    for (int i = 0; i < rows; ++i, ++n) {
      const std::string id = fmt::format("task_{:026}", n);
      sqlite3_bind_int64(insert, 1, n + 1);
      sqlite3_bind_text(insert, 2, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
      sqlite3_bind_int64(insert, 3, n);
      sqlite3_bind_int64(insert, 4, n);
      sqlite3_bind_text(insert, 5, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  }
  const double took = seconds_since(start);
  fmt::print("  raw,   {:>3} a commit: {:>8.0f} rows/s\n", rows, static_cast<double>(total) / took);
  sqlite3_finalize(insert);
  sqlite3_close(db);
}

void bench_create(int64_t total) {
  Creations creations;
  for (const int waiting : {1, 8, 64, 256}) {
    const int64_t count = std::min<int64_t>(total, waiting == 1 ? total / 10 : total);
    run_raw(waiting, count);
    const Folder folder;
    Queue queue;
    const std::unique_ptr<Store> store = open_store(folder, queue);
    run_creations(*store, queue, waiting, count, creations);
  }
}

void bench_events(int64_t total) {
  const Folder folder;
  Queue queue;
  const std::unique_ptr<Store> store = open_store(folder, queue);
  Creations creations;
  Commit made = creations.next();
  Task task = *made.after;
  bool answered = false;
  const auto put = [&](Commit commit) {
    answered = false;
    store->commit({std::move(commit)}, [&](std::vector<Result<Committed>> results) {
      answered = true;
      if (!results[0]) fmt::print(stderr, "{}\n", results[0].error().message);
    });
    while (!answered) queue.run_one();
  };
  put(std::move(made));
  const std::string text(150, 'x');
  const auto start = Clock::now();
  for (int64_t n = 0; n < total; n += 64) {
    Commit commit;
    commit.task_id = task.id;
    commit.before_version = task.version++;
    for (int i = 0; i < 64; ++i) {
      Event event = delta_event(MessageId("msg_1"), 0, text, Time{1}, PartType::text);
      event.task_id = task.id;
      event.seq = ++task.last_seq;
      commit.events.push_back(std::move(event));
    }
    commit.after = std::make_shared<const Task>(task);
    put(std::move(commit));
  }
  fmt::print("  events, 64 a commit: {:>8.0f} events/s\n", static_cast<double>(total) / seconds_since(start));
}

template <class F>
void measure(const char* what, int times, F call) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    const auto start = Clock::now();
    call(i);
    took.push_back(seconds_since(start) * 1e6);
  }
  const double p50 = percentile(took, 0.5);
  fmt::print("  {:<44} p50 {:>8.0f} us   p99 {:>8.0f} us\n", what, p50, percentile(took, 0.99));
}

void bench_lists(int64_t total) {
  const Folder folder;
  Queue queue;
  std::unique_ptr<Store> store = open_store(folder, queue);
  Creations creations;
  run_creations(*store, queue, 256, total, creations);
  const auto start = Clock::now();
  while (true) {
    const Result<TaskPage> page = store->list({.query = "number 1"}, {.limit = 1});
    if (page || page.error().reason != "indexing") break;
  }
  fmt::print("  search answers again after {:.1f} s\n", seconds_since(start));
  // Looking for something that is nowhere costs nothing once everything is indexed.
  while (true) {
    const auto search = Clock::now();
    static_cast<void>(store->list({.query = "qqzzqq"}, {.limit = 1}));
    if (seconds_since(search) < 0.002) break;
  }
  fmt::print("  all indexed after {:.1f} s\n", seconds_since(start));
  const std::vector<Task> some = store->list({}, {.limit = 500})->tasks;
  const auto query = [&](const char* text) {
    return [&store, text](int) { static_cast<void>(store->list({.query = text}, {})); };
  };
  measure("get", 2'000, [&](int i) { static_cast<void>(store->get(some[static_cast<size_t>(i) % some.size()].id)); });
  measure("page of 50, newest", 500, [&](int) { static_cast<void>(store->list({}, {})); });
  measure("page of 50, by state", 500,
          [&](int) { static_cast<void>(store->list({.states = {TaskState::pending}}, {})); });
  measure("page of 50, by agent and state", 500,
          [&](int) { static_cast<void>(store->list({.states = {TaskState::pending}, .agent_id = "claude"}, {})); });
  measure("page of 50, last changed", 500, [&](int) { static_cast<void>(store->list({}, {.sort = Sort::updated})); });
  measure("counts", 1'000, [&](int) { static_cast<void>(store->counts()); });
  measure("page at an offset of half", 5, [&](int) { static_cast<void>(store->list({}, {.offset = total / 2})); });
  measure("search: refactor", 200, query("refactor"));
  measure("search: 数据库 连接", 200, query("数据库 连接"));
  measure("search: 复", 200, query("复"));
  measure("search: eview (part of a word)", 200, query("eview"));
  measure("search: er", 200, query("er"));
  measure("search: 5 common words", 200, query("review build merge docs report"));
  measure("search: one number of all", 200, [&](int i) {
    const std::string text = fmt::format("number {}", total / 2 + i * 7);
    static_cast<void>(store->list({.query = text}, {}));
  });
  measure("search: nothing", 200, query("nowhere-to-be-found"));
  measure("search: failed ones", 200,
          [&](int) { static_cast<void>(store->list({.states = {TaskState::failed}, .query = "refactor"}, {})); });
  store.reset();
  const auto open = Clock::now();
  store = open_store(folder, queue);
  fmt::print("  open again: {:.1f} ms\n", seconds_since(open) * 1e3);
  const auto read = Clock::now();
  fmt::print("  queued: {} tasks in {:.1f} ms\n", store->queued()->size(), seconds_since(read) * 1e3);
  for (const auto& file : std::filesystem::directory_iterator(folder.path))
    fmt::print("  {:<24} {:>8.1f} MB\n", file.path().filename().string(), static_cast<double>(file.file_size()) / 1e6);
}

int main(int count, char** words_given) {
  set_log_level(LogLevel::error);
  const std::string what = count > 1 ? words_given[1] : "create";
  const int64_t total = count > 2 ? std::atoll(words_given[2]) : 50'000;
  if (what == "create") {
    bench_create(total);
  } else if (what == "events") {
    bench_events(total);
  } else if (what == "lists") {
    bench_lists(total);
  } else {
    fmt::print(stderr, "store_bench create|events|lists [count]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace errand

int main(int count, char** words) { return errand::main(count, words); }
