#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/encode.h"

namespace errand::model {
namespace {

constexpr size_t call_id_max = 64;
constexpr std::string_view interrupted =
    "Interrupted: there is no result. It may have had effects; look before you do it again.";

// What all providers take: letters, digits, - and _, at most 64. Calls and results go through the same.
std::string plain_id(std::string_view id) {
  std::string out(id.size() > call_id_max ? id.substr(id.size() - call_id_max) : id);
  for (char& c : out)
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_')) c = '_';
  return out.empty() ? "call" : out;
}

bool is_blank(std::string_view text) { return trim(text).empty(); }

Block text_block(std::string text) { return {.type = Block::Type::text, .text = std::move(text)}; }

void add(std::vector<Entry>& to, Entry::Role role, Block block) {
  if (to.empty() || to.back().role != role) to.push_back({role, {}});
  to.back().blocks.push_back(std::move(block));
}

// The calls of an answer that wait for their results.
using Open = std::vector<std::string>;

Open calls_of(const Entry& entry) {
  Open open;
  for (const Block& block : entry.blocks)
    if (block.type == Block::Type::tool_call) open.push_back(block.call_id);
  return open;
}

// Neighbours of one role joined, empty text gone.
std::vector<Entry> joined(const std::vector<Entry>& conversation) {
  std::vector<Entry> out;
  for (const Entry& entry : conversation) {
    for (const Block& block : entry.blocks) {
      if (block.type == Block::Type::text && is_blank(block.text)) continue;
      const bool of_user = block.type == Block::Type::tool_result || block.type == Block::Type::image;
      const bool of_model = block.type == Block::Type::tool_call || block.type == Block::Type::reasoning;
      if ((of_user && entry.role != Entry::Role::user) || (of_model && entry.role != Entry::Role::assistant)) continue;
      Block copy = block;
      if (!copy.call_id.empty() || copy.type == Block::Type::tool_call) copy.call_id = plain_id(copy.call_id);
      add(out, entry.role, std::move(copy));
    }
  }
  return out;
}

// The results of `open` first, in the order of the calls; then the rest, results of unknown calls as text.
Entry answered(const Open& open, const Entry& user) {
  Entry out{Entry::Role::user, {}};
  std::set<const Block*> used;
  for (const std::string& id : open) {
    const auto found = std::ranges::find_if(user.blocks, [&](const Block& block) {
      return block.type == Block::Type::tool_result && block.call_id == id && !used.contains(&block);
    });
    if (found != user.blocks.end()) {
      used.insert(&*found);
      out.blocks.push_back(*found);
    } else {
      out.blocks.push_back(
          {.type = Block::Type::tool_result, .text = std::string(interrupted), .call_id = id, .is_error = true});
    }
  }
  for (const Block& block : user.blocks) {
    if (used.contains(&block)) continue;
    if (block.type == Block::Type::tool_result)
      out.blocks.push_back(text_block("The result of an earlier tool call:\n" + block.text));
    else
      out.blocks.push_back(block);
  }
  return out;
}

// Two calls of one answer with the same id cannot be told apart: all but the first get another. `results` begins with
// the calls' results, in the order of the calls.
void separate_ids(Entry& answer, Entry& results) {
  std::set<std::string> seen;
  size_t nth = 0;
  for (Block& call : answer.blocks) {
    if (call.type != Block::Type::tool_call) continue;
    Block& result = results.blocks[nth++];
    for (size_t i = nth; !seen.insert(call.call_id).second; ++i)
      call.call_id = plain_id(call.call_id + "_" + std::to_string(i));
    result.call_id = call.call_id;
  }
}

}  // namespace

std::vector<Entry> normalize(const std::vector<Entry>& conversation) {
  std::vector<Entry> out;
  Open open;
  for (const Entry& entry : joined(conversation)) {
    if (entry.role == Entry::Role::assistant) {
      if (out.empty()) out.push_back({Entry::Role::user, {text_block("(The conversation begins in the middle.)")}});
      out.push_back(entry);
      open = calls_of(entry);
      continue;
    }
    out.push_back(answered(open, entry));
    if (!open.empty()) separate_ids(out[out.size() - 2], out.back());
    open.clear();
  }
  // The last answer's calls have no entry behind them.
  if (!open.empty()) {
    out.push_back(answered(open, {Entry::Role::user, {}}));
    separate_ids(out[out.size() - 2], out.back());
  }
  return out;
}

}  // namespace errand::model
