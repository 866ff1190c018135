// Anthropic Messages: message_start, content_block_*, message_delta, message_stop; ping and what is new are nothing to
// us.
#include <map>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "model/decode_api.h"
#include "model/encode.h"
#include "model/json_in.h"

namespace errand::model {
namespace {

constexpr size_t open_max = 1'000;

Stop stop_of(std::string_view reason) {
  if (reason == "end_turn" || reason == "stop_sequence") return Stop::end;
  if (reason == "tool_use") return Stop::tool_calls;
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return Stop::length;
  if (reason == "refusal") return Stop::refusal;
  return Stop::other;
}

std::string own_data(std::string_view field, std::string_view value) {
  std::string data;
  JsonOut(data).object().field(field, value).end();
  return make_opaque(Api::anthropic, data);
}

class AnthropicDecoder final : public Decoder {
 public:
  explicit AnthropicDecoder(std::string id_prefix) : Decoder(std::move(id_prefix)) {}

 private:
  void event(std::string_view, std::string_view data) override {
    boost::json::value root;
    if (!parse_json(data, root)) return malformed(data);
    const std::string type = text(root, "type");
    if (type == "message_start") {
      if (const auto* message = find(root, "message")) started(*message);
    } else if (type == "content_block_start") {
      if (const auto* block = find(root, "content_block")) block_started(integer(root, "index").value_or(-1), *block);
    } else if (type == "content_block_delta") {
      if (const auto* delta = find(root, "delta")) grown(integer(root, "index").value_or(-1), *delta);
    } else if (type == "content_block_stop") {
      stopped(integer(root, "index").value_or(-1));
    } else if (type == "message_delta") {
      if (const auto* delta = find(root, "delta"); delta && find(*delta, "stop_reason")) {
        answer_.stop = stop_of(text(*delta, "stop_reason"));
        stop_known_ = true;
      }
      if (const auto* use = find(root, "usage")) count(*use);
    } else if (type == "message_stop") {
      // A stream that never said why it stops was put together wrongly by somebody on the way.
      if (stop_known_)
        complete_ = true;
      else
        malformed("message_stop without a stop_reason");
    } else if (type == "error") {
      wrong(decode_error(data));
    } else if (type == "message") {
      whole(root);
    }
  }

  void started(const boost::json::value& message) {
    answer_.model = text(message, "model");
    if (const auto* use = find(message, "usage")) count(*use);
  }

  void block_started(int64_t place, const boost::json::value& block) {
    if (open_.size() >= open_max) return malformed("too many blocks at once");
    const std::string type = text(block, "type");
    Open open;
    if (type == "text") {
      open.index = begin({.type = Block::Type::text});
      add_text(*open.index, text(block, "text"));
    } else if (type == "thinking") {
      open.index = begin({.type = Block::Type::reasoning});
      open.signature = text(block, "signature");
      add_text(*open.index, text(block, "thinking"));
    } else if (type == "redacted_thinking") {
      open.index = begin({.type = Block::Type::reasoning, .opaque = own_data("redacted", text(block, "data"))});
    } else if (type == "tool_use") {
      open.index = begin({.type = Block::Type::tool_call, .call_id = text(block, "id"), .name = text(block, "name")});
      // Whole at once in a document; empty before the deltas of a stream.
      if (const auto* input = find(block, "input"); input && input->is_object() && !input->get_object().empty())
        add_input(*open.index, boost::json::serialize(*input));
    }
    open_[place] = open;  // What we did not ask for and do not know is left out.
  }

  void grown(int64_t place, const boost::json::value& delta) {
    const auto it = open_.find(place);
    if (it == open_.end()) return malformed("a piece of a block that did not begin");
    if (!it->second.index) return;
    const std::string type = text(delta, "type");
    if (type == "text_delta") add_text(*it->second.index, text(delta, "text"));
    if (type == "thinking_delta") add_text(*it->second.index, text(delta, "thinking"));
    if (type == "input_json_delta") add_input(*it->second.index, text(delta, "partial_json"));
    if (type == "signature_delta") it->second.signature += text(delta, "signature");
  }

  void stopped(int64_t place) {
    const auto it = open_.find(place);
    if (it == open_.end()) return;
    if (it->second.index && !it->second.signature.empty())
      answer_.blocks[*it->second.index].opaque = own_data("signature", it->second.signature);
    open_.erase(it);
  }

  // A later count goes over an earlier one; what it leaves out stays.
  void count(const boost::json::value& use) {
    answer_.use_known = true;
    const auto set = [&](int64_t& to, const char* name) { to = integer(use, name).value_or(to); };
    set(answer_.use.input, "input_tokens");
    set(answer_.use.output, "output_tokens");
    set(answer_.use.cache_read, "cache_read_input_tokens");
    set(answer_.use.cache_write, "cache_creation_input_tokens");
    if (const auto* details = find(use, "output_tokens_details"))
      answer_.use.reasoning = integer(*details, "thinking_tokens").value_or(answer_.use.reasoning);
  }

  void whole(const boost::json::value& message) {
    started(message);
    const auto* content = find(message, "content");
    if (!content || !content->is_array()) return malformed("a message without content");
    int64_t place = 0;
    for (const boost::json::value& block : content->get_array()) {
      block_started(place, block);
      stopped(place++);
    }
    answer_.stop = stop_of(text(message, "stop_reason"));
    complete_ = true;
  }

  struct Open {
    std::optional<size_t> index;  // Of the answer's block.
    std::string signature;
  };
  std::map<int64_t, Open> open_;
  bool stop_known_ = false;
};

}  // namespace

std::unique_ptr<Decoder> anthropic_decoder(std::string id_prefix) {
  return std::make_unique<AnthropicDecoder>(std::move(id_prefix));
}

}  // namespace errand::model
