#include "fork/fork.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "fork/cut.h"
#include "fork/tokens.h"

namespace errand::fork {
namespace {

// The preamble is counted in before it is known.
constexpr int64_t preamble_tokens = 250;

// Of the profile `tiered`.
constexpr int64_t whole_results = 5, recent_results = 10;
constexpr int64_t recent_characters = 3'000, old_characters = 500;
constexpr int64_t conversation_characters = 200'000;

constexpr std::string_view compaction_name = "compaction";

// A call that has no result (in a conversation that goes on without it nobody will give one) is settled.
class Settling {
 public:
  explicit Settling(std::string_view launched_by) : launched_by_(launched_by) {}

  void settle(std::vector<Message>& messages) {
    for (size_t m = 0; m < messages.size(); ++m)
      for (const Part& part : messages[m].parts) {
        if (part.type == PartType::tool_call) open_[part.call_id].push_back(m);
        if (part.type != PartType::tool_result) continue;
        const auto calls = open_.find(part.call_id);
        if (calls == open_.end()) continue;
        calls->second.pop_back();
        if (calls->second.empty()) open_.erase(calls);
      }
    // Ids may come again in later turns: how many of an id are open in a message, the last ones of it.
    std::unordered_map<size_t, std::unordered_map<std::string, int>> in_message;
    for (const auto& [id, calls] : open_)
      for (const size_t m : calls) ++in_message[m][std::string(id)];
    for (auto& [m, ids] : in_message) insert_results(messages[m].parts, ids);
  }

 private:
  void insert_results(std::vector<Part>& parts, std::unordered_map<std::string, int>& ids) const {
    std::vector<Part> out;
    for (Part& part : std::views::reverse(parts)) {
      if (part.type == PartType::tool_call)
        if (const auto open = ids.find(part.call_id); open != ids.end() && open->second > 0) {
          --open->second;
          out.push_back(result_of(part));
        }
      out.push_back(std::move(part));
    }
    std::ranges::reverse(out);
    parts = std::move(out);
  }

  Part result_of(const Part& call) const {
    Part result{.type = PartType::tool_result, .call_id = call.call_id};
    if (!launched_by_.empty() && call.call_id == launched_by_) {
      result.text =
          "This call launched a fork of the conversation, and you are that fork: what it asked for is the next "
          "message, "
          "and yours to do. Do not launch it again.";
    } else {
      result.text =
          "No result: this call had not ended when the conversation was forked. It may have had effects; look before "
          "you repeat it.";
      result.is_error = true;
    }
    result.size = static_cast<int64_t>(result.text.size());
    return result;
  }

  std::string_view launched_by_;
  std::unordered_map<std::string_view, std::vector<size_t>> open_;
};

// Results whose call is not there: it went with the oldest messages.
int64_t drop_orphans(std::vector<Message>& messages) {
  int64_t dropped = 0;
  std::unordered_map<std::string, int> open;
  for (Message& message : messages)
    std::erase_if(message.parts, [&](const Part& part) {
      if (part.type == PartType::tool_call) ++open[part.call_id];
      if (part.type != PartType::tool_result) return false;
      const auto call = open.find(part.call_id);
      if (call != open.end() && call->second > 0) {
        --call->second;
        return false;
      }
      ++dropped;
      return true;
    });
  return dropped;
}

bool looks_failed(std::string_view text) {
  static constexpr std::array<std::string_view, 4> words = {"error", "failed", "exception", "traceback"};
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; };
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return !std::ranges::search(text, word, same).empty(); });
}

bool is_shell(std::string_view tool) {
  return contains_text(tool, "bash") || contains_text(tool, "pty") || contains_text(tool, "exec");
}

// Cuts results as the profile has it. They are shown to it from the newest to the oldest.
class Results {
 public:
  Results(const Limits& limits, const std::vector<Message>& history) : limits_(limits) {
    if (limits.profile == Profile::plain) return;
    for (const Message& message : history)
      for (const Part& part : message.parts)
        if (part.type == PartType::tool_call) names_[part.call_id] = part.name;
  }

  bool cut(Part& result) {
    if (limits_.profile == Profile::plain) return cut_result(result, limits_.tool_result_chars, false);
    const int64_t age = seen_++;
    if (age < whole_results) return false;
    const auto name = names_.find(result.call_id);
    const std::string_view tool = name == names_.end() ? std::string_view() : std::string_view(name->second);
    if (tool == "ask_user_questions") return false;
    const int64_t characters = age < whole_results + recent_results ? recent_characters : old_characters;
    if (static_cast<int64_t>(result.text.size()) <= characters) return false;
    return cut_result(result, characters, is_shell(tool) || looks_failed(result.text));
  }

 private:
  const Limits& limits_;
  std::unordered_map<std::string, std::string> names_;
  int64_t seen_ = 0;
};

int64_t characters_of(const Message& message) {
  size_t characters = 0;
  for (const Part& part : message.parts) characters += count_characters(part.text) + count_characters(part.input);
  return static_cast<int64_t>(characters);
}

bool is_compaction(const Message& message) {
  return message.role == Role::system && std::ranges::any_of(message.parts, [](const Part& part) {
           return part.type == PartType::notice && part.name == compaction_name;
         });
}

// The sum of the messages' estimates, and no further than is needed to know that it is over `limit`.
int64_t tokens_to(const Message& message, int64_t limit) {
  size_t bytes = 0;
  for (const Part& part : message.parts) bytes += part.text.size() + part.input.size() + part.url.size();
  if (bytes < 64 * 1024) return estimate_tokens(message);
  int64_t tokens = 0;
  for (const Part& part : message.parts) {
    tokens += estimate_tokens_to(part.text, limit - tokens) + estimate_tokens_to(part.input, limit - tokens);
    if (tokens > limit) return tokens;
  }
  return estimate_tokens(message);
}

std::string counted(int64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_commas(number), number == 1 ? one : many);
}

std::string preamble_of(const Prepared& prepared, const Limits& limits, bool summary) {
  std::string text =
      "This conversation is a fork: the messages before this one were copied from another session, so that you know "
      "what "
      "was said and done there. What you are asked to do comes next; the other session goes on by itself.\n\nThe copy "
      "may "
      "be cut.";
  if (limits.profile == Profile::plain)
    text += fmt::format(" Tool results longer than {} characters were cut to that length ({}).",
                        with_commas(limits.tool_result_chars),
                        prepared.results_cut == 0 ? "none was" : counted(prepared.results_cut, "was", "were"));
  else
    text += fmt::format(" Older tool results were shortened, the older the more ({}).",
                        prepared.results_cut == 0 ? "none was" : counted(prepared.results_cut, "was", "were"));
  if (summary) text += " It begins with a summary in place of what was before.";
  if (prepared.messages_dropped > 0)
    text += fmt::format(" The oldest {} left out to stay under the limit of length.",
                        counted(prepared.messages_dropped, "message was", "messages were"));
  if (prepared.parts_cut > 0)
    text += fmt::format(" {} too long and cut or left out.", counted(prepared.parts_cut, "part was", "parts were"));
  text +=
      " Files may have changed since. Where you need the whole of something, read the file or run the command again "
      "instead of guessing.";
  return text;
}

// From the newest back, as many as fit; what is before them goes.
void keep_what_fits(std::vector<Message>& messages, const Limits& limits, Prepared& out) {
  Results results(limits, messages);
  const int64_t budget = limits.tokens - preamble_tokens;
  int64_t tokens = 0;
  int64_t characters = 0;
  size_t first = messages.size();
  while (first > 0) {
    Message& message = messages[first - 1];
    int64_t results_cut = 0;
    for (Part& part : std::views::reverse(message.parts))
      if (part.type == PartType::tool_result && results.cut(part)) ++results_cut;
    const int64_t room = budget - tokens;
    int64_t size = tokens_to(message, budget);
    // One that is over the limit alone is cut to what is left, and what is older goes.
    const bool too_long = size > budget;
    if (too_long && room >= budget / 8) {
      out.parts_cut += cut_message(message, room);
      size = estimate_tokens(message);
    }
    if (limits.profile == Profile::tiered) characters += characters_of(message);
    const bool newest = first == messages.size();
    if (size > room || (!newest && limits.profile == Profile::tiered && characters > conversation_characters)) break;
    tokens += size;
    out.results_cut += results_cut;
    --first;
    if (too_long) break;
  }
  out.messages_dropped += static_cast<int64_t>(first);
  messages.erase(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(first));
}

}  // namespace

std::string_view name(Profile profile) { return profile == Profile::plain ? "plain" : "tiered"; }

std::optional<Profile> parse_profile(std::string_view text) {
  if (text == "plain") return Profile::plain;
  if (text == "tiered") return Profile::tiered;
  return std::nullopt;
}

Result<Prepared> prepare(std::vector<Message> history, const MessageId& last, const std::string& settle_call,
                         const Limits& limits, int64_t unread) {
  if (limits.tool_result_chars < 0)
    return fail(Code::invalid_argument, "A fork's limit of characters for tool results must not be negative.");
  if (limits.tokens < tokens_min)
    return fail(Code::invalid_argument,
                fmt::format("A fork's limit of tokens must be at least {}.", with_commas(tokens_min)));
  if (last) {
    const auto found = std::ranges::find(history, last, &Message::id);
    if (found == history.end())
      return fail(Code::not_found, fmt::format("The conversation has no message {}: name one that it has.", last.value),
                  "unknown_message");
    history.erase(found + 1, history.end());
  }
  bool summary = false;
  if (limits.profile == Profile::tiered) {
    const auto compaction = std::ranges::find_if(std::views::reverse(history), is_compaction);
    summary = compaction != history.rend();
    if (summary) history.erase(history.begin(), compaction.base() - 1);
  }
  Prepared out;
  if (!summary) out.messages_dropped = unread;
  Settling(settle_call).settle(history);
  keep_what_fits(history, limits, out);
  out.parts_cut += drop_orphans(history);
  std::erase_if(history, [](const Message& message) { return message.parts.empty(); });
  out.messages = std::move(history);
  out.preamble = preamble_of(out, limits, summary && out.messages_dropped == 0);
  out.tokens = estimate_tokens(out.preamble);
  for (const Message& message : out.messages) out.tokens += estimate_tokens(message);
  return out;
}

}  // namespace errand::fork
