#include "cli/reply_words.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/escape_filter.h"
#include "base/text.h"

namespace errand::cli {
namespace {

const std::vector<std::string> decisions = {"allow", "allow_always", "deny"};

// A task that asked under an older server names no options of a permission.
const std::vector<std::string>& options_of(const WaitingInfo& waiting) {
  return waiting.kind == "permission" && waiting.options.empty() ? decisions : waiting.options;
}

std::string decision_of(std::string_view word) {
  if (word == "allow" || word == "yes" || word == "y") return "allow";
  if (word == "always" || word == "allow_always" || word == "allow-always") return "allow_always";
  if (word == "deny" || word == "no" || word == "n") return "deny";
  return {};
}

bool is_number(std::string_view word) {
  return !word.empty() && word.size() <= 9 && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> picked(const std::vector<std::string>& options, std::string_view word) {
  const auto at = static_cast<size_t>(std::stoul(std::string(word)));
  if (at < 1 || at > options.size()) return std::nullopt;
  return options[at - 1];
}

}  // namespace

std::vector<std::string> numbered_options(const WaitingInfo& waiting) {
  std::vector<std::string> lines;
  for (const std::string& option : options_of(waiting)) lines.push_back(fmt::format("{} {}", lines.size() + 1, option));
  for (const WaitingInfo::Pattern& pattern : waiting.patterns)
    lines.push_back(fmt::format("{} allow {} in this task", lines.size() + 1, pattern.text));
  return lines;
}

Result<ReplyWords> reply_words(const WaitingInfo& waiting, std::string_view typed, bool literally) {
  const std::vector<std::string>& options = options_of(waiting);
  const std::string_view word = trim(typed);
  const bool permission = waiting.kind == "permission";
  if (permission) {
    if (word == "task" || word == "agent") return ReplyWords{.decision = "allow", .scope = std::string(word)};
    size_t at = word == "pattern" ? 0 : waiting.patterns.size();
    if (is_number(word) && std::stoul(std::string(word)) > options.size())
      at = std::stoul(std::string(word)) - options.size() - 1;
    if (at < waiting.patterns.size())
      return ReplyWords{.decision = "allow", .scope = "pattern", .pattern = waiting.patterns[at].pattern};
    if (word == "pattern")
      return fail(Code::invalid_argument, "This request offers no patterns. Answer allow, always, task, agent or deny.",
                  "usage");
  }
  const bool known = std::ranges::find(options, word) != options.end();
  std::string meant(permission ? word : typed);
  if (!literally && !known && !options.empty() && is_number(word)) {
    const std::optional<std::string> option = picked(options, word);
    if (!option)
      return fail(Code::invalid_argument,
                  fmt::format("The question has no option {}. Answer with one of: {}{}.", word,
                              shown_line(fmt::format("{}", fmt::join(numbered_options(waiting), ", "))),
                              permission ? "" : "; --literal sends the number as text"),
                  "usage");
    meant = *option;
  }
  if (!permission) return ReplyWords{.decision = {}, .answer = std::move(meant)};
  std::string decision = decision_of(meant);
  if (decision.empty())
    return fail(
        Code::invalid_argument,
        fmt::format(
            "The task asks for permission. Answer allow, always, pattern, task, agent or deny; --message sends it a "
            "message. It asks: {}",
            shown_line(waiting.text)),
        "usage");
  return ReplyWords{.decision = std::move(decision), .answer = {}};
}

}  // namespace errand::cli
