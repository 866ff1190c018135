#include "api/webhooks.h"

#include "api/fields.h"
#include "base/encode.h"
#include "base/json_out.h"
#include "base/text.h"
#include "crypto/p256.h"
#include "notify/web_push.h"

namespace errand::api {
namespace {

using notify::Content;
using notify::Occasion;
using notify::Occasions;
using notify::Quiet;
using notify::Shape;

// What may also be changed later.
void read_rules(Fields& fields, notify::TargetChange& into) {
  std::string text;
  if (fields.has("name")) {
    fields.text("name", text, {.bytes_max = notify::target_name_max, .one_line = true});
    into.name = text;
  }
  if (fields.has("on")) {
    std::vector<std::string> words;
    fields.texts("on", words, notify::occasion_count, {.bytes_max = 20});
    Occasions on;
    for (const std::string& word : words) {
      const std::optional<Occasion> occasion = notify::parse_occasion(word);
      if (!occasion) {
        fields.refuse("on", "must be of: asked, failed, completed, cancelled", "out_of_range");
        return;
      }
      on.add(*occasion);
    }
    if (on.empty()) fields.refuse("on", "must name at least one of: asked, failed, completed, cancelled", "empty");
    into.on = on;
  }
  if (fields.has("content")) {
    Content content = Content::title;
    fields.name_of<Content>("content", content, notify::parse_content, "none, title or text");
    into.content = content;
  }
  if (fields.has("subtasks")) {
    bool subtasks = false;
    fields.flag("subtasks", subtasks);
    into.subtasks = subtasks;
  }
  if (fields.has("quiet")) {
    std::string quiet;
    fields.text("quiet", quiet, {.bytes_max = 20, .may_be_blank = true});
    const std::optional<Quiet> hours = notify::parse_quiet(quiet);
    if (!hours && !quiet.empty()) fields.refuse("quiet", "must have the form 22:00-07:00, or be empty", "out_of_range");
    into.quiet = hours;
  }
}

void write_rules(JsonOut& out, const notify::Target& target) {
  out.key("on").array();
  for (const Occasion occasion : target.on.list()) out.value(name(occasion));
  out.end().field("content", name(target.content)).field("subtasks", target.subtasks);
  out.text_or_null("quiet", target.quiet ? to_text(*target.quiet) : std::string());
}

void write_standing(JsonOut& out, const notify::TargetView& view) {
  out.field("waiting", view.waiting).field("next_try_at", view.next_try);
  out.field("delivered", view.standing.delivered).field("delivered_at", view.standing.delivered_at);
  out.field("given_up", view.standing.given_up).text_or_null("error", view.standing.error);
  out.field("error_at", view.standing.error_at);
}

void write_webhook(JsonOut& out, const notify::TargetView& view, bool with_secret) {
  const notify::Target& target = view.target;
  out.object().field("id", target.id).field("name", target.name).field("shape", name(target.shape));
  out.field("url", notify::masked(target.url));
  write_rules(out, target);
  out.field("enabled", target.enabled).text_or_null("disabled_because", target.disabled_because);
  out.field("created_at", target.created_at);
  write_standing(out, view);
  if (with_secret && !target.secret.empty()) out.field("secret", target.secret);
  out.end();
}

}  // namespace

Result<notify::Target> parse_webhook(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Fields fields(document->value());
  notify::Target target;
  notify::TargetChange rules;
  if (!fields.has("url")) fields.refuse("url", "must be given: where the notifications go", "missing_field");
  fields.text("url", target.url, {.bytes_max = notify::url_max, .one_line = true});
  target.shape = notify::guess_shape(target.url);
  fields.name_of<Shape>("shape", target.shape, notify::parse_webhook_shape, "standard, ntfy, slack or discord");
  fields.text("secret", target.secret, {.bytes_max = 200, .one_line = true});
  fields.text("token", target.token, {.bytes_max = notify::token_max, .one_line = true});
  read_rules(fields, rules);
  if (!fields.failed() && !target.secret.empty() &&
      (target.shape != Shape::standard || !notify::secret_bytes(target.secret)))
    fields.refuse("secret", "must be whsec_ and 24 to 64 bytes in base64, of a webhook of the shape standard");
  if (!fields.failed() && !target.token.empty() && target.shape != Shape::ntfy)
    fields.refuse("token", "goes with the shape ntfy");
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  target.name = rules.name.value_or("");
  if (target.name.empty()) target.name = notify::parse_url(target.url).value_or(notify::Url{}).host;
  target.on = rules.on.value_or(target.on);
  target.content = rules.content.value_or(target.content);
  target.subtasks = rules.subtasks.value_or(target.subtasks);
  target.quiet = rules.quiet.value_or(std::nullopt);
  return target;
}

Result<notify::TargetChange> parse_webhook_change(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Fields fields(document->value());
  notify::TargetChange change;
  read_rules(fields, change);
  if (fields.has("enabled")) {
    bool enabled = true;
    fields.flag("enabled", enabled);
    change.enabled = enabled;
  }
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return change;
}

std::string webhook_reply(const notify::TargetView& view) {
  std::string text;
  JsonOut out(text);
  write_webhook(out, view, false);
  return text;
}

std::string webhook_reply_with_secret(const notify::TargetView& view) {
  std::string text;
  JsonOut out(text);
  write_webhook(out, view, true);
  return text;
}

std::string webhooks_reply(const std::vector<notify::TargetView>& views) {
  std::string text;
  JsonOut out(text);
  out.object().key("webhooks").array();
  for (const notify::TargetView& view : views)
    if (view.target.shape != Shape::push) write_webhook(out, view, false);
  out.end().end();
  return text;
}

Result<notify::Target> parse_push(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Fields fields(document->value());
  notify::Target target;
  notify::TargetChange rules;
  target.shape = Shape::push;
  // It is encrypted for a browser that may read all of the task.
  target.content = Content::text;
  for (const std::string_view name : {"endpoint", "keys"})
    if (!fields.has(name)) fields.refuse(name, "must be given, as the browser's subscription has it", "missing_field");
  fields.text("endpoint", target.url, {.bytes_max = notify::url_max, .one_line = true});
  fields.inner("keys", [&](Fields& keys) {
    keys.text("p256dh", target.push_key, {.bytes_max = 100, .one_line = true});
    keys.text("auth", target.push_auth, {.bytes_max = 40, .one_line = true});
    if (!crypto::is_public_key(from_base64(target.push_key).value_or("")))
      keys.refuse("p256dh", "must be a public key of P-256 in base64url");
    if (from_base64(target.push_auth).value_or("").size() != notify::push_auth_bytes)
      keys.refuse("auth", "must be 16 bytes in base64url");
  });
  read_rules(fields, rules);
  if (rules.name) fields.refuse("name", "is the device's own");
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  target.on = rules.on.value_or(target.on);
  target.content = rules.content.value_or(target.content);
  target.subtasks = rules.subtasks.value_or(target.subtasks);
  target.quiet = rules.quiet.value_or(std::nullopt);
  return target;
}

std::string push_reply(const notify::TargetView& view) {
  std::string text;
  JsonOut out(text);
  out.object().field("service", notify::masked(view.target.url));
  write_rules(out, view.target);
  write_standing(out, view);
  out.end();
  return text;
}

std::string webhook_test_reply(const notify::Outcome& outcome) {
  std::string text;
  JsonOut out(text);
  out.object().field("delivered", outcome.delivered()).key("status");
  if (outcome.status > 0) {
    out.value(outcome.status);
  } else {
    out.null();
  }
  out.text_or_null("error", outcome.error).end();
  return text;
}

}  // namespace errand::api
