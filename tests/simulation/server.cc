#include "tests/simulation/server.h"

#include <utility>

#include "tests/simulation/sim_store.h"

namespace errand::sim {
namespace {

std::unique_ptr<Store> open_store(ServerParts& parts, StepQueue& disk, StepQueue& loop) {
  auto faulty = make_faulty(open_memory_store(parts.disk, disk), disk, std::move(parts.faults));
  return make_sim_store({.inner = std::move(faulty), .loop = loop, .planted = parts.planted, .verdict = parts.verdict});
}

EngineFaults plant(Planted& planted) {
  EngineFaults faults{.skip_frame = [&planted](const Event&) { return planted.skips_this_frame(); }};
  if (planted.keep_slot > 0) faults.keep_slot = [&planted](const TaskId&) { return planted.keeps_this_slot(); };
  return faults;
}

std::vector<Agent> all_agents() {
  Agent first{.id = "demo", .name = "demo", .driver = "fake"};
  Agent second{.id = "narrow", .name = "narrow", .driver = "fake", .max_concurrent = 1};
  return {first, second};
}

}  // namespace

Server::Server(ServerParts parts)
    : clock_(parts.clock),
      watch_(parts.watch),
      timers_(parts.clock),
      agents_(timers_, std::move(parts.agents)),
      driver_(watch_driver(agents_, parts.watch)),
      store_(open_store(parts, disk, loop)),
      engine_(make_engine({.store = *store_,
                           .loop = loop,
                           .readers = readers,
                           .clock = parts.clock,
                           .random = parts.random,
                           .drivers = {{"fake", driver_.get()}},
                           .agents = all_agents(),
                           .wake_at = [this](Time due) { engine_due_ = due; },
                           .faults = plant(parts.planted)},
                          std::move(parts.settings))),
      streams_{*engine_, *store_, loop, readers} {}

Server::~Server() {
  loop.drop_all();
  readers.drop_all();
  disk.drop_all();
  engine_.reset();
  watch_.all_gone();
}

Time Server::next_due() const {
  const Time timers = timers_.next_due();
  if (!timers) return engine_due_;
  if (!engine_due_) return timers;
  return std::min(timers, engine_due_);
}

bool Server::run_due() {
  bool ran = timers_.run_due() > 0;
  if (engine_due_ && engine_due_ <= clock_.steady()) {
    engine_due_ = engine_->tick();
    ran = true;
  }
  return ran;
}

}  // namespace errand::sim
