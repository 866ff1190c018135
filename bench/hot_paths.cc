// The hot paths, each as one operation that is done N times: what scripts/instructions counts with callgrind.
//
//   build/release/bench/hot_paths PATH N
//
// The real routes, engine and SQLite store, without sockets and with a clock that is turned by hand. What happens, and
// in which order, does not depend on how long anything takes: the store gets one group of commits at a time, and its
// answer is taken when the loop has nothing else to do. So two runs execute the same instructions, but for those that
// wait; the search index, which gathers by time, has a thread of its own and is not counted.
//
// Everything besides the N operations is the same for every N: the difference of two runs is the cost of the operations
// alone.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/hand_executor.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "net/loop.h"
#include "net/routes/routes.h"
#include "net/sse.h"
#include "store/faulty.h"
#include "store/sqlite/sqlite_store.h"

namespace errand {
namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "hot_paths: %s\n", what.c_str());
  std::_Exit(1);
}

// Where the store's writer puts its answers.
class Answers final : public Executor {
 public:
  void post(Work work) override {
    {
      const Lock lock(mutex_);
      queue_.push_back(std::move(work));
      ++answered_;
    }
    wake_.notify_one();
  }
  // Before a group is handed over: waits until all those before it are answered, so that the writer never finds two.
  void hand_over() {
    Lock lock(mutex_);
    wake_.wait(lock, [this]() REQUIRES(mutex_) { return answered_ == handed_over_; });
    ++handed_over_;
  }
  // Runs the next answer. False: none is owed.
  bool run_one() {
    Lock lock(mutex_);
    if (taken_ == handed_over_) return false;
    wake_.wait(lock, [this]() REQUIRES(mutex_) { return !queue_.empty(); });
    Work work = std::move(queue_.front());
    queue_.pop_front();
    ++taken_;
    lock.unlock();
    work();
    return true;
  }

 private:
  Mutex mutex_;
  Wakeup wake_;
  std::deque<Work> queue_ GUARDED_BY(mutex_);
  int64_t handed_over_ GUARDED_BY(mutex_) = 0, answered_ GUARDED_BY(mutex_) = 0, taken_ GUARDED_BY(mutex_) = 0;
};

class Asked final : public net::Exchange {
 public:
  void reply(net::Response response) override { answer = std::move(response); }
  void stream(net::Response response, std::unique_ptr<net::StreamSource> stream_source) override {
    answer = std::move(response);
    source = std::move(stream_source);
  }
  void on_gone(std::function<void()>) override {}

  std::optional<net::Response> answer;
  std::unique_ptr<net::StreamSource> source;
};

// The end of a stream: takes what there is whenever there is something, as a connection that can always write.
class Reader {
 public:
  explicit Reader(std::unique_ptr<net::StreamSource> source) : source_(std::move(source)) {
    source_->on_ready([this] { pull(); });
    pull();
  }
  void pull() {
    if (pulling_) return;
    pulling_ = true;
    for (bool more = true; more;) {
      slices_.clear();
      more = source_->pull(slices_, 65'536) == net::StreamSource::Pulled::some;
      for (const net::Slice& slice : slices_) bytes += slice.bytes.size();
    }
    pulling_ = false;
  }
  size_t bytes = 0;

 private:
  std::unique_ptr<net::StreamSource> source_;
  std::vector<net::Slice> slices_;
  bool pulling_ = false;
};

class World {
 public:
  explicit World(int slots) : slots_(slots) {
    const char* const base = std::getenv("TMPDIR");
    folder_ = std::string(base != nullptr ? base : "/tmp") + "/errand-hot-XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) die("no folder for its files");
    Result<std::unique_ptr<Store>> opened =
        open_sqlite_store({.path = folder_ + "/errand.db", .ballast_bytes = 0}, answers_);
    if (!opened) die(opened.error().message);
    store_ = make_faulty(std::move(*opened), answers_,
                         {.commit =
                              [this](const auto&) {
                                answers_.hand_over();
                                return Fault::none;
                              },
                          .read = {}});
    start();
  }
  // What is under way is left, as by kill -9: nothing is stored behind the last operation.
  [[noreturn]] void leave() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
    std::fflush(nullptr);
    std::_Exit(0);
  }

  // A server's start on what is stored.
  void start() {
    routes_.reset();
    engine_.reset();
    demo_.reset();
    timers_.emplace(clock_);
    loop_ = HandExecutor();
    readers_ = HandExecutor();
    demo_ = fake::make_demo_driver(*timers_);
    EngineSettings settings;
    settings.default_work_dir = "/tmp";
    settings.max_concurrent = slots_;
    engine_ = make_engine({.store = *store_,
                           .loop = loop_,
                           .readers = readers_,
                           .clock = clock_,
                           .random = random_,
                           .drivers = {{"demo", demo_.get()}},
                           .agents = {{.id = "demo", .name = "demo", .driver = "demo"}},
                           .wake_at = {},
                           .faults = {}},
                          std::move(settings));
    bool ready = false;
    engine_->recover([&](const Result<void>& recovered) { ready = recovered.has_value(); });
    settle();
    if (!ready) die("it did not start");
    routes_.emplace(net::RouteParts{.engine = *engine_,
                                    .store = *store_,
                                    .loop = loop_,
                                    .readers = readers_,
                                    .clock = clock_,
                                    .heartbeats = heartbeats_,
                                    .version = "0",
                                    .authenticated = [](const net::Request&) { return true; },
                                    .stats = [] { return net::ServerStats{}; },
                                    .login = {},
                                    .page = {},
                                    .mcp = {}});
  }

  void settle() {
    while (loop_.run_one() || readers_.run_one() || answers_.run_one()) {
    }
  }
  void advance(Millis span) {
    clock_.advance(span);
    timers_->run_due();
    engine_->tick();
    settle();
  }
  // Until no task is at work but `left`.
  void run_until(int64_t left) {
    for (int i = 0; engine_->administration().health().working + engine_->administration().health().queued > left;
         ++i) {
      if (i > 100'000) die("tasks that do not end");
      advance(20);
    }
  }

  std::shared_ptr<Asked> ask(net::Method method, std::string path, std::string body) {
    auto asked = std::make_shared<Asked>();
    asked->request.method = method;
    asked->request.path = std::move(path);
    asked->request.body = std::move(body);
    asked->request.who = net::Principal::owner();
    routes_->handle(asked);
    settle();
    if (!asked->answer || asked->answer->status / 100 != 2)
      die(asked->request.path + ": " + (asked->answer ? asked->answer->body : "no answer"));
    return asked;
  }
  TaskId launch(const std::string& prompt) {
    const auto asked =
        ask(net::Method::post, "/api/tasks",
            R"({"agent_id":"demo","message":")" + prompt + R"(","title":"A task of the hot paths","timeout_s":0})");
    const std::string& body = asked->answer->body;
    const size_t at = body.find("\"id\":\"");
    if (at == std::string::npos) die(body);
    return TaskId(body.substr(at + 6, body.find('"', at + 6) - at - 6));
  }
  void cancel(const TaskId& id) { ask(net::Method::post, "/api/tasks/" + id.value + "/cancel", "{}"); }
  std::unique_ptr<Reader> read(const TaskId& id) {
    auto reader =
        std::make_unique<Reader>(std::move(ask(net::Method::get, "/api/tasks/" + id.value + "/stream", {})->source));
    settle();
    return reader;
  }

 private:
  const int slots_;
  std::string folder_;
  ManualClock clock_;
  SeededRandom random_{1};
  HandExecutor loop_, readers_;
  Answers answers_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<net::Loop> io_ = net::Loop::make();
  net::Heartbeats heartbeats_{*io_};
  std::optional<TimerQueue> timers_;
  std::unique_ptr<fake::FakeDriver> demo_;
  std::unique_ptr<Engine> engine_;
  std::optional<net::Routes> routes_;
};

const std::string busy = "silent 9000";  // A prompt that holds its slot.

// From the request to its reply; no slot is free.
void create(World& world, int64_t n) {
  world.launch(busy);
  for (int64_t i = 0; i < n; ++i) world.launch("noop");
}

// Of tasks in line, one after the other in one slot.
void start_and_end(World& world, int64_t n) {
  constexpr int64_t tasks = 80;
  if (n > tasks) die("too many");
  const TaskId first = world.launch(busy);
  for (int64_t i = 0; i < tasks; ++i) world.launch(i < n ? "noop       " : busy);
  world.cancel(first);
  world.run_until(tasks - n);
}

// Events that are stored each by itself, as fast as they come.
void event(World& world, int64_t n) {
  world.launch("warnings " + std::to_string(n));
  world.run_until(0);
}

// An answer that comes in 24 pieces, one every 20 ms.
void text(World& world, int64_t n) {
  std::string prompt = "text";
  for (int64_t i = 1; i < n; ++i) prompt += " text";
  world.launch(prompt);
  world.run_until(0);
}

// A message to a busy task, and its event for a hundred readers.
void delivery(World& world, int64_t n) {
  const TaskId id = world.launch(busy);
  world.advance(20);
  std::vector<std::unique_ptr<Reader>> readers(100);
  for (std::unique_ptr<Reader>& reader : readers) reader = world.read(id);
  const size_t before = readers.back()->bytes;
  for (int64_t i = 0; i < n; ++i)
    world.ask(net::Method::post, "/api/tasks/" + id.value + "/message", R"({"message":"Go on.","when":"queue"})");
  if (n > 0 && readers.back()->bytes == before) die("the readers got nothing");
  world.leave();
}

// A start with 200 tasks in line.
void recover(World& world, int64_t n) {
  world.launch(busy);
  for (int i = 0; i < 200; ++i) world.launch("noop");
  for (int64_t i = 0; i < n; ++i) world.start();
}

struct Path {
  const char* name;
  int slots;
  void (*run)(World& world, int64_t n);
};
constexpr Path paths[] = {{"create", 1, create}, {"start_and_end", 1, start_and_end}, {"event", 1, event},
                          {"text", 1, text},     {"delivery", 1, delivery},           {"recover", 1, recover}};

}  // namespace
}  // namespace errand

int main(int argc, char** argv) {
  errand::set_log_level(errand::LogLevel::error);
  const std::string wanted = argc == 3 ? argv[1] : "";
  for (const errand::Path& path : errand::paths) {
    if (path.name != wanted) continue;
    errand::World world(path.slots);
    path.run(world, std::atoll(argv[2]));
    world.leave();
  }
  std::fprintf(stderr, "usage: %s PATH N, PATH one of:", argv[0]);
  for (const errand::Path& path : errand::paths) std::fprintf(stderr, " %s", path.name);
  std::fprintf(stderr, "\n");
  return 2;
}
