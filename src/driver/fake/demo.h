// The demo agent: needs nothing, shows every kind of event, and says that it is a demonstration. Words in its prompt
// ask for what it shows, in their order; `demo_words` is the one table that the scripts and the help text are made
// from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/timers.h"
#include "driver/driver.h"
#include "driver/fake/fake_driver.h"
#include "driver/fake/script.h"

namespace errand::fake {

struct DemoWord {
  std::string_view word;
  std::string_view argument;  // What a number behind the word means; empty: it takes none.
  int64_t number = 0;         // Where none is given.
  int64_t number_max = 0;
  std::string_view effect;  // One line for the help text.
  void (*add)(Script& script, const Prompt& prompt, int64_t number);
};

std::span<const DemoWord> demo_words();

// The script of one turn. Words past `demo_words_max` are left out, and it says so.
Script demo_script(const Prompt& prompt);
inline constexpr int demo_words_max = 32;

std::unique_ptr<FakeDriver> make_demo_driver(Timers& timers);

}  // namespace errand::fake
