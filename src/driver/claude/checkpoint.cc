// What a turn keeps, so that the next server can go on with it.
#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"
#include "driver/claude/claude_turn.h"

namespace errand::claude {
namespace {

constexpr size_t result_max = 1 << 20;

std::string text_at(const boost::json::object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}
int64_t number_at(const boost::json::object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found && found->is_int64() ? found->get_int64() : 0;
}
bool flag_at(const boost::json::object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found && found->is_bool() && found->get_bool();
}

}  // namespace

// {"next":17,"sent":[[kind,key,uuid,number,taken]],"asks":{"request":"input"},"mark":[…],"result":{…},…}
std::string ClaudeTurn::checkpoint() const {
  std::string text;
  JsonOut out(text);
  out.object().field("next", next_);
  // The program that another turn has started.
  if (!has_own_program()) out.field("run", run_).field("cpu_from", cpu_from_);
  out.key("sent").array();
  for (const Sent& sent : sent_) {
    out.array().value(static_cast<int>(sent.kind)).value(sent.key).value(sent.uuid).value(sent.number);
    out.value(sent.taken).end();
  }
  out.end().key("asks").object();
  for (const auto& [request_id, question] : asks_) out.field(request_id, question);
  out.end().key("mark").raw(translator_.mark());
  out.field("working", working_).field("background", background_).field("lifecycle", lifecycle_);
  out.field("shells", shells_).field("begun", begun_);
  out.field("until", until_.ms).field("backoff", backoff_ms_);
  if (last_) {
    out.key("result").object().field("is_error", last_->is_error).field("subtype", last_->subtype);
    out.field("text", std::string_view(last_->text).substr(0, utf8_prefix(last_->text, result_max)));
    out.field("reason", last_->terminal_reason).field("status", last_->status).field("error", last_->error);
    out.field("cost", last_->total_cost).end();
  }
  out.end();
  return text;
}

void ClaudeTurn::restore(std::string_view text) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text.empty() ? "null" : text, error);
  const boost::json::object* object = error ? nullptr : value.if_object();
  if (!object) return;
  next_ = number_at(*object, "next");
  if (std::string run = text_at(*object, "run"); !run.empty()) run_ = std::move(run);
  if (const auto* cpu = object->if_contains("cpu_from"); cpu && cpu->is_number()) cpu_from_ = cpu->to_number<double>();
  working_ = flag_at(*object, "working");
  lifecycle_ = flag_at(*object, "lifecycle");
  background_ = number_at(*object, "background");
  shells_ = number_at(*object, "shells");
  begun_ = static_cast<int>(number_at(*object, "begun"));
  until_ = Time{number_at(*object, "until")};
  backoff_ms_ = number_at(*object, "backoff");
  if (const auto* sent = object->if_contains("sent"); sent && sent->is_array())
    for (const boost::json::value& item : sent->get_array()) {
      const boost::json::array* one = item.if_array();
      if (!one || one->size() != 5 || !(*one)[0].is_int64() || !(*one)[1].is_string() || !(*one)[2].is_string() ||
          !(*one)[3].is_int64() || !(*one)[4].is_bool())
        continue;
      sent_.push_back({.kind = static_cast<Sent::Kind>((*one)[0].get_int64()),
                       .key = std::string((*one)[1].get_string()),
                       .uuid = std::string((*one)[2].get_string()),
                       .number = (*one)[3].get_int64(),
                       .taken = (*one)[4].get_bool()});
    }
  if (const auto* asks = object->if_contains("asks"); asks && asks->is_object())
    for (const auto& ask : asks->get_object())
      if (ask.value().is_string()) asks_[std::string(ask.key())] = ask.value().get_string();
  if (const auto* mark = object->if_contains("mark")) translator_ = Translator::from(boost::json::serialize(*mark));
  if (const auto* result = object->if_contains("result"); result && result->is_object()) {
    const boost::json::object& stored = result->get_object();
    Event& last = last_.emplace();
    last.type = Event::Type::result;
    last.is_error = flag_at(stored, "is_error");
    last.subtype = text_at(stored, "subtype");
    last.text = text_at(stored, "text");
    last.terminal_reason = text_at(stored, "reason");
    last.status = number_at(stored, "status");
    last.error = text_at(stored, "error");
    if (const auto* cost = stored.if_contains("cost"); cost && cost->is_number())
      last.total_cost = cost->to_number<double>();
  }
  for (const Sent& sent : sent_)
    if (sent.kind == Sent::Kind::message && sent.taken) known_.insert(MessageId(sent.key));
}

}  // namespace errand::claude
