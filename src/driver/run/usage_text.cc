#include "driver/run/usage_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace errand::run {
namespace {

// The kernel's letters for what a process is at (proc(5)), in the order in which they are named.
struct State {
  std::string_view letters;
  std::string_view words;
};
constexpr State states[] = {
    {"R", "running"}, {"SI", "asleep"}, {"D", "waiting for a disk"}, {"Tt", "stopped"}, {"ZXx", "dead"}};

std::string bytes_text(int64_t bytes) {
  constexpr std::string_view units[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < std::size(units); ++unit) amount /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

}  // namespace

std::string describe(const process::RunUsage& usage) {
  std::string at;
  for (const State& state : states) {
    const auto count = std::ranges::count_if(usage.states, [&](char letter) { return state.letters.contains(letter); });
    if (count > 0) at += fmt::format("{}{} {}", at.empty() ? "" : ", ", count, state.words);
  }
  return fmt::format("{} {}{}, {:.2f} s of CPU and {} of I/O so far", usage.processes,
                     usage.processes == 1 ? "process" : "processes", at.empty() ? "" : " (" + at + ")", usage.cpu_s,
                     bytes_text(usage.io_bytes));
}

}  // namespace errand::run
