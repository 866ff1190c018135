// What an operation costs where a list of the engine is short, and where it is long. A cost that does not grow with the
// list has a ratio near 1; one that is looked through for each operation has the ratio of the sizes, and a run over the
// whole list then grows with its square.
//
//   build/release/bench/lists_bench [--sizes 10,10000] [--only messages,inbox]
//
// The engine alone, on one thread, with a store in memory and a clock that is turned by hand: what is measured is its
// own CPU time. Only the ratios of one run compare.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/hand_executor.h"
#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "store/memory/memory_store.h"

namespace errand {
namespace {

using When = WaitingMessage::When;

double micros_now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct World {
  explicit World(EngineSettings with = {}, size_t agents = 0) {
    with.default_work_dir = "/tmp";
    with.inbox_max = 1'000'000;
    with.inbox_bytes = 1LL << 40;
    std::vector<Agent> known;
    for (size_t i = 0; i < agents; ++i)
      known.push_back({.id = "agent" + std::to_string(i), .name = "agent" + std::to_string(i), .driver = "demo"});
    known.push_back({.id = "demo", .name = "demo", .driver = "demo"});
    known.push_back({.id = "deaf", .name = "deaf", .driver = "deaf"});
    engine = make_engine({.store = *store,
                          .loop = loop,
                          .readers = readers,
                          .clock = clock,
                          .random = random,
                          .drivers = {{"demo", demo.get()}, {"deaf", deaf.get()}},
                          .agents = std::move(known),
                          .wake_at = {},
                          .faults = {}},
                         std::move(with));
    engine->recover([](const Result<void>&) {});
    settle();
  }
  void settle() {
    while (loop.run_one() || readers.run_one()) {
    }
  }
  void advance(Millis span, Millis step = 10) {
    for (Millis done = 0; done < span; done += step) {
      clock.advance(step);
      timers.run_due();
      engine->tick();
      settle();
    }
  }
  void begin_launch(const std::string& prompt, const std::function<void(Launch&)>& more, TaskId& id) {
    Launch launch;
    launch.agent_id = "demo";
    launch.prompt = prompt;
    if (more) more(launch);
    engine->tasks().launch(launch, {}, {}, [&id](Result<TaskView> made) {
      if (!made) std::fprintf(stderr, "%s\n", made.error().message.c_str());
      if (made) id = made->task.id;
    });
  }
  TaskId launch(const std::string& prompt, const std::function<void(Launch&)>& more = {}) {
    TaskId id;
    begin_launch(prompt, more, id);
    settle();
    return id;
  }
  void send(const TaskId& id, When when = When::queue) {
    engine->tasks().message(id, {.text = "on", .when = when},
                            [this](const Result<MessageTaken>& taken) { taken ? ++good : ++bad; });
  }

  ManualClock clock;
  SeededRandom random{1};
  HandExecutor loop, readers;
  std::shared_ptr<MemoryDisk> disk = make_memory_disk();
  std::unique_ptr<Store> store = open_memory_store(disk, loop);
  TimerQueue timers{clock};
  std::unique_ptr<fake::FakeDriver> demo = fake::make_demo_driver(timers);
  // Takes nothing while it works: notices to it stay in the store, and the store's way of finding them is not measured.
  std::unique_ptr<fake::FakeDriver> deaf = [this] {
    fake::FakeOptions options{.script = [](const fake::Prompt&) { return fake::Script().wait(36'000'000); }};
    options.capabilities.message_while_running = false;
    return std::make_unique<fake::FakeDriver>(timers, std::move(options));
  }();
  std::unique_ptr<Engine> engine;
  int64_t good = 0, bad = 0;
};

constexpr int64_t rounds = 200;  // Of an operation on a list that has its size.

template <class Op>
double each(int64_t times, Op op) {
  const double began = micros_now();
  for (int64_t i = 0; i < times; ++i) op(i);
  return (micros_now() - began) / static_cast<double>(times);
}

// --- of one task

double sent_messages(int64_t size) {  // One after the other; past the bound they are refused.
  World world;
  const TaskId id = world.launch("silent 600");
  world.advance(50);
  return each(size, [&](int64_t) {
    world.send(id);
    world.settle();
  });
}

double inbox(int64_t size) {  // All before the first is stored.
  World world;
  const TaskId id = world.launch("silent 600");
  world.advance(50);
  const double began = micros_now();
  for (int64_t i = 0; i < size; ++i) world.send(id);
  world.settle();
  return (micros_now() - began) / static_cast<double>(size);
}

double refused_messages(int64_t size) {  // To a task that has all that it takes.
  World world;
  const TaskId id = world.launch("silent 600");
  world.advance(50);
  for (size_t i = 0; i < waiting_max; ++i) world.send(id);
  world.settle();
  return each(size, [&](int64_t) {
    world.send(id);
    world.settle();
  });
}

// --- of a session, a batch, a tree

double members_of_a_batch(int64_t size) {  // From creation to the end of each.
  World world({.max_concurrent = 64});
  std::vector<TaskId> ids(static_cast<size_t>(size));
  const double began = micros_now();
  for (TaskId& id : ids) {
    world.begin_launch("noop", [](Launch& launch) { launch.batch_id = BatchId("batch_1"); }, id);
    world.settle();
  }
  while (world.engine->administration().health().working + world.engine->administration().health().queued > 0)
    world.advance(10);
  return (micros_now() - began) / static_cast<double>(size);
}

double batch_waiters(int64_t size) {  // A task of it ends while so many wait for all.
  World world;
  const auto in_batch = [](Launch& launch) { launch.batch_id = BatchId("batch_1"); };
  const TaskId last = world.launch("silent 600", in_batch);
  for (int64_t i = 0; i < size; ++i)
    world.engine->batches().wait(BatchId("batch_1"), Until::all, 600'000,
                                 [&](const Result<BatchCounts>&) { ++world.good; });
  world.settle();
  const double cost = each(rounds, [&](int64_t) {
    world.launch("noop", in_batch);
    world.advance(10);
  });
  world.engine->tasks().cancel(last, "user", [](const Result<TaskView>&) {});
  world.advance(50);
  if (world.good != size) std::fprintf(stderr, "%ld of %ld waiters were answered\n", world.good, size);
  return cost;
}

double task_waiters(int64_t size) {  // Each gives up.
  World world;
  const TaskId id = world.launch("silent 600");
  std::vector<uint64_t> waits;
  for (int64_t i = 0; i < size; ++i)
    waits.push_back(world.engine->tasks().wait({id}, Until::all, 600'000, [](const Result<void>&) {}));
  world.settle();
  return each(size, [&](int64_t i) { world.engine->tasks().give_up(waits[static_cast<size_t>(i)]); });
}

double result_waiters(int64_t size) {  // All of them run out of time at once.
  World world;
  const TaskId id = world.launch("silent 600");
  for (int64_t i = 0; i < size; ++i)
    world.engine->tasks().result(id, 1'000, [&](const Result<ResultView>&) { ++world.good; });
  world.settle();
  const double began = micros_now();
  world.advance(1'100, 550);
  const double cost = (micros_now() - began) / static_cast<double>(size);
  if (world.good != size) std::fprintf(stderr, "%ld of %ld waiters were answered\n", world.good, size);
  return cost;
}

double notice_waiters(int64_t size) {  // All of them run out of time at once.
  World world;
  const SessionId session("ses_parent");
  world.launch("silent 600", [&](Launch& launch) { launch.parent_session_id = session; });
  for (int64_t i = 0; i < size; ++i)
    world.engine->sessions().notices(session, 0, 10, 1'000, [&](const Result<std::vector<Notice>>&) { ++world.good; });
  world.settle();
  const double began = micros_now();
  world.advance(1'100, 550);
  const double cost = (micros_now() - began) / static_cast<double>(size);
  if (world.good != size) std::fprintf(stderr, "%ld of %ld waiters were answered\n", world.good, size);
  return cost;
}

double children_of_a_session(int64_t size) {  // With the notice that each of them owes it.
  World world({.max_concurrent = 64});
  const double began = micros_now();
  for (int64_t i = 0; i < size; ++i) {
    world.launch("noop", [](Launch& launch) { launch.parent_session_id = SessionId("ses_parent"); });
    if (i % 32 == 31) world.advance(10);
  }
  while (world.engine->administration().health().working + world.engine->administration().health().queued > 0)
    world.advance(10);
  return (micros_now() - began) / static_cast<double>(size);
}

double children_of_a_task(int64_t size) {  // Which has a budget that they share.
  World world({.max_concurrent = 64});
  const TaskId parent = world.launch("work", [](Launch& launch) {
    launch.agent_id = "deaf";
    launch.budget.turns = 1'000'000;
  });
  const SessionId session = world.store->get(parent)->session_id;
  const double began = micros_now();
  for (int64_t i = 0; i < size; ++i) {
    world.launch("noop", [&](Launch& launch) { launch.parent_session_id = session; });
    if (i % 32 == 31) world.advance(10);
  }
  while (world.engine->administration().health().working + world.engine->administration().health().queued > 1)
    world.advance(10);
  return (micros_now() - began) / static_cast<double>(size);
}

double cancelled_children(int64_t size) {
  World world({.max_concurrent = 1});
  const TaskId parent = world.launch("silent 600");
  const SessionId session = world.store->get(parent)->session_id;
  for (int64_t i = 0; i < size; ++i) world.launch("noop", [&](Launch& launch) { launch.parent_session_id = session; });
  const double began = micros_now();
  world.engine->tasks().cancel(parent, "user", [](const Result<TaskView>&) {});
  while (world.engine->administration().health().working + world.engine->administration().health().queued > 0)
    world.advance(10);
  return (micros_now() - began) / static_cast<double>(size);
}

// --- of the server

double feed_readers(int64_t size) {  // An operation is an event for one reader.
  struct Reader : FeedReader {
    void wake() override { ++woken; }
    int64_t woken = 0;
  };
  World world;
  const TaskId id = world.launch("silent 600");
  const std::shared_ptr<Feed> feed = world.engine->streams().feed(id);
  std::vector<Reader> readers(static_cast<size_t>(size));
  for (Reader& reader : readers) feed->add(&reader);
  const double cost = each(rounds, [&](int64_t) {
    world.send(id);
    world.settle();
  });
  for (Reader& reader : readers) feed->remove(&reader);
  return cost / static_cast<double>(size);
}

double agents(int64_t size) {  // A task of the last of them, launched and ended. 1,000 is their bound.
  World world({.max_concurrent = 64}, static_cast<size_t>(std::min<int64_t>(size, 1'000)));
  return each(rounds, [&](int64_t) {
    world.launch("noop");
    world.advance(10);
  });
}

double line(int64_t size) {  // A further task in line, and its place.
  World world({.max_concurrent = 1});
  world.launch("silent 600");
  for (int64_t i = 0; i < size; ++i) world.launch("noop");
  return each(rounds, [&](int64_t) { world.launch("noop"); });
}

struct Workload {
  const char* name;
  const char* what;
  double (*run)(int64_t size);
};
constexpr Workload workloads[] = {
    {"messages", "messages to a busy task, one by one", sent_messages},
    {"inbox", "messages to a busy task, all at once", inbox},
    {"refused", "messages to a task that takes no more", refused_messages},
    {"batch", "tasks of a batch, created to ended", members_of_a_batch},
    {"batch_waiters", "a task ends; so many wait for its batch", batch_waiters},
    {"task_waiters", "who waits for a task gives up", task_waiters},
    {"result_waiters", "who waits for a result runs out of time", result_waiters},
    {"notice_waiters", "who waits for notices runs out of time", notice_waiters},
    {"session", "tasks of a session, created to ended", children_of_a_session},
    {"children", "children of a task with a budget", children_of_a_task},
    {"cancelled", "children, cancelled with their parent", cancelled_children},
    {"readers", "an event, for each reader of a stream", feed_readers},
    {"agents", "a task, with so many agents (1,000 at most)", agents},
    {"line", "a further task in line", line},
};

}  // namespace
}  // namespace errand

int main(int argc, char** argv) {
  std::vector<int64_t> sizes = {10, 10'000};
  std::set<std::string> only;
  const auto words = [](const char* text) {
    std::vector<std::string> out;
    std::stringstream in(text);
    for (std::string word; std::getline(in, word, ',');) out.push_back(word);
    return out;
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--only") == 0)
      for (const std::string& word : words(argv[i + 1])) only.insert(word);
    if (std::strcmp(argv[i], "--sizes") == 0) {
      sizes.clear();
      for (const std::string& word : words(argv[i + 1])) sizes.push_back(std::max(1L, std::atol(word.c_str())));
    }
  }
  std::printf("| %-14s | %-44s |", "list", "an operation");
  for (const int64_t size : sizes) std::printf(" us at %6ld |", size);
  std::printf(" ratio |\n");
  for (const errand::Workload& workload : errand::workloads) {
    if (!only.empty() && !only.contains(workload.name)) continue;
    std::printf("| %-14s | %-44s |", workload.name, workload.what);
    double first = 0, last = 0;
    for (const int64_t size : sizes) {
      // The best of three, or of many where one is over in a moment.
      double best = 1e300;
      const double began = errand::micros_now();
      for (int i = 0; i < 3 || errand::micros_now() - began < 50'000; ++i) best = std::min(best, workload.run(size));
      if (first == 0) first = best;
      last = best;
      std::printf(" %12.2f |", best);
      std::fflush(stdout);
    }
    std::printf(" %5.1f |\n", last / first);
  }
}
