#include "driver/claude/translate.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::claude {
namespace {

constexpr size_t summary_max = 120;
constexpr std::string_view interrupted = "[The call was interrupted.]";

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::string rule_name(std::string_view tool) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> names = {{{"Bash", "bash"},
                                                                                           {"Edit", "edit"},
                                                                                           {"MultiEdit", "edit"},
                                                                                           {"NotebookEdit", "edit"},
                                                                                           {"Write", "write"},
                                                                                           {"Read", "read"},
                                                                                           {"Glob", "glob"},
                                                                                           {"Grep", "grep"},
                                                                                           {"LS", "list"},
                                                                                           {"WebFetch", "fetch"}}};
  const auto found = std::ranges::find(names, tool, &std::pair<std::string_view, std::string_view>::first);
  return std::string(found == names.end() ? tool : found->second);
}

std::string summary_of(std::string_view input) {
  std::string found = subject_of(input);
  found = found.substr(0, found.find('\n'));
  if (found.size() > summary_max) found = found.substr(0, utf8_prefix(found, summary_max)) + "…";
  return found;
}

void Translator::begin(const std::string& id, std::vector<Report>& out) {
  if (open_ && id_ == id) return;
  close(out);
  open_ = true;
  id_ = id;
  out.emplace_back(report::MessageBegan{});
}

void Translator::say(Piece& piece, std::string_view text, std::vector<Report>& out) {
  // Parts come in order: what belongs to an earlier one has no place any more.
  if (text.empty() || (piece.part >= 0 && piece.part != next_ - 1)) return;
  if (piece.part < 0) piece.part = next_++;
  piece.bytes += text.size();
  out.emplace_back(report::Text{.part = piece.part, .reasoning = piece.reasoning, .text = std::string(text)});
}

void Translator::take_delta(const Event& event, std::vector<Report>& out) {
  if (!open_) return;
  const Block& block = event.blocks.front();
  if (block.type != Block::Type::text && block.type != Block::Type::thinking) return;
  auto piece = std::ranges::find(pieces_, event.index, &Piece::index);
  if (piece == pieces_.end())
    piece = pieces_.insert(pieces_.end(), {.index = event.index, .reasoning = block.type == Block::Type::thinking});
  if (!piece->done && piece->reasoning == (block.type == Block::Type::thinking)) say(*piece, block.text, out);
}

void Translator::take_block(const Block& block, std::vector<Report>& out) {
  if (block.type == Block::Type::tool_use) {
    if (block.id.empty() || std::ranges::find(calls_, block.id) != calls_.end()) return;
    calls_.push_back(block.id);
    out.emplace_back(report::ToolStarted{.part = next_++,
                                         .call_id = block.id,
                                         .name = block.name,
                                         .input = block.input,
                                         .summary = summary_of(block.input)});
    return;
  }
  if (block.type != Block::Type::text && block.type != Block::Type::thinking) return;
  const bool reasoning = block.type == Block::Type::thinking;
  auto piece = std::ranges::find_if(pieces_, [&](const Piece& one) { return !one.done && one.reasoning == reasoning; });
  if (piece == pieces_.end()) piece = pieces_.insert(pieces_.end(), {.index = -1, .reasoning = reasoning});
  piece->done = true;
  const std::string_view rest =
      piece->bytes < block.text.size() ? std::string_view(block.text).substr(piece->bytes) : std::string_view();
  if (!rest.empty() && !is_continuation(rest.front())) say(*piece, rest, out);
}

void Translator::take(const Event& event, std::vector<Report>& out) {
  if (event.inner) return;
  switch (event.type) {
    case Event::Type::message_start:
      begin(event.message_id, out);
      break;
    case Event::Type::block_start:
    case Event::Type::delta:
      if (!event.blocks.empty()) take_delta(event, out);
      break;
    case Event::Type::assistant:
      if (event.api_error) break;
      begin(event.message_id, out);
      for (const Block& block : event.blocks) take_block(block, out);
      break;
    case Event::Type::user:
      for (const Block& block : event.blocks)
        if (block.type == Block::Type::tool_result && std::erase(calls_, block.id) > 0)
          out.emplace_back(
              report::ToolCompleted{.call_id = block.id, .output = block.text, .is_error = block.is_error, .ms = 0});
      break;
    case Event::Type::result:
      close(out);
      break;
    default:
      break;
  }
}

void Translator::settle(std::vector<Report>& out) {
  if (calls_.empty()) close(out);
}

void Translator::close(std::vector<Report>& out) {
  if (!open_) return;
  for (const std::string& call : calls_)
    out.emplace_back(report::ToolCompleted{.call_id = call, .output = std::string(interrupted), .is_error = true});
  out.emplace_back(report::MessageEnded{});
  open_ = false;
  next_ = 0;
  pieces_.clear();
  calls_.clear();
}

// [open, id, next, [[index, reasoning, part, bytes, done], ...], [call, ...]]
std::string Translator::mark() const {
  std::string text;
  JsonOut out(text);
  out.array().value(open_).value(id_).value(next_).array();
  for (const Piece& piece : pieces_) {
    out.array().value(piece.index).value(piece.reasoning).value(piece.part);
    out.value(static_cast<int64_t>(piece.bytes)).value(piece.done).end();
  }
  out.end().array();
  for (const std::string& call : calls_) out.value(call);
  out.end().end();
  return text;
}

Translator Translator::from(std::string_view mark) {
  Translator out;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(mark, error);
  const boost::json::array* list = error ? nullptr : value.if_array();
  if (!list || list->size() != 5 || !(*list)[0].is_bool() || !(*list)[1].is_string() || !(*list)[2].is_int64() ||
      !(*list)[3].is_array() || !(*list)[4].is_array())
    return out;
  out.open_ = (*list)[0].get_bool();
  out.id_ = (*list)[1].get_string();
  out.next_ = static_cast<int>((*list)[2].get_int64());
  for (const boost::json::value& item : (*list)[3].get_array()) {
    const boost::json::array* piece = item.if_array();
    if (!piece || piece->size() != 5 || !(*piece)[0].is_int64() || !(*piece)[1].is_bool() || !(*piece)[2].is_int64() ||
        !(*piece)[3].is_int64() || !(*piece)[4].is_bool())
      return Translator();
    out.pieces_.push_back({.index = (*piece)[0].get_int64(),
                           .reasoning = (*piece)[1].get_bool(),
                           .part = static_cast<int>((*piece)[2].get_int64()),
                           .bytes = static_cast<size_t>((*piece)[3].get_int64()),
                           .done = (*piece)[4].get_bool()});
  }
  for (const boost::json::value& call : (*list)[4].get_array())
    if (call.is_string()) out.calls_.emplace_back(call.get_string());
  return out;
}

}  // namespace errand::claude
