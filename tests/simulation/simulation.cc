#include "tests/simulation/simulation.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/simulation/agents.h"
#include "tests/simulation/clients.h"

namespace errand::sim {
namespace {

// How rough this life is; chosen by the seed, some lives are gentle.
struct Weather {
  int max_concurrent = 3;
  uint64_t misbehave_one_in = 0;
  uint64_t commit_fault_one_in = 0;
  uint64_t read_fault_one_in = 0;
  uint64_t crash_one_in = 0;
  uint64_t drain_one_in = 0;
  bool over_limit = false;
  Millis stop_ms = 0;
  int steps = 0;
};

Weather weather_of(SeededRandom& random) {
  Weather w;
  w.max_concurrent = static_cast<int>(1 + random.below(4));
  w.misbehave_one_in = random.one_in(3) ? 0 : 20 + random.below(100);
  w.commit_fault_one_in = random.one_in(2) ? 0 : 5 + random.below(60);
  w.read_fault_one_in = random.one_in(2) ? 0 : 20 + random.below(200);
  w.crash_one_in = random.one_in(3) ? 0 : 60 + random.below(400);
  w.drain_one_in = random.one_in(2) ? 0 : 200 + random.below(400);
  w.over_limit = random.one_in(2);
  w.stop_ms = random.one_in(2) ? 0 : static_cast<Millis>(random.below(3'000));
  w.steps = static_cast<int>(random.one_in(4) ? 200 + random.below(600) : 1'000 + random.below(4'000));
  return w;
}

class Simulation {
 public:
  explicit Simulation(const Options& options)
      : options_(options),
        random_(options.seed),
        ids_(options.seed ^ 0x9e3779b97f4a7c15ull),
        weather_(weather_of(random_)),
        watch_(verdict_),
        truth_(disk_, weather_.max_concurrent, verdict_),
        clients_(random_, truth_, verdict_, weather_.over_limit) {
    verdict_.trace_on(options.trace_lines);
    streams_.push_back(std::make_unique<StreamReader>(TaskId(), truth_, verdict_));
  }

  Report run() {
    start();
    const int steps = options_.steps > 0 ? options_.steps : weather_.steps;
    for (int i = 0; i < steps && verdict_.ok(); ++i) random_step();
    rough_ = false;
    if (verdict_.ok()) settle();
    if (verdict_.ok()) check_end();
    Report out;
    if (verdict_.tracing()) trace_named();
    if (!verdict_.ok()) out.broken = verdict_.what();
    out.trace = verdict_.lines();
    out.steps = steps_;
    out.crashes = crashes_;
    out.drains = drains_;
    out.faults = faults_;
    out.tasks = std::ssize(clients_.tasks());
    out.commits = commits_;
    out.events = disk_->last_pos;
    return out;
  }

 private:
  // --- lives of the server

  void start() {
    EngineSettings settings;
    settings.max_concurrent = weather_.max_concurrent;
    settings.allow_over_limit = weather_.over_limit;
    // The same in every life of the server.
    SeededRandom setup(options_.seed);
    settings.wake = setup.one_in(3);
    if (setup.one_in(3)) settings.ask_timeout_ms = 20'000;
    fake::FakeOptions agents;
    agents.capabilities.keeps_message = setup.one_in(2);
    agents.script = [seed = options_.seed](const fake::Prompt& prompt) { return script_for(seed, prompt); };
    agents.misbehave = [this](const TurnRequest& request) { return misbehaviour(*request.task); };
    agents.stop_ms = weather_.stop_ms;
    server_ = std::make_unique<Server>(ServerParts{.disk = disk_,
                                                   .clock = clock_,
                                                   .random = ids_,
                                                   .watch = watch_,
                                                   .verdict = verdict_,
                                                   .settings = settings,
                                                   .faults = faults(),
                                                   .agents = std::move(agents),
                                                   .planted = planted_});
    ready_ = draining_ = restart_ = false;
    server_->engine().recover([this](Result<void> recovered) {
      if (recovered)
        ready_ = true;
      else
        restart_ = true;  // The process would end, and be started again.
    });
  }

  Faults faults() {
    return {.commit =
                [this](const std::vector<Commit>& group) {
                  commits_ += std::ssize(group);
                  if (!rough_ || weather_.commit_fault_one_in == 0 || !random_.one_in(weather_.commit_fault_one_in))
                    return Fault::none;
                  ++faults_;
                  verdict_.trace("fault: the store refuses a group");
                  return random_.one_in(2) ? Fault::full : Fault::broken;
                },
            .read = [this]() -> std::optional<Error> {
              if (!rough_ || weather_.read_fault_one_in == 0 || !random_.one_in(weather_.read_fault_one_in)) return {};
              ++faults_;
              verdict_.trace("fault: a read fails");
              return Error{Code::unavailable, "The store cannot be read now.", {}};
            }};
  }

  void crash() {
    verdict_.trace("crash");
    ++crashes_;
    for (auto& stream : streams_) stream->cut();
    clients_.server_died();
    server_.reset();
    truth_.after_write();
    if (random_.one_in(2)) {
      verdict_.trace("power cut");
      watch_.power_cut(random_, planted_.same_boot);
    }
    start();
  }

  // --- the random part

  void random_step() {
    ++steps_;
    if (restart_ || (weather_.crash_one_in != 0 && random_.one_in(weather_.crash_one_in))) return crash();
    if (ready_ && !draining_ && weather_.drain_one_in != 0 && random_.one_in(weather_.drain_one_in)) return drain();
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        run_one(server_->loop, "loop");
        break;
      case 3:
      case 4:
        run_one(server_->readers, "readers");
        break;
      case 5:
      case 6:
        run_one(server_->disk, "disk");
        break;
      case 7:
        server_->run_due();
        break;
      case 8:
        if (ready_) clients_.act(server_->engine());
        break;
      case 9:
      case 10:
        stream_step();
        break;
      default:
        pass_time();
        break;
    }
    watch_all();
  }

  void run_one(StepQueue& queue, const char* name) {
    if (queue.empty()) return;
    verdict_.trace(name);
    queue.run_one();
    if (&queue == &server_->disk) truth_.after_write();
  }

  void watch_all() { truth_.check_open_turns(watch_); }

  void drain() {
    verdict_.trace("drain");
    ++drains_;
    draining_ = true;
    server_->engine().drain([this](Result<void>) { restart_ = true; });
  }

  // Mostly a little; now and then to the next thing that is due, or far beyond it.
  void pass_time() {
    Millis span = static_cast<Millis>(1 + random_.below(50));
    if (random_.one_in(4)) {
      if (const Time due = server_->next_due(); due > clock_.steady()) span = due - clock_.steady();
    } else if (random_.one_in(40)) {
      span = static_cast<Millis>(random_.below(40'000));
    }
    clock_.advance(span);
    if (random_.one_in(200)) clock_.jump_wall(static_cast<Millis>(random_.below(10'000)) - 5'000);
    verdict_.trace(fmt::format("time +{}", span));
  }

  void stream_step() {
    const std::vector<TaskId>& tasks = clients_.tasks();
    if (streams_.size() < 6 && !tasks.empty() && random_.one_in(8))
      streams_.push_back(std::make_unique<StreamReader>(tasks[random_.below(tasks.size())], truth_, verdict_));
    StreamReader& stream = *streams_[random_.below(streams_.size())];
    if (!ready_) return;
    if (!stream.connected())
      stream.connect(server_->streams());
    else if (random_.one_in(30))
      stream.cut();
    else
      stream.step(server_->streams(), random_.one_in(3) ? 1 : 64 * 1024);
  }

  // --- the end: no more faults, time passes, everything must come to rest

  bool run_all() {
    bool ran = false;
    for (StepQueue* queue : {&server_->disk, &server_->readers, &server_->loop})
      for (int64_t last = steps_ + 100'000; !queue->empty() && verdict_.ok();) {
        if (++steps_ > last) verdict_.broken("a queue is never empty");
        ran = true;
        queue->run_one();
        if (queue == &server_->disk) truth_.after_write();
        watch_all();
      }
    if (ready_)
      for (auto& stream : streams_) {
        if (!stream->connected()) stream->connect(server_->streams());
        while (stream->step(server_->streams(), 1024) && verdict_.ok()) ran = true;
      }
    return ran;
  }

  // Runs until nothing happens before `until`.
  void run_until(Time until) {
    int rounds = 0, moments = 0;  // Rounds of one moment.
    while (verdict_.ok()) {
      if (++rounds > 2'000 || moments > 100'000) return verdict_.broken("something goes round and round");
      if (restart_) crash();
      if (run_all()) continue;
      if (ready_) {
        clients_.check_nobody_waits_in_vain();
        if (asked()) {
          clients_.answer_all(server_->engine());
          continue;
        }
      }
      const Time due = server_->next_due();
      if (!due || due > until) return;
      if (due > clock_.steady()) {
        clock_.advance(due - clock_.steady());
        rounds = 0;
        ++moments;
      }
      server_->run_due();
    }
  }

  bool asked() const {
    return std::ranges::any_of(disk_->tasks, [](const auto& row) { return open_ask(row.second.task) != nullptr; });
  }

  void settle() {
    verdict_.trace("settle");
    if (draining_) crash();
    // Who has an agent that waits on though it was answered, and says that it is alive, waits for ever (and keeps its
    // slot): by contract. Somebody has to cancel it; then those behind it must come to rest.
    for (bool waited_for_ever = true; waited_for_ever && verdict_.ok();) {
      run_until(clock_.steady() + 3'600'000);
      waited_for_ever = false;
      for (const TaskId& id : truth_.at_work_now()) {
        const Task& task = disk_->find(id)->task;
        if (!at_work(task.state) || !misbehaviour(task).ignore_answers) continue;
        waited_for_ever = true;
        clients_.cancel(server_->engine(), id);
      }
    }
    for (const TaskId& id : truth_.at_work_now()) {
      const Task& task = disk_->find(id)->task;
      const Health health = server_->engine().administration().health();
      verdict_.broken(fmt::format("{} never came to rest: it is {}/{}{}, run {} ({} in line, {} hold slots)", id.value,
                                  name(task.state), name(task.phase), task.stopping ? "/stopping" : "", task.run,
                                  health.queued, health.running));
    }
  }

  fake::Misbehaviour misbehaviour(const Task& task) const {
    return misbehaviour_of(options_.seed, task.id, task.run, weather_.misbehave_one_in);
  }

  // The life of the task that the verdict names, as it is on disk.
  void trace_named() {
    for (const auto& [number, row] : disk_->tasks) {
      if (verdict_.ok() || verdict_.what().find(row.task.id.value) == std::string::npos) continue;
      for (const Event& event : row.events)
        verdict_.trace(fmt::format("event {} (pos {}) {} {}", event.seq, event.pos, name(event.type),
                                   std::string_view(event.data).substr(0, 300)));
    }
  }

  void check_end() {
    if (clients_.waiting() > 0) verdict_.broken("not everybody was answered: " + clients_.waiting_list());
    const Health health = server_->engine().administration().health();
    if (health.running != 0) verdict_.broken(fmt::format("{} slots are held, and nothing runs", health.running));
    if (health.queued != 0) verdict_.broken(fmt::format("{} are in line, and nothing waits", health.queued));
    if (health.inbox != 0) verdict_.broken("something still waits to be stored");
    if (!watch_.open().empty() || server_->live_turns() != 0) verdict_.broken("an agent is still at work");
    truth_.check_notices();
    truth_.check_own_notices();
    truth_.check_batches();
    truth_.check_messages();
    for (const auto& stream : streams_) stream->check_complete();
  }

  const Options options_;
  Planted planted_ = options_.planted;
  Verdict verdict_;
  SeededRandom random_;
  SeededRandom ids_;
  const Weather weather_;
  ManualClock clock_;
  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk();
  TurnWatch watch_;
  Truth truth_;
  Clients clients_;
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<StreamReader>> streams_;  // Before the server in death: their feeds are its own.
  bool rough_ = true;
  bool ready_ = false;
  bool draining_ = false;
  bool restart_ = false;
  int64_t steps_ = 0, crashes_ = 0, drains_ = 0, faults_ = 0, commits_ = 0;
};

}  // namespace

Report simulate(const Options& options) { return Simulation(options).run(); }

}  // namespace errand::sim
