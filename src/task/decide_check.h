// What every step of `decide` must keep, whatever the task and the input: shared by the tests that try all of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "task/decide.h"

namespace errand {

// The rule that this one step breaks, in words; empty where it keeps them all.
std::string broken_rule(const Task& before, const Input& input, const Result<Step>& result, Time now);

// What must hold along a whole life of one task: fed with each step in turn.
class LifeCheck {
 public:
  explicit LifeCheck(const Step& created);
  std::string broken_rule(const Task& before, const Input& input, const Step& step);

 private:
  void gave(const std::vector<MessageId>& messages, std::string& broken);

  std::set<int> ended_turns_;
  std::set<int> cut_turns_;  // By a message that interrupts: the next turn tells the parent.
  std::set<MessageId> given_to_this_run_;
  bool ended_ = false;  // The last event so far was `end`.
};

bool has_event(const Step& step, EventType type);
template <class E>
const E* find_effect(const Step& step) {
  for (const Effect& effect : step.effects)
    if (const E* found = std::get_if<E>(&effect)) return found;
  return nullptr;
}
// For messages of failing tests.
std::string describe(const Task& task);
std::string describe(const Input& input);

// One input of every kind, several values each: good ones for this task, stale ones and nonsense.
std::vector<Input> all_inputs(const Task& task, int serial);

}  // namespace errand
