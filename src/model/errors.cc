#include "model/errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "base/text.h"
#include "http/field.h"

namespace errand::model {
namespace {

constexpr size_t message_max = 1'000;
constexpr size_t secret_min = 4;  // Shorter ones would black out ordinary words.

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

// Said in many ways; all of them about the length of what was sent.
bool is_too_long(const ProviderError& error) {
  if (has_any(error.code, {"context_length_exceeded", "string_above_max_length"})) return true;
  if (has_any(error.type, {"exceed_context_size", "context_exceeded", "request_too_large"})) return true;
  return has_any(
      http::lower(error.message),
      {"prompt is too long", "exceed context limit", "maximum context length", "context_length_exceeded",
       "exceeds the available context size", "exceeds context size", "exceeds the context window",
       "exceed the context window", "input is too long", "too many tokens", "reduce the length of the messages",
       "context window exceeded", "exceeds the model's context", "longer than the maximum model length"});
}

// A limit of usage or money, not of how much at once.
bool is_quota(const ProviderError& error) {
  if (has_any(error.code, {"insufficient_quota", "billing_hard_limit", "enforced_spend_limit", "usage_limit",
                           "quota_exceeded", "credits_exhausted"}))
    return true;
  if (has_any(error.type, {"insufficient_quota", "billing_error", "usage_limit"})) return true;
  return has_any(http::lower(error.message),
                 {"credit balance is too low", "exceeded your current quota", "usage limit", "spend limit",
                  "spending limit", "insufficient credits", "insufficient balance", "out of credits", "quota exceeded",
                  "monthly limit", "weekly limit", "daily limit"});
}

std::string sentence(int status, const ProviderError& error) {
  std::string what = error.type;
  if (!error.code.empty() && error.code != error.type) what += (what.empty() ? "" : ", ") + error.code;
  std::string out = status ? fmt::format("The model's server answered {}", status) : "The model's server said";
  if (!what.empty()) out += fmt::format(" ({})", what);
  const std::string said = to_utf8(error.message);
  if (!said.empty()) out += fmt::format(": {}", first_characters(said, message_max));
  return out;
}

Failure::Kind kind_of(int status, const ProviderError& error) {
  using Kind = Failure::Kind;
  // Some local servers answer 500 to this.
  if (status != 401 && status != 403 && status != 429 && is_too_long(error)) return Kind::context_too_long;
  if (status == 402 || ((status == 429 || status == 400 || status == 403 || status == 0) && is_quota(error)))
    return Kind::quota;
  if (status == 401 || status == 403 || has_any(error.type, {"authentication_error", "permission_error"}) ||
      error.code == "invalid_api_key")
    return Kind::auth;
  if (status == 413) return Kind::context_too_long;
  if (status == 408 || status == 409 || status == 429 || status >= 500) return Kind::overloaded;
  if (status == 0)
    return has_any(error.type, {"invalid_request_error", "not_found_error"}) ? Kind::invalid : Kind::overloaded;
  return Kind::invalid;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<Millis> in_millis(std::optional<double> value, double unit) {
  constexpr double year_ms = 366.0 * 24 * 3600 * 1000;
  if (!value || *value * unit < 0) return std::nullopt;
  return static_cast<Millis>(std::min(*value * unit, year_ms));
}

// When the limit that is used up is counted anew; the latest, where there are several.
Time reset_of(const http::Head& head, Time now) {
  Time latest;
  for (const auto& [name, value] : head.headers) {
    if (!name.starts_with("anthropic-ratelimit-") || !name.ends_with("-reset")) continue;
    const std::string remaining = name.substr(0, name.size() - 5) + "remaining";
    if (const std::string_view left = head.header(remaining); !left.empty() && left != "0") continue;
    // RFC 3339, or seconds since 1970.
    Time at;
    if (const auto parsed = parse_time(value))
      at = *parsed;
    else if (const auto seconds = in_millis(number(value), 1); seconds && *seconds > 1'000'000'000)
      at = {*seconds * 1000};
    if (at > now && at > latest) latest = at;
  }
  return latest;
}

// Letters, digits and what else keys are made of.
bool is_key_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-_.*+/=~").contains(c);
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  if (what.size() < secret_min) return;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// `sk-...` and the like, also half masked: whoever answers may quote what it was sent.
void hide_keys(std::string& text) {
  for (const std::string_view start : {"sk-", "sk_", "Bearer ", "bearer "}) {
    for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
      size_t end = at + start.size();
      while (end < text.size() && is_key_character(text[end])) ++end;
      const bool word = at > 0 && is_key_character(text[at - 1]) && text[at - 1] != '=';
      if (word || end - at - start.size() < secret_min) {
        at = end;
        continue;
      }
      text.replace(at, end - at, "[key]");
      at += 5;
    }
  }
}

}  // namespace

std::optional<Millis> parse_retry_after(std::string_view text, Time now) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  if (const auto seconds = number(text)) return in_millis(seconds, 1000);
  std::tm parts{};
  const std::string date(text);
  if (!::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts)) return std::nullopt;
  const Time at{static_cast<int64_t>(::timegm(&parts)) * 1000};
  return at > now ? std::optional(at - now) : std::nullopt;
}

Refusal judge_status(const http::Head& head, std::string_view body, const AskLimits& limits, Time now) {
  const ProviderError error = decode_error(body);
  Refusal out;
  out.failure.kind = kind_of(head.status, error);
  out.failure.status = head.status;
  out.failure.message = sentence(head.status, error);
  if (const auto exact = in_millis(number(head.header("retry-after-ms")), 1); exact && *exact > 0)
    out.asked_ms = exact;
  else if (const auto asked = parse_retry_after(head.header("retry-after"), now); asked && *asked > 0)
    out.asked_ms = asked;

  out.try_again = head.status == 408 || head.status == 409 || head.status == 429 || head.status >= 500;
  const std::string_view told = head.header("x-should-retry");
  if (told == "true") out.try_again = true;
  if (told == "false") out.try_again = false;

  using Kind = Failure::Kind;
  // Whoever asks us to come back in an hour has set a limit, whatever it is called.
  const bool far = out.asked_ms && *out.asked_ms > limits.asked_wait_max_ms;
  if (out.failure.kind == Kind::overloaded && head.status == 429 && far) out.failure.kind = Kind::quota;
  if (far) out.try_again = false;
  if (out.failure.kind == Kind::quota || out.failure.kind == Kind::context_too_long) out.try_again = false;
  if (out.asked_ms) out.failure.retry_at = now + *out.asked_ms;
  if (out.failure.kind == Kind::quota && !out.failure.retry_at) out.failure.retry_at = reset_of(head, now);
  out.failure.retry_at = std::min(out.failure.retry_at, now + limits.retry_at_max_ms);
  out.failure.retryable = out.failure.kind == Kind::overloaded || out.failure.kind == Kind::quota || out.try_again;
  return out;
}

Refusal judge_stream(const ProviderError& error, bool began) {
  Refusal out;
  using Kind = Failure::Kind;
  // Gateways put the status of what is behind them into the error's code.
  const auto code = number(error.code);
  const int status = code && *code >= 400 && *code < 600 ? static_cast<int>(*code) : 0;
  out.failure.kind = error.malformed ? Kind::cut : kind_of(status, error);
  out.failure.message = error.malformed ? error.message : sentence(0, error);
  const bool passing = out.failure.kind == Kind::cut || out.failure.kind == Kind::overloaded;
  if (passing && began) out.failure.kind = Kind::cut;
  out.failure.retryable = passing || out.failure.kind == Kind::quota;
  out.try_again = passing && !began;
  return out;
}

Refusal judge_network(const Error& error, bool began) {
  Refusal out;
  out.failure.kind = began ? Failure::Kind::cut : Failure::Kind::network;
  out.failure.message = error.message;
  const bool hopeless =
      error.reason == "tls" || error.reason == "invalid" || error.reason == "no_library" || error.reason == "too_large";
  if (error.reason == "invalid") out.failure.kind = Failure::Kind::invalid;
  out.failure.retryable = !hopeless;
  out.try_again = !hopeless && !began;
  return out;
}

std::string redact(std::string text, const Endpoint& endpoint) {
  replace_all(text, endpoint.key, "[key]");
  for (const auto& [name, value] : endpoint.headers) {
    replace_all(text, value, "[key]");
    if (const size_t space = value.rfind(' '); space != std::string::npos)
      replace_all(text, value.substr(space + 1), "[key]");
  }
  hide_keys(text);
  return text;
}

Millis backoff(const AskLimits& limits, int tries, double chance) {
  const Millis whole = std::min(limits.first_wait_ms << std::min(tries, 20), limits.wait_max_ms);
  return static_cast<Millis>(static_cast<double>(whole) * (1 - chance * 0.25));
}

}  // namespace errand::model
