#include "driver/builtin/compaction.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/conversation.h"
#include "fork/tokens.h"

namespace errand::builtin {
namespace {

constexpr size_t result_characters = 2'000;  // Of a tool's result, for the summary.
constexpr size_t input_characters = 2'000;
constexpr int64_t image_tokens = 1'600;
constexpr int64_t block_tokens = 8;  // What a provider adds around a block.

constexpr std::string_view summary_system =
    "You shorten the conversation of an agent that works on a task, so that it can go on with less context. What you "
    "leave out is lost to it.";

constexpr std::string_view summary_task =
    "Write the summary that the agent goes on from. State, in this order and without preamble:\n"
    "1. The task: every request of the user, in the user's words where they matter, with later corrections.\n"
    "2. What was done: files (with paths) read, changed or made and how; commands run and what came of them; "
    "background "
    "tasks and batches, with their ids and states.\n"
    "3. What was found out: facts, errors and their causes, decisions and their reasons, what was denied.\n"
    "4. Where it stands: what is finished, what is under way, what comes next.\n"
    "Keep names, paths, ids, numbers and error texts exact. Leave out pleasantries and what no longer matters.";

std::string shortened(std::string_view text, size_t characters) {
  const std::string_view head = first_characters(text, characters);
  if (head.size() == text.size()) return std::string(text);
  return fmt::format("{} [... {} characters in all]", head, count_characters(text));
}

std::string line_of(const Part& part) {
  switch (part.type) {
    case PartType::text:
      return part.text + "\n";
    case PartType::notice:
      return "(notice) " + part.text + "\n";
    case PartType::tool_call:
      return fmt::format("(calls {} {})\n", part.name, shortened(part.input, input_characters));
    case PartType::tool_result:
      return fmt::format("({}) {}\n", part.is_error ? "error" : "result", shortened(part.text, result_characters));
    case PartType::file:
      return fmt::format("(file {} {})\n", part.name, part.media_type);
    case PartType::reasoning:
      return {};
  }
  return {};
}

std::string text_for_summary(const Message& message) {
  std::string out;
  for (const Part& part : message.parts) out += line_of(part);
  if (out.empty()) return {};
  return fmt::format("## {}\n{}\n", name(message.role), out);
}

size_t last_compaction(const std::vector<Message>& messages) {
  for (size_t i = messages.size(); i-- > 0;)
    if (loop_note(messages[i], compaction_name) != nullptr) return i;
  return messages.size();
}

}  // namespace

int64_t estimate(std::string_view text) { return estimate_tokens(text); }

int64_t estimate(const std::vector<model::Entry>& conversation) {
  int64_t tokens = 0;
  for (const model::Entry& entry : conversation)
    for (const model::Block& block : entry.blocks)
      tokens += block_tokens + estimate(block.text) + estimate(block.input) + estimate(block.opaque) +
                (block.type == model::Block::Type::image ? image_tokens : 0);
  return tokens;
}

int64_t estimate(const Message& message) {
  int64_t tokens = 0;
  for (const Part& part : message.parts)
    tokens += block_tokens + estimate(part.text) + estimate(part.input) + estimate(part.opaque) +
              (part.type == PartType::file ? std::max(estimate(part.url), image_tokens) : 0);
  return tokens;
}

int64_t compact_above(int64_t context_tokens, int64_t output_tokens) {
  const int64_t reserve = std::min(output_tokens, context_tokens / 4) + context_tokens / 10;
  return std::max<int64_t>(context_tokens - reserve, context_tokens / 2);
}

Cut choose_cut(const std::vector<Message>& messages, int64_t keep_tokens) {
  Cut cut{.first = 0, .kept = messages.size()};
  // What an earlier compaction kept is of the part that is summed up now; its own summary too.
  if (const size_t last = last_compaction(messages); last < messages.size()) {
    cut.first = std::min(last, first_kept(messages, last));
  }
  int64_t tokens = 0;
  for (size_t i = messages.size(); i-- > cut.first;) {
    tokens += estimate(messages[i]);
    if (tokens > keep_tokens) break;
    cut.kept = i;
  }
  return cut;
}

model::Request summary_request(const std::vector<Message>& messages, const Cut& cut, int64_t tokens_max) {
  std::vector<std::string> texts;
  int64_t tokens = estimate(summary_task) + estimate(summary_system) + 1'000;
  size_t left_out = 0;
  for (size_t i = cut.kept; i-- > cut.first;) {
    std::string text = text_for_summary(messages[i]);
    const int64_t room = tokens_max - tokens;
    tokens += estimate(text);
    if (tokens > tokens_max) {
      left_out = i + 1 - cut.first;
      if (!texts.empty()) break;
      // The newest of them is there in any case, shortened where it must be.
      text = shortened(text, static_cast<size_t>(std::max<int64_t>(room, 500)));
      --left_out;
      tokens = tokens_max;
    }
    texts.push_back(std::move(text));
  }
  std::string transcript;
  if (left_out > 0) {
    // The summary so far is what remains of the rest.
    if (const size_t last = last_compaction(messages); last < messages.size() && last < cut.first + left_out)
      transcript += shortened(text_for_summary(messages[last]), static_cast<size_t>(std::max<int64_t>(tokens_max, 0)));
    transcript += fmt::format("[{} older messages are left out here]\n\n", left_out);
  }
  for (size_t i = texts.size(); i-- > 0;) transcript += texts[i];
  model::Request request;
  request.system = summary_system;
  request.conversation.push_back(
      {model::Entry::Role::user,
       {{.type = model::Block::Type::text,
         .text = fmt::format("<conversation>\n{}</conversation>\n\n{}", transcript, summary_task)}}});
  return request;
}

std::vector<Part> compaction_parts(std::string summary, const std::vector<Message>& messages, const Cut& cut) {
  Part part{.type = PartType::notice, .text = std::move(summary), .name = std::string(compaction_name)};
  if (cut.kept < messages.size()) part.opaque = kept_mark(messages[cut.kept].id, messages.size() - cut.kept);
  return {std::move(part)};
}

}  // namespace errand::builtin
