#include "cli/duration.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace errand::cli {

namespace {

constexpr Millis duration_max = 10LL * 366 * 86'400'000;

Millis unit_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit.empty() || unit == "s") return 1'000;
  if (unit == "m" || unit == "min") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  return 0;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  auto wrong = [&] {
    return fail(
        Code::invalid_argument,
        fmt::format("\"{}\" is not a duration: write seconds (90) or a number with a unit (90s, 5m, 2h, 1h30m, 1d).",
                    text));
  };
  std::string_view rest = text;
  if (rest.empty()) return wrong();
  double total = 0;
  while (!rest.empty()) {
    size_t digits = rest.find_first_not_of("0123456789.");
    if (digits == 0) return wrong();
    std::string_view number = rest.substr(0, digits);
    rest.remove_prefix(number.size());
    size_t letters = rest.find_first_of("0123456789.");
    std::string_view unit = rest.substr(0, letters);
    rest.remove_prefix(unit.size());
    double value = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size()) return wrong();
    Millis ms = unit_ms(unit);
    if (ms == 0) return wrong();
    total += value * static_cast<double>(ms);
    if (total > static_cast<double>(duration_max)) return wrong();
  }
  return static_cast<Millis>(std::llround(total));
}

std::string short_duration(Millis span) {
  Millis s = span < 0 ? 0 : span / 1'000;
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3'600) return fmt::format("{}m", s / 60);
  if (s < 86'400) return fmt::format("{}h", s / 3'600);
  return fmt::format("{}d", s / 86'400);
}

std::string clock_duration(Millis span) {
  Millis s = span < 0 ? 0 : span / 1'000;
  if (s < 3'600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3'600, s / 60 % 60, s % 60);
}

}  // namespace errand::cli
