#include "base/time.h"

#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace errand {
namespace {

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back.
using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

void put_digits(char* at, int64_t number, int width) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// Exactly `width` digits at the front of `text`, which then loses them.
bool take_digits(std::string_view& text, int width, int& out) {
  if (text.size() < static_cast<size_t>(width)) return false;
  out = 0;
  for (int i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(width);
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

void append_time(std::string& out, Time wall) {
  int64_t ms = wall.ms;
  int64_t days = ms / 86'400'000;
  int64_t rest = ms % 86'400'000;
  if (rest < 0) {
    rest += 86'400'000;
    --days;
  }
  const year_month_day date{sys_days{std::chrono::days{days}}};
  char text[24];
  put_digits(text, static_cast<int>(date.year()), 4);
  text[4] = '-';
  put_digits(text + 5, static_cast<unsigned>(date.month()), 2);
  text[7] = '-';
  put_digits(text + 8, static_cast<unsigned>(date.day()), 2);
  text[10] = 'T';
  put_digits(text + 11, rest / 3'600'000, 2);
  text[13] = ':';
  put_digits(text + 14, rest / 60'000 % 60, 2);
  text[16] = ':';
  put_digits(text + 17, rest / 1'000 % 60, 2);
  text[19] = '.';
  put_digits(text + 20, rest % 1'000, 3);
  text[23] = 'Z';
  out.append(text, sizeof text);
}

std::string format_time(Time wall) {
  std::string out;
  append_time(out, wall);
  return out;
}

Result<Time> parse_time(std::string_view text) {
  const auto wrong = [&] {
    return fail(Code::invalid_argument,
                fmt::format("\"{}\" is not a time; write it as 2026-11-15T09:52:03Z (RFC 3339).", text));
  };
  std::string_view rest = text;
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  if (!take_digits(rest, 4, y) || !take(rest, '-') || !take_digits(rest, 2, mo) || !take(rest, '-') ||
      !take_digits(rest, 2, d))
    return wrong();
  if (!take(rest, 'T') && !take(rest, 't') && !take(rest, ' ')) return wrong();
  if (!take_digits(rest, 2, h) || !take(rest, ':') || !take_digits(rest, 2, mi) || !take(rest, ':') ||
      !take_digits(rest, 2, s))
    return wrong();
  int64_t fraction_ms = 0;
  if (take(rest, '.')) {
    int64_t scale = 100;
    size_t digits = 0;
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
      fraction_ms += (rest.front() - '0') * scale;
      scale /= 10;
      ++digits;
      rest.remove_prefix(1);
    }
    if (digits == 0) return wrong();
  }
  int64_t offset_ms = 0;
  if (!take(rest, 'Z') && !take(rest, 'z')) {
    const bool west = take(rest, '-');
    if (!west && !take(rest, '+')) return wrong();
    int oh = 0, om = 0;
    if (!take_digits(rest, 2, oh) || !take(rest, ':') || !take_digits(rest, 2, om)) return wrong();
    if (oh > 23 || om > 59) return wrong();
    offset_ms = (oh * 60 + om) * 60'000 * (west ? -1 : 1);
  }
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)}, day{static_cast<unsigned>(d)}};
  if (!rest.empty() || !date.ok() || h > 23 || mi > 59 || s > 60) return wrong();
  const int64_t days = sys_days{date}.time_since_epoch().count();
  return Time{days * 86'400'000 + (h * 3'600LL + mi * 60 + s) * 1'000 + fraction_ms - offset_ms};
}

std::string format_duration(Millis span) {
  if (span < 0) span = 0;
  if (span < 1'000) return fmt::format("{} ms", span);
  if (span < 60'000) return fmt::format("{:.1f} s", static_cast<double>(span / 100) / 10);
  if (span < 3'600'000) return fmt::format("{} m {} s", span / 60'000, span / 1'000 % 60);
  return fmt::format("{} h {} m", span / 3'600'000, span / 60'000 % 60);
}

static Time read_clock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return {now.tv_sec * 1'000 + now.tv_nsec / 1'000'000};
}

Time SystemClock::wall() { return read_clock(CLOCK_REALTIME); }
// Counts suspended time too: a laptop that slept over a deadline has missed it.
Time SystemClock::steady() { return read_clock(CLOCK_BOOTTIME); }

}  // namespace errand
