#include "driver/claude/outcome.h"

#include <charconv>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"

namespace errand::claude {
namespace {

constexpr std::string_view log_in =
    "Run `claude` once where the errand server runs, as the same user, and type /login; or set ANTHROPIC_API_KEY (or "
    "CLAUDE_CODE_OAUTH_TOKEN, which `claude setup-token` makes) for the server and start it again. Then `errand retry` "
    "the task.";

Outcome failed(std::string code, std::string message, std::string details = {}) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::failed;
  outcome.error = TaskError{std::move(code), std::move(message), std::move(details)};
  return outcome;
}

// A sentence of somebody else's, before one of ours.
std::string sentence(std::string_view said) {
  std::string out = one_line(said);
  if (!out.empty() && out.back() != '.' && out.back() != '!' && out.back() != '?') out += '.';
  return out;
}

bool is_about_login(const Event& result) {
  return result.status == 401 || result.error == "authentication_failed" || result.text.contains("/login") ||
         result.text.starts_with("Invalid API key") || result.text.contains("OAuth token");
}

}  // namespace

Outcome login_required(std::string_view said) {
  return failed("login_required", fmt::format("Claude Code has no login that works. It said: {} {}",
                                              sentence(said.empty() ? "Not logged in" : said), log_in));
}

bool is_usage_limit(const Event& result) {
  return result.is_error &&
         (result.status == 429 || result.error == "rate_limit" || result.text.contains("usage limit reached"));
}

// "Claude AI usage limit reached|1760000000"
Time reset_time(std::string_view text) {
  const size_t bar = text.rfind('|');
  if (bar == std::string_view::npos) return {};
  const std::string_view digits = text.substr(bar + 1);
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  const bool plain = error == std::errc() && end == digits.data() + digits.size();
  return plain && seconds > 0 && seconds < 253'402'300'800 ? Time{seconds * 1000} : Time{};
}

Outcome outcome_of(const Event& result) {
  if (!result.is_error) {
    Outcome outcome;
    outcome.result = result.text;
    return outcome;
  }
  if (is_about_login(result)) return login_required(result.text);
  if (result.text.starts_with("No conversation found"))
    return failed("session_gone",
                  "Claude Code no longer has this conversation: its file under ~/.claude/projects was removed, or the "
                  "server runs as another user. Launch the task anew, or fork it: a fork has what errand kept of it.");
  if (result.subtype == "error_max_turns")
    return failed(
        "max_steps",
        "Claude Code used all the steps that this agent has for a turn (max_steps). Send a message to go on.");
  std::string details;
  JsonOut out(details);
  out.object().field("subtype", result.subtype).field("terminal_reason", result.terminal_reason);
  if (result.status > 0) out.field("http_status", result.status);
  out.end();
  return failed("agent_error", result.text.empty() ? "Claude Code failed and did not say why." : result.text,
                std::move(details));
}

Outcome outcome_of(const lines::End& end) {
  using How = process::RunEnd::How;
  const std::string how = describe(end);
  if (end.how == lines::End::How::not_started) {
    if (end.error.reason == process::supervisor_unavailable) return failed(end.error.reason, end.error.message);
    return failed("spawn_failed",
                  how + " Install Claude Code (`npm install -g @anthropic-ai/claude-code`), or see `errand doctor`.");
  }
  if (end.how == lines::End::How::broken) return failed("agent_error", "Claude Code cannot be understood. " + how);
  if (end.run.how == How::lost) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::lost;
    outcome.error = TaskError{"interrupted", one_line(end.run.text), {}};
    return outcome;
  }
  if (end.run.how == How::limit)
    return failed("limit", fmt::format("Claude Code went over its limit of {} and was ended.", end.run.limit));
  if (end.last_words.contains("root/sudo"))
    return failed("root_refused",
                  "Claude Code refuses to skip permissions as root. Leave the agent's option permission_mode out, so "
                  "that errand's own permissions decide (`errand ask --permission allow`), or run the server as an "
                  "ordinary user.");
  if (end.last_words.contains("No conversation found")) {
    Event gone;
    gone.is_error = true;
    gone.text = "No conversation found";
    return outcome_of(gone);
  }
  Outcome outcome = failed("agent_died", "Claude Code ended in the middle of its work. " + how +
                                             " Its conversation is kept: `errand retry` goes on with it.");
  if (end.run.signal > 0)
    outcome.signal = end.run.signal;
  else
    outcome.exit_code = end.run.exit_code;
  return outcome;
}

}  // namespace errand::claude
