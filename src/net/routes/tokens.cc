// Tokens with scopes: who else may use this server, and for what.
#include "net/tokens.h"

#include "api/fields.h"
#include "api/query.h"
#include "api/requests.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

struct NewToken {
  std::string name;
  Scopes scopes;
  double expires_in_s = 0;
};

Result<NewToken> parse_token(std::string_view body) {
  const Result<api::Document> document = api::Document::parse(body);
  if (!document) return std::unexpected(document.error());
  NewToken wanted;
  std::vector<std::string> words;
  api::Fields fields(document->value());
  if (!fields.has("name")) fields.refuse("name", "must be given: who the token is for", "missing_field");
  fields.text("name", wanted.name, {.bytes_max = token_name_max, .one_line = true});
  fields.texts("scopes", words, scope_count, {.bytes_max = 20});
  fields.positive("expires_in_s", wanted.expires_in_s, api::seconds_max);
  for (const std::string& word : words) {
    const std::optional<Scope> scope = parse_scope(word);
    if (!scope) {
      fields.refuse("scopes", "must be of: read, tasks, exec, approve, admin", "out_of_range");
      break;
    }
    wanted.scopes.add(*scope);
  }
  if (wanted.scopes.empty())
    fields.refuse("scopes", "must name at least one of: read, tasks, exec, approve, admin", "empty");
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return wanted;
}

bool absent(const Context& context, const Call& call) {
  if (context.parts.tokens) return false;
  call.refuse({Code::not_found, "This server keeps no tokens.", "unknown_path"});
  return true;
}

}  // namespace

void list_tokens(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  std::string text = R"({"tokens":[)";
  bool first = true;
  for (const Token& token : context.parts.tokens->list())
    text += (std::exchange(first, false) ? "" : ",") + token_json(token);
  call.answer(200, text + "]}");
}

void add_token(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  Result<NewToken> wanted = parse_token(call.request().body);
  if (!wanted) return call.refuse(wanted.error());
  Time expires = wanted->expires_in_s > 0
                     ? context.parts.clock.wall() + static_cast<Millis>(wanted->expires_in_s * 1'000)
                     : Time{};
  // Nobody makes a token that outlives his own.
  const Time own = call.request().who.expires_at;
  if (own && (!expires || own < expires)) expires = own;
  context.parts.tokens->add(std::move(wanted->name), wanted->scopes, expires,
                            [call = std::move(call)](const Result<Tokens::Made>& made) {
                              if (!made) return call.refuse(made.error());
                              call.answer(201, token_json(made->token, made->secret));
                            });
}

void remove_token(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_nothing(call.request().body); !status) return call.refuse(status.error());
  const std::string id = call.args[0];
  const bool own = call.request().who.id == id;
  context.parts.tokens->remove(id, [call = std::move(call)](const Result<void>& removed) {
    if (!removed) return call.refuse(removed.error());
    call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
  });
  // What it has open ends with it; its holder still hears the answer to this call.
  if (!own && context.parts.end_stale) context.parts.end_stale();
}

}  // namespace errand::net
