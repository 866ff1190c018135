#include "notify/records.h"

#include <boost/json.hpp>

#include "base/encode.h"
#include "base/json_out.h"

namespace errand::notify {
namespace {

namespace json = boost::json;

// Reads what encode() wrote.
class Row {
 public:
  explicit Row(std::string_view text) {
    json::error_code error;
    value_ = json::parse(text, error);
    good_ = !error && value_.is_object();
  }

  std::string text(std::string_view name) {
    const json::value* found = find(name);
    if (found == nullptr || !found->is_string()) return wrong<std::string>();
    return std::string(found->as_string());
  }
  // Of what older ones have not got.
  std::string text_or_none(std::string_view name) { return find(name) == nullptr ? std::string() : text(name); }
  int64_t number(std::string_view name) {
    const json::value* found = find(name);
    return found != nullptr && found->is_int64() ? found->as_int64() : wrong<int64_t>();
  }
  bool flag(std::string_view name) {
    const json::value* found = find(name);
    return found != nullptr && found->is_bool() ? found->as_bool() : wrong<bool>();
  }
  Time time(std::string_view name) { return {number(name)}; }
  template <class E>
  E word(std::string_view name, std::optional<E> (*parse)(std::string_view)) {
    const std::optional<E> value = parse(text(name));
    return value ? *value : wrong<E>();
  }
  std::vector<std::string> texts(std::string_view name) {
    const json::value* found = find(name);
    if (found == nullptr || !found->is_array()) return wrong<std::vector<std::string>>();
    std::vector<std::string> all;
    for (const json::value& one : found->as_array())
      if (one.is_string()) all.emplace_back(one.as_string());
    return all;
  }
  template <class T>
  Result<T> done(T value) {
    if (!good_) return fail(Code::internal, "A stored row of the notifications is damaged.", "corrupt");
    return value;
  }

 private:
  const json::value* find(std::string_view name) const {
    return good_ ? value_.as_object().if_contains(name) : nullptr;
  }
  template <class T>
  T wrong() {
    good_ = false;
    return T{};
  }

  json::value value_;
  bool good_ = false;
};

}  // namespace

std::string target_row(std::string_view target) {
  return std::string(records_prefix) + "target/" + std::string(target);
}
std::string standing_row(std::string_view target) {
  return std::string(records_prefix) + "standing/" + std::string(target);
}
std::string cursor_row(std::string_view target) {
  return std::string(records_prefix) + "cursor/" + std::string(target);
}
std::string owed_row(std::string_view target, std::string_view notification) {
  return std::string(records_prefix) + "owed/" + std::string(target) + "/" + std::string(notification);
}

std::string encode(const Target& target) {
  std::string text;
  JsonOut out(text);
  out.object().field("id", target.id).field("name", target.name).field("shape", name(target.shape));
  out.field("url", target.url).field("secret", target.secret).field("old_secret", target.old_secret);
  out.field("old_until_ms", target.old_until.ms).field("token", target.token).key("on").array();
  for (const Occasion occasion : target.on.list()) out.value(name(occasion));
  out.end().field("push_key", target.push_key).field("push_auth", target.push_auth);
  out.field("content", name(target.content)).field("subtasks", target.subtasks);
  out.field("quiet", target.quiet ? to_text(*target.quiet) : std::string());
  out.field("enabled", target.enabled).field("disabled_because", target.disabled_because);
  out.field("created_ms", target.created_at.ms).end();
  return text;
}

Result<Target> decode_target(std::string_view text) {
  Row row(text);
  Target target{.id = row.text("id"),
                .name = row.text("name"),
                .shape = row.word<Shape>("shape", parse_shape),
                .url = row.text("url"),
                .secret = row.text("secret"),
                .old_secret = row.text("old_secret"),
                .old_until = row.time("old_until_ms"),
                .token = row.text("token"),
                .push_key = row.text_or_none("push_key"),
                .push_auth = row.text_or_none("push_auth"),
                .on = {},
                .content = row.word<Content>("content", parse_content),
                .subtasks = row.flag("subtasks"),
                .quiet = parse_quiet(row.text("quiet")),
                .enabled = row.flag("enabled"),
                .disabled_because = row.text("disabled_because"),
                .created_at = row.time("created_ms")};
  for (const std::string& word : row.texts("on"))
    if (const std::optional<Occasion> occasion = parse_occasion(word)) target.on.add(*occasion);
  return row.done(std::move(target));
}

std::string encode(const Standing& standing) {
  std::string text;
  JsonOut out(text);
  out.object().field("delivered", standing.delivered);
  out.field("given_up", standing.given_up).field("delivered_ms", standing.delivered_at.ms);
  out.field("error", standing.error).field("error_ms", standing.error_at.ms).end();
  return text;
}

Result<Standing> decode_standing(std::string_view text) {
  Row row(text);
  Standing standing{.delivered = row.number("delivered"),
                    .given_up = row.number("given_up"),
                    .delivered_at = row.time("delivered_ms"),
                    .error = row.text("error"),
                    .error_at = row.time("error_ms")};
  return row.done(std::move(standing));
}

std::string encode_sender(std::string_view private_key) {
  std::string text;
  JsonOut(text).object().field("private", to_base64url(private_key)).end();
  return text;
}

Result<std::string> decode_sender(std::string_view text) {
  Row row(text);
  const std::string key = row.text("private");
  return row.done(from_base64(key).value_or(""));
}

std::string encode_cursor(int64_t pos) {
  std::string text;
  JsonOut(text).object().field("pos", pos).end();
  return text;
}

Result<int64_t> decode_cursor(std::string_view text) {
  Row row(text);
  const int64_t pos = row.number("pos");
  return row.done(pos);
}

std::string encode(const Owed& owed) {
  const Notification& told = owed.notification;
  std::string text;
  JsonOut out(text);
  out.object().field("id", told.id).field("pos", told.pos).field("at_ms", told.at.ms);
  out.field("occasion", name(told.occasion)).field("task_id", told.task_id.value).field("kind", told.kind);
  out.field("status", told.status).field("reason", told.reason).field("request_id", told.request_id);
  out.field("question", told.question).field("title", told.title).field("agent", told.agent);
  out.field("batch_id", told.batch_id).field("text", told.text);
  out.field("tries", owed.tries).field("due_ms", owed.due.ms).end();
  return text;
}

Result<Owed> decode_owed(std::string_view text) {
  Row row(text);
  Owed owed{.notification = {.id = row.text("id"),
                             .pos = row.number("pos"),
                             .at = row.time("at_ms"),
                             .occasion = row.word<Occasion>("occasion", parse_occasion),
                             .task_id = TaskId(row.text("task_id")),
                             .kind = row.text("kind"),
                             .status = row.text("status"),
                             .reason = row.text("reason"),
                             .request_id = row.text("request_id"),
                             .question = row.text("question"),
                             .title = row.text("title"),
                             .agent = row.text("agent"),
                             .batch_id = row.text("batch_id"),
                             .text = row.text("text")},
            .tries = static_cast<int>(row.number("tries")),
            .due = row.time("due_ms")};
  return row.done(std::move(owed));
}

}  // namespace errand::notify
