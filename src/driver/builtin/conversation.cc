#include "driver/builtin/conversation.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/text.h"

namespace errand::builtin {
namespace {

using model::Block;
using model::Entry;

constexpr size_t file_text_max = 256 * 1024;        // Bytes of a text file that came with a message.
constexpr size_t image_data_max = 8 * 1024 * 1024;  // Bytes of base64: what providers take of one image.
constexpr std::string_view kept_prefix = "keep ";

Block text_block(std::string text) { return {.type = Block::Type::text, .text = std::move(text)}; }

bool has_calls(const Message& message) {
  return std::ranges::any_of(message.parts, [](const Part& part) { return part.type == PartType::tool_call; });
}

// Ended by a crash, a cancel or a failure while the model was still speaking: calls are stored only with the whole
// answer.
bool cut_answer(const Message& message) {
  return message.role == Role::assistant && (message.interrupted || !message.completed_at) && !has_calls(message);
}

// "data:TYPE;base64,DATA": TYPE and DATA.
std::optional<std::pair<std::string_view, std::string_view>> data_url(std::string_view url) {
  if (!url.starts_with("data:")) return std::nullopt;
  url.remove_prefix(5);
  const size_t comma = url.find(',');
  if (comma == std::string_view::npos || !url.substr(0, comma).ends_with(";base64")) return std::nullopt;
  return std::pair{url.substr(0, comma - 7), url.substr(comma + 1)};
}

bool is_text(std::string_view media_type) {
  return media_type.starts_with("text/") || media_type == "application/json" || media_type == "application/xml" ||
         media_type.ends_with("+json") || media_type.ends_with("+xml");
}

bool is_image(std::string_view media_type) {
  return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/gif" ||
         media_type == "image/webp";
}

Block file_block(const Part& part) {
  const std::string name = part.name.empty() ? "a file" : part.name;
  const auto data = data_url(part.url);
  const std::string media(data && part.media_type.empty() ? data->first : std::string_view(part.media_type));
  if (data && is_image(media) && data->second.size() <= image_data_max)
    return {.type = Block::Type::image, .media_type = media, .data = std::string(data->second)};
  if (data && is_text(media)) {
    if (const std::optional<std::string> bytes = from_base64(data->second)) {
      const std::string text = to_utf8(*bytes);
      const size_t shown = utf8_prefix(text, file_text_max);
      return text_block(fmt::format("<file name=\"{}\">\n{}{}\n</file>", name, std::string_view(text).substr(0, shown),
                                    shown < text.size() ? fmt::format("\n[cut: {} bytes in all]", text.size()) : ""));
    }
  }
  if (data)
    return text_block(fmt::format("[{}, {}: it cannot be shown here]", name, media.empty() ? "unknown" : media));
  return text_block(fmt::format("[{}{}{} is at {}]", name, media.empty() ? "" : ", ", media, part.url));
}

Block result_block(const std::string& call_id, const Part* result) {
  if (result == nullptr)
    return {.type = Block::Type::tool_result, .text = std::string(unknown_end), .call_id = call_id, .is_error = true};
  std::string text = result->text;
  if (result->truncated) text += fmt::format("\n[cut: {} bytes in all]", result->size);
  return {.type = Block::Type::tool_result, .text = std::move(text), .call_id = call_id, .is_error = result->is_error};
}

// Puts blocks at the end of the conversation; neighbours of one role are one entry.
class Builder {
 public:
  void add(Entry::Role role, std::vector<Block> blocks) {
    if (blocks.empty()) return;
    if (entries_.empty() && role == Entry::Role::assistant)
      entries_.push_back({Entry::Role::user, {text_block("(The conversation goes on here.)")}});
    if (entries_.empty() || entries_.back().role != role) entries_.push_back({role, {}});
    std::ranges::move(blocks, std::back_inserter(entries_.back().blocks));
  }
  std::vector<Entry> take() { return std::move(entries_); }

 private:
  std::vector<Entry> entries_;
};

using Results = std::map<std::string_view, const Part*>;

Results results_of(const std::vector<Message>& messages) {
  Results results;
  for (const Message& message : messages)
    for (const Part& part : message.parts)
      if (part.type == PartType::tool_result) results.emplace(part.call_id, &part);
  return results;
}

// An assistant's message: what it said and called, then the results as the user's; again where it went on after them.
void add_answer(const Message& message, const Results& results, std::set<std::string_view>& settled, Builder& out) {
  std::vector<Block> said, came;
  bool result_seen = false;
  const auto flush = [&] {
    out.add(Entry::Role::assistant, std::exchange(said, {}));
    out.add(Entry::Role::user, std::exchange(came, {}));
    result_seen = false;
  };
  for (const Part& part : message.parts) {
    if (part.type == PartType::tool_result) {
      result_seen = true;
      continue;
    }
    if (result_seen) flush();
    switch (part.type) {
      case PartType::text:
        if (!trim(part.text).empty()) said.push_back(text_block(part.text));
        break;
      case PartType::reasoning:
        said.push_back({.type = Block::Type::reasoning, .text = part.text, .opaque = part.opaque});
        break;
      case PartType::tool_call: {
        if (!settled.insert(part.call_id).second) break;  // An id that was used before would have two results.
        said.push_back({.type = Block::Type::tool_call,
                        .call_id = part.call_id,
                        .name = part.name,
                        .input = part.input.empty() ? "{}" : part.input,
                        .opaque = part.opaque});
        const auto result = results.find(part.call_id);
        came.push_back(result_block(part.call_id, result == results.end() ? nullptr : result->second));
        break;
      }
      default:
        break;
    }
  }
  flush();
}

}  // namespace

std::vector<Message> in_order_of_taking(std::vector<Message> messages) {
  std::ranges::sort(messages, {}, &Message::seq);
  std::vector<Message> out, held;
  const auto give = [&](Time until) {
    std::erase_if(held, [&](Message& message) {
      if (until && message.completed_at > until) return false;
      out.push_back(std::move(message));
      return true;
    });
  };
  for (Message& message : messages) {
    if (message.role == Role::user) {
      if (message.completed_at) held.push_back(std::move(message));
      continue;
    }
    give(message.created_at);
    out.push_back(std::move(message));
  }
  give({});
  return out;
}

std::vector<model::Entry> conversation(const std::vector<Message>& messages) {
  Builder out;
  size_t first = 0;
  for (size_t i = messages.size(); i-- > 0;) {
    const Part* const note = loop_note(messages[i], compaction_name);
    if (note == nullptr) continue;
    out.add(
        Entry::Role::user,
        {text_block("<summary>\nThe conversation so far, shortened by yourself because it had become too long:\n\n" +
                    note->text + "\n</summary>")});
    first = first_kept(messages, i);
    break;
  }
  const Results results = results_of(messages);
  std::set<std::string_view> settled;
  for (size_t i = first; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (loop_note(message, compaction_name) != nullptr) continue;
    if (message.role != Role::assistant) {
      out.add(Entry::Role::user, user_blocks(message));
      continue;
    }
    if (!cut_answer(message)) {
      add_answer(message, results, settled, out);
      continue;
    }
    // A cut answer that was asked for again says nothing; one that somebody replied to is part of what was said.
    const bool replied = i + 1 < messages.size() && messages[i + 1].role == Role::user;
    const std::string text = text_of(message);
    if (replied && !trim(text).empty()) out.add(Entry::Role::assistant, {text_block(text + "\n[interrupted]")});
  }
  return out.take();
}

std::vector<model::Block> user_blocks(const Message& message) {
  std::vector<Block> blocks;
  for (const Part& part : message.parts) {
    switch (part.type) {
      case PartType::text:
        if (!trim(part.text).empty()) blocks.push_back(text_block(part.text));
        break;
      case PartType::notice:
        blocks.push_back(text_block("<notice>\n" + part.text + "\n</notice>"));
        break;
      case PartType::file:
        blocks.push_back(file_block(part));
        break;
      default:
        break;
    }
  }
  return blocks;
}

std::vector<Part> calls_without_result(const Message& message, const std::vector<Message>& messages) {
  std::vector<Part> calls;
  if (!has_calls(message)) return calls;
  const Results results = results_of(messages);
  for (const Part& part : message.parts)
    if (part.type == PartType::tool_call && !results.contains(part.call_id)) calls.push_back(part);
  return calls;
}

const Part* loop_note(const Message& message, std::string_view name) {
  if (message.role != Role::system) return nullptr;
  const auto part =
      std::ranges::find_if(message.parts, [&](const Part& p) { return p.type == PartType::notice && p.name == name; });
  return part == message.parts.end() ? nullptr : &*part;
}

std::string kept_mark(const MessageId& first_kept, size_t count) {
  return fmt::format("{}{} {}", kept_prefix, first_kept.value, count);
}

size_t first_kept(const std::vector<Message>& messages, size_t at) {
  const Part* const note = loop_note(messages[at], compaction_name);
  if (note == nullptr || !note->opaque.starts_with(kept_prefix)) return at + 1;
  const std::vector<std::string_view> words = split(note->opaque, ' ');
  if (words.size() != 3) return at + 1;
  for (size_t i = 0; i < at; ++i)
    if (messages[i].id.value == words[1]) return i;
  size_t count = 0;
  const auto [end, error] = std::from_chars(words[2].data(), words[2].data() + words[2].size(), count);
  return error == std::errc() && count <= at ? at - count : at + 1;
}

}  // namespace errand::builtin
