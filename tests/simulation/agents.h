// What the simulated agents do: random scripts, and random misbehaviour.
//
// Everything follows from the seed and from what the turn is asked for, so that a turn taken up again goes on with the
// script that it had.
#pragma once

#include <cstdint>
#include <string>

#include "driver/fake/fake_driver.h"

namespace errand::sim {

// Every message of a simulated client has a mark in it, which the agent repeats once when it takes the message: so the
// transcript shows what reached it, how often and in which order.
std::string mark(int number);
// How the message with this mark was sent: the number says so.
inline WaitingMessage::When when_of(int number) { return static_cast<WaitingMessage::When>(number % 3); }
// The numbers of all marks in `text`, in order.
std::vector<int> marks_in(std::string_view text);

fake::Script script_for(uint64_t seed, const fake::Prompt& prompt);

// `one_in`: each kind of misbehaviour once in so many turns; 0 for none.
fake::Misbehaviour misbehaviour_of(uint64_t seed, const TaskId& task, int run, uint64_t one_in);

}  // namespace errand::sim
