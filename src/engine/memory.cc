#include "engine/memory.h"

#include <fmt/format.h>

namespace errand {
namespace {

std::string size_text(int64_t bytes) { return fmt::format("{} MiB", (bytes + (1 << 20) - 1) >> 20); }

}  // namespace

bool Memory::is_program(const std::string& agent_id) const {
  const std::shared_ptr<const Agent> agent = agents_.find(agent_id);
  return agent && programs_->runs_programs(agent->driver);
}

Memory::Load Memory::load() const {
  Load load{.bytes = programs_->memory()};
  slots_.each_holder([&](const TaskId& id, const std::string& agent_id) {
    const std::shared_ptr<const Agent> agent = agents_.find(agent_id);
    if (!agent || !programs_->runs_programs(agent->driver)) return;
    load.at_work = true;
    if (!programs_->has(id, agent->driver)) load.bytes += programs_->expected(agent_id);
  });
  return load;
}

bool Memory::hold(const std::string& agent_id) const {
  if (programs_ == nullptr || most_ <= 0 || !is_program(agent_id)) return false;
  const Load now = load();
  if (now.bytes < most_) return false;
  programs_->want_room();
  return now.at_work;
}

std::string Memory::why() const {
  return fmt::format("The agents' programs use {}, and max_memory is {}: it begins when one of them has ended.",
                     size_text(programs_ == nullptr ? 0 : load().bytes), size_text(most_));
}

}  // namespace errand
