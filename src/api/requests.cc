#include "api/requests.h"

#include <algorithm>
#include <cctype>

#include "api/fields.h"
#include "api/launch.h"
#include "base/text.h"

namespace errand::api {
namespace {

constexpr TextRule id_rule{.bytes_max = 200, .one_line = true};

// Reads a body by `read(Fields&, T&)`.
template <class T, class Read>
Result<T> parse_with(const Result<Document>& document, Read read) {
  if (!document) return std::unexpected(document.error());
  T into{};
  Fields fields(document->value());
  read(fields, into);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return into;
}

// The engine takes either the text or the parts.
void read_new_message(Fields& fields, NewMessage& message) {
  Content content;
  read_message_or_content(fields, content);
  message.content = std::move(content.json);
  if (message.content.empty()) message.text = std::move(content.text);
}

}  // namespace

Result<NewMessage> parse_message(std::string_view body) {
  return parse_with<NewMessage>(Document::parse(body), [](Fields& fields, NewMessage& message) {
    read_new_message(fields, message);
    fields.name_of("when", message.when, parse_when, "`steer`, `queue` or `interrupt`");
  });
}

Result<NewMessage> parse_resume(std::string_view body) {
  return parse_with<NewMessage>(Document::parse(body), read_new_message);
}

Result<std::optional<NewMessage>> parse_retry(std::string_view body) {
  using Maybe = std::optional<NewMessage>;
  return parse_with<Maybe>(Document::parse_or_empty(body), [](Fields& fields, Maybe& message) {
    if (fields.has("message") || fields.has("content")) read_new_message(fields, message.emplace());
  });
}

Result<input::Edit> parse_edit(std::string_view body) {
  return parse_with<input::Edit>(Document::parse(body), [](Fields& fields, input::Edit& edit) {
    if (fields.has("title")) {
      fields.text("title", edit.title.emplace(), {.bytes_max = 1024});
      if (!fields.failed() && shown_title(*edit.title).empty())
        fields.refuse("title", "must have a character that can be seen");
    }
    fields.map_or_null("labels", edit.labels, labels_max, {.bytes_max = 1024, .may_be_blank = true});
    for (const auto& [label, value] : edit.labels)
      if (!is_label(label)) fields.refuse("labels", label_rule);
    if (fields.has("pinned")) fields.flag("pinned", edit.pinned.emplace());
    if (fields.has("archived")) fields.flag("archived", edit.archived.emplace());
    if (!edit.title && edit.labels.empty() && !edit.pinned && !edit.archived)
      fields.refuse_all("Give what to change: `title`, `labels`, `pinned` or `archived`.", "missing_field");
  });
}

Result<input::Answered> parse_answer(std::string_view body) {
  return parse_with<input::Answered>(Document::parse(body), [](Fields& fields, input::Answered& answer) {
    constexpr TextRule prose{.bytes_max = 1u << 20, .may_be_blank = true};
    if (!fields.has("request_id"))
      fields.refuse("request_id", "must be given: `waiting_for` names it", "missing_field");
    fields.text("request_id", answer.request_id, id_rule);
    const bool has_answer = fields.has("answer");
    if (has_answer == fields.has("decision")) {
      fields.refuse_all(
          "Give `decision` (`allow`, `allow_always` or `deny`) for a permission, or `answer` for a question.",
          "invalid_field");
    }
    if (has_answer) {
      if (fields.has("message")) fields.refuse("message", "goes with `decision`, not with `answer`");
      answer.decision = "answer";
      fields.text("answer", answer.message, prose);
    } else {
      fields.text("decision", answer.decision, id_rule);
      fields.text("message", answer.message, prose);
      if (answer.decision != "allow" && answer.decision != "allow_always" && answer.decision != "deny") {
        fields.refuse("decision", "must be `allow`, `allow_always` or `deny`", "out_of_range");
      }
      fields.name_of("scope", answer.scope, parse_answer_scope, "`once`, `call`, `pattern`, `task` or `agent`");
      fields.text("pattern", answer.pattern, {.bytes_max = 32 * 1024});
      if (answer.scope == AnswerScope::pattern && answer.pattern.empty())
        fields.refuse("pattern", "must be given with scope `pattern`: `waiting_for.patterns` has those to choose from",
                      "missing_field");
    }
  });
}

Result<Tasks::Scope> parse_clear(std::string_view body) {
  return parse_with<Tasks::Scope>(Document::parse_or_empty(body), [](Fields& fields, Tasks::Scope& scope) {
    std::string id;
    int given = 0;
    const auto take = [&](const char* name, auto& into) {
      if (!fields.has(name)) return;
      ++given;
      fields.text(name, id, id_rule);
      into.emplace(id);
    };
    take("task_id", scope.task);
    take("batch_id", scope.batch);
    take("parent_session_id", scope.parent_session);
    if (given > 1) fields.refuse_all("Give one of `task_id`, `batch_id` and `parent_session_id`.", "invalid_field");
  });
}

Result<Session> parse_session(std::string_view body) {
  return parse_with<Session>(Document::parse_or_empty(body), [](Fields& fields, Session& session) {
    session.origin = "rest";
    fields.text("id", session.id.value, id_rule);
    const bool plain = std::ranges::all_of(session.id.value, [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == ':';
    });
    if (!plain) fields.refuse("id", "must be made of letters, digits and _ - . :");
    fields.text("title", session.title, {.bytes_max = 4096, .may_be_blank = true});
  });
}

Status parse_nothing(std::string_view body) {
  const Result<Document> document = Document::parse_or_empty(body);
  if (!document) return std::unexpected(document.error());
  return Fields(document->value()).done();
}

Result<std::string> parse_idempotency_key(std::string_view header) {
  std::string_view key = trim(header);
  if (key.size() >= 2 && key.starts_with('"') && key.ends_with('"')) key = key.substr(1, key.size() - 2);
  const bool printable = std::ranges::all_of(key, [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '"'; });
  if (key.empty() || key.size() > 200 || !printable) {
    return fail(Code::invalid_argument, "`Idempotency-Key` must be 1 to 200 printable characters without blanks.",
                "invalid_field");
  }
  return std::string(key);
}

}  // namespace errand::api
