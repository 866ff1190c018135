#include "cli/duration.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace errand::cli {

namespace {

constexpr Millis duration_max = 10LL * 366 * 86'400'000;
constexpr double size_max = 1LL << 50;

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

Result<int64_t> parse_size(std::string_view text) {
  auto wrong = [&] {
    return fail(
        Code::invalid_argument,
        fmt::format("\"{}\" is not a size: write bytes (1000000) or a number with a unit (512K, 64M, 1.5G).", text));
  };
  size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string_view number = text.substr(0, digits), unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return wrong();
  constexpr std::string_view units = "KMGT";
  double scale = 1;
  if (!unit.empty() && unit != "B" && unit != "b") {
    const char letter = static_cast<char>(unit[0] >= 'a' ? unit[0] - 32 : unit[0]);
    const size_t power = units.find(letter);
    const std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "b" || rest == "iB"))
      return wrong();
    scale = std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (value * scale > size_max) return wrong();
  return std::llround(value * scale);
}

std::string size_words(int64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t power = 0;
  while (value >= 1024 && power < 4) {
    value /= 1024;
    ++power;
  }
  const bool whole = value == std::floor(value) || value >= 100;
  return whole ? fmt::format("{:.0f} {}", value, units[power]) : fmt::format("{:.1f} {}", value, units[power]);
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

std::string local_time(Time at, Time now) {
  const auto broken_down = [](Time time) {
    const time_t seconds = static_cast<time_t>(time.ms / 1000);
    std::tm parts = {};
    ::localtime_r(&seconds, &parts);
    return parts;
  };
  const std::tm then = broken_down(at), today = broken_down(now);
  const bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
  return same_day ? fmt::format("{:02}:{:02}:{:02}", then.tm_hour, then.tm_min, then.tm_sec)
                  : fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}", then.tm_year + 1900, then.tm_mon + 1, then.tm_mday,
                                then.tm_hour, then.tm_min, then.tm_sec);
}

}  // namespace errand::cli
