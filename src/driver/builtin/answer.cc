#include "driver/builtin/answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::builtin {
namespace {

using model::Block;

constexpr std::string_view broken_prefix = R"({"not_json":)";

PartType part_type(Block::Type type) {
  switch (type) {
    case Block::Type::reasoning:
      return PartType::reasoning;
    case Block::Type::tool_call:
      return PartType::tool_call;
    default:
      return PartType::text;
  }
}

}  // namespace

std::string wrap_broken_input(std::string_view input) {
  std::string out(broken_prefix);
  append_json_string(out, input);
  out.push_back('}');
  return out;
}

bool is_broken_input(std::string_view input) { return input.starts_with(broken_prefix); }

// The part's number; parts begin in the order of their blocks. Reasoning that shows nothing is a part all the same: the
// provider wants it back in its place.
int AnswerWriter::part_of(size_t index, std::vector<Report>& out) {
  if (const auto known = parts_.find(index); known != parts_.end()) return known->second;
  if (!std::exchange(begun_, true)) out.emplace_back(report::MessageBegan{id_});
  for (size_t i = 0; i < index && i < blocks_.size(); ++i) {
    if (blocks_[i] != Block::Type::reasoning || parts_.contains(i)) continue;
    const int part = static_cast<int>(parts_.size());
    parts_.emplace(i, part);
    out.emplace_back(report::Opaque{part, {}});
  }
  const int part = static_cast<int>(parts_.size());
  parts_.emplace(index, part);
  return part;
}

std::vector<Report> AnswerWriter::began(size_t index, const Block& block) {
  if (blocks_.size() <= index) blocks_.resize(index + 1, Block::Type::text);
  blocks_[index] = block.type;
  holding_ = holding_ || block.type == Block::Type::tool_call;
  return {};
}

std::vector<Report> AnswerWriter::text(size_t index, std::string_view text) {
  std::vector<Report> out;
  if (holding_ || text.empty() || index >= blocks_.size()) return out;
  const int part = part_of(index, out);
  std::string clean = is_utf8(text) ? std::string(text) : to_utf8(text);
  streamed_[index] += text;
  out.emplace_back(report::Text{part, blocks_[index] == Block::Type::reasoning, std::move(clean)});
  return out;
}

AnswerWriter::Whole AnswerWriter::finish(const model::Answer& answer, const std::set<std::string>& used) {
  Whole whole;
  std::vector<Report>& out = whole.reports;
  whole.message.id = id_;
  whole.message.role = Role::assistant;
  blocks_.clear();
  for (const Block& block : answer.blocks) blocks_.push_back(block.type);
  if (!std::exchange(begun_, true)) out.emplace_back(report::MessageBegan{id_});
  std::set<std::string> ids = used;
  std::map<int, Part> parts;
  for (size_t i = 0; i < answer.blocks.size(); ++i) {
    const Block& block = answer.blocks[i];
    Part part{.type = part_type(block.type)};
    if (block.type == Block::Type::tool_call) {
      const int number = part_of(i, out);
      part.call_id = block.call_id;
      for (int n = 1; part.call_id.empty() || !ids.insert(part.call_id).second; ++n)
        part.call_id = fmt::format("call_{}_{}_{}", id_.value, i, n);
      part.name = block.name;
      part.input = block.input_broken ? wrap_broken_input(block.input) : block.input.empty() ? "{}" : block.input;
      out.emplace_back(report::ToolStarted{number, part.call_id, part.name, part.input, {}});
      whole.calls = true;
    } else if (block.type == Block::Type::text || block.type == Block::Type::reasoning) {
      const std::string& streamed = streamed_[i];
      const bool reasoning = block.type == Block::Type::reasoning;
      part.text = is_utf8(block.text) ? block.text : to_utf8(block.text);
      if (part.text.empty() && block.opaque.empty() && !parts_.contains(i)) continue;
      const int number = part_of(i, out);
      // What a stream said and what its end says are the same; where a server says less in the end, the stream stands.
      if (block.text.starts_with(streamed)) {
        if (std::string rest = part.text.substr(std::min(streamed.size(), part.text.size())); !rest.empty())
          out.emplace_back(report::Text{number, reasoning, std::move(rest)});
      } else {
        part.text = to_utf8(streamed);
      }
    } else {
      continue;
    }
    part.opaque = block.opaque;
    const int number = parts_.at(i);
    if (!block.opaque.empty()) out.emplace_back(report::Opaque{number, block.opaque});
    parts.emplace(number, std::move(part));
  }
  for (auto& [number, part] : parts) whole.message.parts.push_back(std::move(part));
  if (!whole.calls) out.emplace_back(report::MessageEnded{});
  return whole;
}

}  // namespace errand::builtin
