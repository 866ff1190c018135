// OpenAI Chat Completions, and the servers that are nearly like it: usage, ids, indexes and [DONE] may be missing,
// reasoning has two names, calls may come in one piece.
#include <map>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "model/decode_api.h"
#include "model/encode.h"
#include "model/json_in.h"

namespace errand::model {

namespace json = boost::json;

namespace {

constexpr size_t details_max = 10'000;

Stop stop_of(std::string_view reason) {
  if (reason == "stop" || reason == "eos") return Stop::end;
  if (reason == "tool_calls" || reason == "function_call") return Stop::tool_calls;
  if (reason == "length") return Stop::length;
  if (reason == "content_filter") return Stop::refusal;
  return Stop::other;
}

class ChatDecoder final : public Decoder {
 public:
  explicit ChatDecoder(std::string id_prefix) : Decoder(std::move(id_prefix)) {}

 private:
  void event(std::string_view, std::string_view data) override {
    if (data == "[DONE]") {
      if (finished_ || began())
        seal();
      else
        malformed("[DONE] without an answer");
      return;
    }
    json::value root;
    if (!parse_json(data, root)) return malformed(data);
    if (find(root, "error")) return wrong(decode_error(data));
    if (answer_.model.empty()) answer_.model = text(root, "model");
    if (const auto* use = find(root, "usage")) count(*use);
    const auto* choices = find(root, "choices");
    if (!choices || !choices->is_array()) return;
    for (const json::value& choice : choices->get_array()) {
      if (integer(choice, "index").value_or(0) != 0) continue;  // We asked for one.
      if (const auto* delta = find(choice, "delta")) grown(*delta);
      const auto* message = find(choice, "message");
      if (message) grown(*message);
      const std::string reason = text(choice, "finish_reason");
      if (!reason.empty()) {
        answer_.stop = refused_ ? Stop::refusal : stop_of(reason);
        finished_ = true;
      }
      if (message) seal();
    }
  }

  // No [DONE]: whole where it said why it stops.
  void ended() override {
    if (finished_) seal();
  }

  void seal() {
    keep_details();
    complete_ = true;
  }

  void grown(const json::value& delta) {
    for (const char* field : {"reasoning_content", "reasoning"}) {
      const std::string piece = text(delta, field);
      if (piece.empty()) continue;
      reason(piece, field);
      break;  // Some servers give both.
    }
    if (const auto* details = find(delta, "reasoning_details"); details && details->is_array())
      for (const json::value& detail : details->get_array())
        if (details_.size() < details_max) add_detail(detail);
    say(text(delta, "content"));
    if (const std::string refusal = text(delta, "refusal"); !refusal.empty()) {
      refused_ = true;
      say(refusal);
    }
    if (const auto* calls = find(delta, "tool_calls"); calls && calls->is_array())
      for (const json::value& call : calls->get_array()) called(call);
  }

  void reason(std::string_view piece, std::string_view field) {
    if (!is_last(reasoning_)) {
      std::string data;
      JsonOut(data).object().field("field", field).end();
      reasoning_ = begin({.type = Block::Type::reasoning, .opaque = make_opaque(Api::openai_chat, data)});
    }
    add_text(*reasoning_, piece);
  }

  void say(std::string_view piece) {
    if (piece.empty()) return;
    if (!is_last(text_)) text_ = begin({.type = Block::Type::text});
    add_text(*text_, piece);
  }

  bool is_last(const std::optional<size_t>& index) const { return index && *index + 1 == answer_.blocks.size(); }

  void called(const json::value& call) {
    const std::string id = text(call, "id");
    const auto* function = find(call, "function");
    const std::string name = function ? text(*function, "name") : "";
    const std::optional<int64_t> place = integer(call, "index");
    // A new one: of a place that is not taken; or one that says who it is at a place whose call is another's, or at
    // none.
    auto it = place ? calls_.find(*place) : calls_.end();
    const bool other = it != calls_.end() && !id.empty() && !name.empty() && answer_.blocks[it->second].call_id != id;
    if (place ? it == calls_.end() || other : !name.empty() || !last_call_) {
      const size_t index =
          begin({.type = Block::Type::tool_call, .call_id = id.empty() ? next_call_id() : id, .name = name});
      if (place) calls_[*place] = index;
      last_call_ = index;
    } else if (place) {
      last_call_ = it->second;
      Block& known = answer_.blocks[*last_call_];
      if (known.name.empty()) known.name = name;
    }
    const auto* arguments = function ? find(*function, "arguments") : nullptr;
    if (!arguments) return;
    if (arguments->is_string())
      add_input(*last_call_, std::string_view(arguments->get_string()));
    else
      add_input(*last_call_, json::serialize(*arguments));  // An object instead of its text.
  }

  // OpenRouter: pieces of one detail come with the same index.
  void add_detail(const json::value& detail) {
    const auto* object = detail.if_object();
    if (!object) return;
    if (!reasoning_) reasoning_ = begin({.type = Block::Type::reasoning});
    const std::optional<int64_t> place = integer(detail, "index");
    const std::string type = text(detail, "type");
    for (json::value& known : details_) {
      if (!place || integer(known, "index") != place || text(known, "type") != type) continue;
      for (const auto& [key, value] : *object) {
        json::value& to = known.get_object()[key];
        const bool grows = key == "text" || key == "summary" || key == "data" || key == "signature";
        if (grows && to.is_string() && value.is_string())
          to.get_string().append(value.get_string());
        else if (!value.is_null())
          to = value;
      }
      return;
    }
    details_.push_back(detail);
  }

  void keep_details() {
    if (details_.empty()) return;
    json::object own;
    own["reasoning_details"] = json::array(details_.begin(), details_.end());
    answer_.blocks[*reasoning_].opaque = make_opaque(Api::openai_chat, json::serialize(own));
    details_.clear();
  }

  void count(const json::value& use) {
    const int64_t prompt = integer(use, "prompt_tokens").value_or(0);
    int64_t cached = integer(use, "prompt_cache_hit_tokens").value_or(0);  // DeepSeek's name.
    int64_t written = 0;
    if (const auto* details = find(use, "prompt_tokens_details")) {
      cached = integer(*details, "cached_tokens").value_or(cached);
      written = integer(*details, "cache_write_tokens").value_or(0);
    }
    cached = std::min(cached, prompt);
    written = std::min(written, prompt - cached);
    answer_.use.input = prompt - cached - written;
    answer_.use.cache_read = cached;
    answer_.use.cache_write = written;
    answer_.use.output = integer(use, "completion_tokens").value_or(0);
    if (const auto* details = find(use, "completion_tokens_details"))
      answer_.use.reasoning = integer(*details, "reasoning_tokens").value_or(0);
    answer_.cost_usd = real(use, "cost").value_or(0);
    answer_.use_known = true;
  }

  std::optional<size_t> reasoning_, text_, last_call_;
  std::map<int64_t, size_t> calls_;
  std::vector<json::value> details_;
  bool finished_ = false;
  bool refused_ = false;
};

}  // namespace

std::unique_ptr<Decoder> chat_decoder(std::string id_prefix) {
  return std::make_unique<ChatDecoder>(std::move(id_prefix));
}

}  // namespace errand::model
