#include "model/decode.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "model/decode_api.h"
#include "model/json_in.h"

namespace errand::model {
namespace {

constexpr size_t blocks_max = 1'000;
constexpr size_t shown_max = 200;

}  // namespace

std::unique_ptr<Decoder> Decoder::make(Api api, std::string id_prefix) {
  switch (api) {
    case Api::anthropic:
      return anthropic_decoder(std::move(id_prefix));
    case Api::openai_chat:
      return chat_decoder(std::move(id_prefix));
    case Api::openai_responses:
      return responses_decoder(std::move(id_prefix));
  }
  std::unreachable();
}

bool Decoder::feed(std::string_view bytes, std::vector<Delta>& out) {
  if (complete_ || error_) return false;
  out_ = &out;
  parser_.feed(bytes, [&](const SseEvent& each) {
    event(each.type, each.data);
    return !complete_ && !error_;
  });
  if (parser_.too_large()) malformed("an event over 16 MiB");
  out_ = nullptr;
  return !complete_ && !error_;
}

bool Decoder::document(std::string_view body, std::vector<Delta>& out) {
  if (complete_ || error_) return false;
  out_ = &out;
  event("message", body);
  out_ = nullptr;
  return false;
}

std::optional<Answer> Decoder::finish() {
  if (!complete_ && !error_) ended();
  if (!complete_ || error_) return std::nullopt;
  bool calls = false;
  for (Block& block : answer_.blocks) {
    if (block.type != Block::Type::tool_call) continue;
    calls = true;
    if (trim(block.input).empty()) block.input = "{}";
    block.input_broken = !is_object(block.input);
    if (block.call_id.empty()) block.call_id = next_call_id();
  }
  // Some servers say "stop" with calls in their hands.
  if (calls && (answer_.stop == Stop::end || answer_.stop == Stop::other)) answer_.stop = Stop::tool_calls;
  if (!calls && answer_.stop == Stop::tool_calls) answer_.stop = Stop::end;
  return std::move(answer_);
}

size_t Decoder::begin(Block block) {
  if (answer_.blocks.size() >= blocks_max) {
    malformed("more than a thousand blocks");
    return answer_.blocks.size() - 1;
  }
  const size_t index = answer_.blocks.size();
  if (out_) out_->push_back({.kind = Delta::Kind::began, .index = index, .block = block});
  answer_.blocks.push_back(std::move(block));
  return index;
}

void Decoder::add_text(size_t index, std::string_view text) {
  if (text.empty() || index >= answer_.blocks.size()) return;
  answer_.blocks[index].text += text;
  merge(Delta::Kind::text, index, text);
}

void Decoder::add_input(size_t index, std::string_view text) {
  if (text.empty() || index >= answer_.blocks.size()) return;
  answer_.blocks[index].input += text;
  merge(Delta::Kind::input, index, text);
}

void Decoder::merge(Delta::Kind kind, size_t index, std::string_view text) {
  if (!out_) return;
  if (!out_->empty() && out_->back().kind == kind && out_->back().index == index)
    out_->back().text += text;
  else
    out_->push_back({.kind = kind, .index = index, .block = {}, .text = std::string(text)});
}

void Decoder::wrong(ProviderError error) {
  if (!error_) error_ = std::move(error);
}

void Decoder::malformed(std::string_view what) {
  wrong({.type = "",
         .code = "",
         .message = fmt::format("The answer does not follow this API: {}.", first_characters(to_utf8(what), shown_max)),
         .malformed = true});
}

std::string Decoder::next_call_id() { return fmt::format("{}{}", id_prefix_, ++made_ids_); }

// {"error":{"type","code","message"}}, {"error":"..."}, {"message"}, {"detail"}, or no JSON at all.
ProviderError decode_error(std::string_view body) {
  ProviderError out;
  boost::json::value root;
  if (!parse_json(body, root)) {
    // A proxy's page: its first line is better than nothing.
    const std::string plain = to_utf8(body.substr(0, 4096));
    out.message = plain.starts_with('<') ? "" : std::string(first_line(plain));
    return out;
  }
  const boost::json::value* error = find(root, "error");
  if (error && error->is_string()) {
    out.message = text(root, "error");
    return out;
  }
  const boost::json::value& in = error ? *error : root;
  out.type = text(in, "type");
  out.code = text(in, "code");
  if (const auto number = integer(in, "code"); number && out.code.empty()) out.code = std::to_string(*number);
  out.message = text(in, "message");
  if (out.message.empty()) out.message = text(in, "detail");
  if (const boost::json::value* details = find(in, "details"); details && out.code.empty())
    out.code = text(*details, "error_code");
  // OpenRouter: what the provider behind it said.
  if (const boost::json::value* raw = find(in, "metadata", "raw"); raw && raw->is_string())
    out.message += fmt::format(" ({})", std::string_view(raw->get_string()));
  return out;
}

}  // namespace errand::model
