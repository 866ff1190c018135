// OpenAI Responses: items (messages, reasoning, function calls) that grow by events and are whole in output_item.done;
// no [DONE], but completed, incomplete or failed.
#include <map>

#include <boost/json.hpp>

#include "model/decode_api.h"
#include "model/encode.h"
#include "model/json_in.h"

namespace errand::model {

namespace json = boost::json;

namespace {

constexpr size_t items_max = 1'000;

class ResponsesDecoder final : public Decoder {
 public:
  explicit ResponsesDecoder(std::string id_prefix) : Decoder(std::move(id_prefix)) {}

 private:
  void event(std::string_view, std::string_view data) override {
    json::value root;
    if (data == "[DONE]") return;  // Of servers that mix the two APIs.
    if (!parse_json(data, root)) return malformed(data);
    const std::string type = text(root, "type");
    const int64_t place = integer(root, "output_index").value_or(-1);
    if (items_.size() > items_max) return malformed("more than a thousand items");
    if (type == "response.output_item.added") {
      if (const auto* item = find(root, "item")) added(place, *item);
    } else if (type == "response.output_text.delta" || type == "response.refusal.delta") {
      refused_ = refused_ || type == "response.refusal.delta";
      say(place, integer(root, "content_index").value_or(0), text(root, "delta"));
    } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
      const bool summary = type == "response.reasoning_summary_text.delta";
      reason(place, integer(root, summary ? "summary_index" : "content_index").value_or(0), text(root, "delta"));
    } else if (type == "response.function_call_arguments.delta") {
      if (const auto it = items_.find(place); it != items_.end() && it->second.index)
        add_input(*it->second.index, text(root, "delta"));
    } else if (type == "response.output_item.done") {
      if (const auto* item = find(root, "item")) done(place, *item);
    } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
      if (const auto* response = find(root, "response"))
        ended_with(*response);
      else
        malformed(type + " without its response");
    } else if (type == "response.created") {
      if (const auto* response = find(root, "response")) answer_.model = text(*response, "model");
    } else if (type == "error" || find(root, "error")) {
      if (text(root, "object") == "response")
        ended_with(root);
      else
        wrong(decode_error(data));
    } else if (text(root, "object") == "response") {
      ended_with(root);
    }
  }

  struct Item {
    std::optional<size_t> index;       // Of its block; of a message that of its last part.
    std::map<int64_t, size_t> parts;   // Of a message: the blocks of its parts.
    std::optional<int64_t> last_part;  // Of reasoning.
    bool is_done = false;
  };

  void added(int64_t place, const json::value& item) {
    Item& made = items_[place];
    const std::string type = text(item, "type");
    if (type == "function_call")
      made.index =
          begin({.type = Block::Type::tool_call, .call_id = text(item, "call_id"), .name = text(item, "name")});
    if (type == "reasoning") made.index = begin({.type = Block::Type::reasoning});
  }

  void say(int64_t place, int64_t part, std::string_view piece) {
    if (piece.empty()) return;
    Item& item = items_[place];
    if (!item.parts.contains(part)) item.parts[part] = begin({.type = Block::Type::text});
    item.index = item.parts[part];
    add_text(*item.index, piece);
  }

  void reason(int64_t place, int64_t part, std::string_view piece) {
    Item& item = items_[place];
    if (!item.index) item.index = begin({.type = Block::Type::reasoning});
    if (item.last_part && *item.last_part != part) add_text(*item.index, "\n\n");
    item.last_part = part;
    add_text(*item.index, piece);
  }

  // The whole item: what it says counts, and what no event told before is told now.
  void done(int64_t place, const json::value& item) {
    if (items_[place].is_done) return;
    const std::string type = text(item, "type");
    if (type == "function_call") {
      if (!items_[place].index) added(place, item);
      Block& block = answer_.blocks[*items_[place].index];
      const std::string arguments = text(item, "arguments");
      if (block.input.empty())
        add_input(*items_[place].index, arguments);
      else if (!arguments.empty())
        block.input = arguments;
      if (block.call_id.empty()) block.call_id = text(item, "call_id");
      if (block.name.empty()) block.name = text(item, "name");
    } else if (type == "reasoning") {
      if (!items_[place].index) added(place, item);
      if (answer_.blocks[*items_[place].index].text.empty())
        each(item, "summary",
             [&](int64_t part, const json::value& summary) { reason(place, part, text(summary, "text")); });
      keep(answer_.blocks[*items_[place].index], item, {"type", "id", "summary", "content", "encrypted_content"});
    } else if (type == "message") {
      each(item, "content", [&](int64_t part, const json::value& content) {
        if (items_[place].parts.contains(part)) return;
        refused_ = refused_ || text(content, "type") == "refusal";
        say(place, part, text(content, "text") + text(content, "refusal"));
      });
      if (items_[place].index) keep(answer_.blocks[*items_[place].index], item, {"phase"});
    }
    items_[place].is_done = true;
  }

  template <class Take>
  void each(const json::value& in, const char* name, Take&& take) {
    const auto* list = find(in, name);
    if (!list || !list->is_array()) return;
    int64_t place = 0;
    for (const json::value& value : list->get_array()) take(place++, value);
  }

  void keep(Block& block, const json::value& item, std::initializer_list<const char*> names) {
    json::object own;
    for (const char* name : names)
      if (const auto* value = find(item, name)) own[name] = *value;
    if (!own.empty()) block.opaque = make_opaque(Api::openai_responses, json::serialize(own));
  }

  void ended_with(const json::value& response) {
    if (const std::string model = text(response, "model"); !model.empty()) answer_.model = model;
    if (const auto* use = find(response, "usage")) count(*use);
    const std::string status = text(response, "status");
    if (status == "failed" || status == "cancelled" || find(response, "error")) {
      wrong(decode_error(json::serialize(response)));
      return;
    }
    // Events that a server left out.
    each(response, "output", [&](int64_t place, const json::value& item) {
      if (items_.size() <= items_max) done(place, item);
    });
    answer_.stop = refused_ ? Stop::refusal : Stop::end;
    if (const auto* why = find(response, "incomplete_details"); why && status == "incomplete") {
      const std::string reason = text(*why, "reason");
      answer_.stop = reason == "max_output_tokens" ? Stop::length
                     : reason == "content_filter"  ? Stop::refusal
                                                   : Stop::other;
    }
    complete_ = true;
  }

  void count(const json::value& use) {
    const int64_t input = integer(use, "input_tokens").value_or(0);
    int64_t cached = 0;
    if (const auto* details = find(use, "input_tokens_details"))
      cached = integer(*details, "cached_tokens").value_or(0);
    cached = std::min(cached, input);
    answer_.use.input = input - cached;
    answer_.use.cache_read = cached;
    answer_.use.output = integer(use, "output_tokens").value_or(0);
    if (const auto* details = find(use, "output_tokens_details"))
      answer_.use.reasoning = integer(*details, "reasoning_tokens").value_or(0);
    answer_.use_known = true;
  }

  std::map<int64_t, Item> items_;
  bool refused_ = false;
};

}  // namespace

std::unique_ptr<Decoder> responses_decoder(std::string id_prefix) {
  return std::make_unique<ResponsesDecoder>(std::move(id_prefix));
}

}  // namespace errand::model
