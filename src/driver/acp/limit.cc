#include "driver/acp/limit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "task/task.h"

namespace errand::acp {
namespace {

namespace json = boost::json;

constexpr int depth_max = 8;
constexpr size_t text_max = 64 * 1024;

// What providers and agents call it, in an error's fields.
constexpr auto names = std::to_array<std::string_view>(
    {"rate_limit", "rate_limit_error", "rate_limit_exceeded", "ratelimitexceeded", "resource_exhausted",
     "usage_limit_reached", "usage_limit_exceeded", "usagelimitexceeded", "insufficient_quota", "quota_exceeded",
     "quotaexceeded", "too_many_requests"});
// And in sentences.
constexpr auto phrases = std::to_array<std::string_view>(
    {"usage limit", "rate limit", "rate_limit", "too many requests", "exceeded your current quota", "quota exceeded",
     "resource_exhausted", "hit your limit", "limit reached"});

std::string lower(std::string_view text) {
  std::string out(text.substr(0, text_max));
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "429" as a word of its own.
bool has_429(std::string_view text) {
  const auto digit = [&](size_t at) { return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); };
  for (size_t at = text.find("429"); at != std::string_view::npos; at = text.find("429", at + 1))
    if (!(at > 0 && digit(at - 1)) && !digit(at + 3)) return true;
  return false;
}

bool is_named(std::string_view value) { return std::ranges::find(names, value) != names.end(); }

Time epoch(double value) {
  if (!std::isfinite(value) || value <= 0) return {};
  if (value < 1e11) value *= 1'000;  // Seconds.
  return value < 253'402'300'800'000.0 ? Time{static_cast<int64_t>(value)} : Time{};
}

std::optional<double> number_in(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  const json::string* const text = value.if_string();
  if (text == nullptr || text->empty()) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text->data() + text->size() - end));
  if (unit == "ms") return number / 1'000;
  return unit.empty() || unit == "s" ? std::optional(number) : std::nullopt;
}

class Finding {
 public:
  explicit Finding(Time now) : now_(now) {}

  void look(const json::value& value, int depth = 0) {
    if (depth > depth_max) return;
    if (const json::array* const items = value.if_array())
      for (const json::value& item : *items) look(item, depth + 1);
    if (const json::object* const fields = value.if_object())
      for (const auto& field : *fields) {
        take(lower(field.key()), field.value());
        look(field.value(), depth + 1);
      }
  }

  bool is_limit = false;
  Time until;

 private:
  void take(const std::string& name, const json::value& value) {
    if (name == "status" || name == "statuscode" || name == "status_code" || name == "httpstatus" || name == "code" ||
        name == "type" || name == "error" || name == "errorname" || name == "reason" || name == "codex_error_info") {
      if (value.is_number() && value.to_number<double>() == 429) is_limit = true;
      if (value.is_string() && (value.get_string() == "429" || is_named(lower(value.get_string())))) is_limit = true;
    }
    const std::optional<double> number = number_in(value);
    if (!number) return;
    if (name == "resets_at" || name == "resetsat" || name == "reset_at" || name == "resetat") later(epoch(*number));
    if (name == "resets_in_seconds" || name == "retry_after" || name == "retryafter" || name == "retry-after" ||
        name == "retrydelay" || name == "retry_delay")
      after(*number);
  }
  void after(double seconds) {
    if (std::isfinite(seconds) && seconds > 0 && seconds < 1e9) later(now_ + static_cast<Millis>(seconds * 1'000));
  }
  void later(Time time) { until = std::max(until, time); }

  const Time now_;
};

// "Claude AI usage limit reached|1760000000"
Time time_behind_bar(std::string_view text) {
  const size_t bar = text.rfind('|');
  if (bar == std::string_view::npos) return {};
  int64_t seconds = 0;
  const std::string_view digits = text.substr(bar + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  return error == std::errc() && end != digits.data() ? epoch(static_cast<double>(seconds)) : Time{};
}

// "try again in 1 hour 20 minutes", "retry in 34.07s", "in 3 days 5h": the numbers behind the first "in " that is
// followed by one.
Millis span_in(std::string_view text) {
  for (size_t at = text.find("in "); at != std::string_view::npos; at = text.find("in ", at + 1)) {
    if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1]))) continue;
    std::string_view rest = text.substr(at + 3);
    double seconds = 0;
    bool any = false;
    while (true) {
      while (rest.starts_with(' ') || rest.starts_with(',')) rest.remove_prefix(1);
      if (rest.starts_with("and ")) rest.remove_prefix(4);
      double number = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error != std::errc() || !std::isfinite(number) || number < 0) break;
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      const double unit = rest.starts_with("ms") || rest.starts_with("millis") ? 0.001
                          : rest.starts_with('d')                              ? 86'400
                          : rest.starts_with('h')                              ? 3'600
                          : rest.starts_with('m')                              ? 60
                          : rest.starts_with('s')                              ? 1
                                                                               : 0;
      if (unit == 0) break;
      seconds += number * unit;
      any = true;
      while (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest.front()))) rest.remove_prefix(1);
    }
    if (any && seconds < 1e9) return static_cast<Millis>(seconds * 1'000);
  }
  return 0;
}

}  // namespace

std::optional<Limit> limit_in(const RpcError& error, Time now) {
  Finding finding(now);
  boost::system::error_code wrong;
  if (const json::value details = json::parse(error.details.empty() ? "null" : error.details, wrong); !wrong)
    finding.look(details);
  const std::string message = lower(error.message);
  const bool said = std::ranges::any_of(phrases, [&](std::string_view phrase) { return message.contains(phrase); });
  if (!finding.is_limit && error.code != 429 && !said && !has_429(message)) return std::nullopt;
  Limit limit{.until = finding.until};
  if (!limit.until) limit.until = time_behind_bar(message);
  if (const Millis span = limit.until ? 0 : span_in(message); span > 0) limit.until = now + span;
  if (limit.until <= now) limit.until = {};
  return limit;
}

}  // namespace errand::acp
