#include "driver/programs.h"

#include <algorithm>

namespace errand {
namespace {

// Where nothing was seen yet: agents of other makers use 150 to 500 MB.
constexpr int64_t guess_bytes = 256LL << 20;

}  // namespace

void Programs::starts(const std::string& run, Program program) {
  programs_[run] = {.program = std::move(program), .began = clock_.steady()};
}

void Programs::ready(const std::string& run, const std::string& version) {
  const auto known = programs_.find(run);
  if (known == programs_.end()) return;
  Seen& seen = seen_[known->second.program.agent];
  if (!version.empty()) seen.version = version;
  if (const Time began = std::exchange(known->second.began, {}))
    seen.start_ms = std::max<Millis>(clock_.steady() - began, 1);
}

void Programs::runs(const std::string& run, Program program) {
  Known& known = programs_[run];
  program.memory_bytes = known.program.memory_bytes;
  known.program = std::move(program);
}

void Programs::uses(const std::string& run, int64_t memory_bytes) {
  const auto known = programs_.find(run);
  if (known == programs_.end() || memory_bytes <= 0) return;
  Program& program = known->second.program;
  const int64_t before = program.memory_bytes > 0 ? program.memory_bytes : expected(program.agent);
  // With the first measure of a program, that of the one before no longer counts.
  Seen& seen = seen_[program.agent];
  seen.memory_bytes = program.memory_bytes > 0 ? std::max(seen.memory_bytes, memory_bytes) : memory_bytes;
  program.memory_bytes = memory_bytes;
  if (memory_bytes < before && less_) less_();
}

void Programs::waits(const std::string& run) {
  const auto known = programs_.find(run);
  if (known != programs_.end()) known->second.program.waits = true;
}

void Programs::gone(const std::string& run) {
  if (programs_.erase(run) > 0 && less_) less_();
}

bool Programs::has(const TaskId& task, const std::string& driver) const {
  return std::ranges::any_of(programs_, [&](const auto& one) {
    const Program& program = one.second.program;
    return program.task ? program.task == task : program.driver == driver;
  });
}

int64_t Programs::expected(const std::string& agent) const {
  const auto known = seen_.find(agent);
  return known != seen_.end() && known->second.memory_bytes > 0 ? known->second.memory_bytes : guess_bytes;
}

int64_t Programs::memory() const {
  int64_t all = 0;
  for (const auto& [run, known] : programs_)
    all += known.program.memory_bytes > 0 ? known.program.memory_bytes : expected(known.program.agent);
  return all;
}

Programs::Sum Programs::sum(bool waits, const std::string& agent) const {
  Sum sum;
  for (const auto& [run, known] : programs_) {
    if (known.program.waits != waits || (!agent.empty() && known.program.agent != agent)) continue;
    ++sum.count;
    sum.memory_bytes += known.program.memory_bytes;
  }
  return sum;
}

Programs::Seen Programs::seen(const std::string& agent) const {
  const auto known = seen_.find(agent);
  return known == seen_.end() ? Seen() : known->second;
}

void Programs::want_room() const {
  for (const std::function<void()>& work : ways_to_room_) work();
}

}  // namespace errand
