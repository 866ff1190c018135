#include "net/tokens.h"

#include <boost/json.hpp>
#include <openssl/sha.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::net {
namespace {

namespace json = boost::json;

constexpr std::string_view setting_prefix = "token/";
constexpr std::string_view secret_prefix = "errand_";
constexpr int secret_bytes = 32;

// The secret has 256 bits of chance: a plain hash cannot be turned round.
std::string hash_of(std::string_view secret) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), bytes);
  std::string out;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += {digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

void write_token(JsonOut& out, const Token& token) {
  out.field("id", token.id).field("name", token.name).key("scopes").array();
  for (const Scope scope : token.scopes.list()) out.value(name(scope));
  out.end().field("created_at", token.created_at).field("expires_at", token.expires_at);
  out.field("last_used_at", token.last_used_at);
}

std::string stored_json(const Token& token, std::string_view hash) {
  std::string text;
  JsonOut out(text);
  out.object().field("id", token.id).field("name", token.name).key("scopes").array();
  for (const Scope scope : token.scopes.list()) out.value(name(scope));
  out.end()
      .field("created_ms", token.created_at.ms)
      .field("expires_ms", token.expires_at.ms)
      .field("used_ms", token.last_used_at.ms)
      .field("sha256", hash)
      .end();
  return text;
}

}  // namespace

Status Tokens::load() {
  const Result<std::vector<Commit::Setting>> settings = store_.settings(std::string(setting_prefix));
  if (!settings) return std::unexpected(settings.error());
  for (const Commit::Setting& setting : *settings) {
    json::error_code error;
    const json::value value = json::parse(setting.json, error);
    const json::object* object = error ? nullptr : value.if_object();
    const auto field = [&](std::string_view key, auto is) {
      const json::value* found = object ? object->if_contains(key) : nullptr;
      return found && is(*found) ? found : nullptr;
    };
    const auto text = [](const json::value& v) { return v.is_string(); };
    const auto number = [](const json::value& v) { return v.is_int64(); };
    const json::value *id = field("id", text), *called = field("name", text), *hash = field("sha256", text);
    const json::value *made = field("created_ms", number), *ends = field("expires_ms", number);
    const json::value* used = field("used_ms", number);
    const json::value* scopes = field("scopes", [](const json::value& v) { return v.is_array(); });
    if (!id || !called || !hash || !made || !ends || !used || !scopes)
      return fail(Code::internal, "The stored token \"" + setting.name + "\" is damaged; restore the database.",
                  "corrupt");
    Kept kept{.token = {.id = std::string(id->as_string()),
                        .name = std::string(called->as_string()),
                        .scopes = {},
                        .created_at = {made->as_int64()},
                        .expires_at = {ends->as_int64()},
                        .last_used_at = {used->as_int64()}},
              .hash = std::string(hash->as_string()),
              .stored_use = {used->as_int64()}};
    // A scope that a newer errand knows is none here.
    for (const json::value& one : scopes->as_array())
      if (const auto scope = one.is_string() ? parse_scope(one.as_string()) : std::nullopt)
        kept.token.scopes.add(*scope);
    hashes_[kept.hash] = kept.token.id;
    const std::string key = kept.token.id;
    kept_.insert_or_assign(key, std::move(kept));
  }
  return {};
}

std::optional<Principal> Tokens::use(std::string_view secret) {
  if (!secret.starts_with(secret_prefix) || secret.size() > 200) return std::nullopt;
  // Who guesses learns nothing from how long a look into the tree takes: it is one of hashes.
  const auto id = hashes_.find(hash_of(secret));
  if (id == hashes_.end()) return std::nullopt;
  Kept& kept = kept_.at(id->second);
  Token& token = kept.token;
  if (has_ended(token)) return std::nullopt;
  token.last_used_at = clock_.wall();
  if (token.last_used_at - kept.stored_use >= last_use_ms) {
    kept.stored_use = token.last_used_at;
    store_setting(std::string(setting_prefix) + token.id, stored_json(token, kept.hash), [](const Result<void>&) {});
  }
  return Principal{
      .id = token.id, .scopes = token.scopes, .expires_at = token.expires_at, .task = {}, .run = 0, .session = {}};
}

bool Tokens::is_good(const std::string& id) const {
  const auto found = kept_.find(id);
  return found != kept_.end() && !has_ended(found->second.token);
}

std::vector<Token> Tokens::list() const {
  std::vector<Token> out;
  out.reserve(kept_.size());
  for (const auto& [id, kept] : kept_) out.push_back(kept.token);
  return out;
}

void Tokens::store_setting(std::string setting, std::string text, std::move_only_function<void(Result<void>)> reply) {
  Commit commit;
  commit.settings.push_back({std::move(setting), std::move(text)});
  commit.now = clock_.wall();
  std::vector<Commit> group;
  group.push_back(std::move(commit));
  store_.commit(std::move(group), [reply = std::move(reply)](std::vector<Result<Committed>> done) mutable {
    if (!done[0]) return reply(std::unexpected(done[0].error()));
    reply({});
  });
}

void Tokens::add(std::string token_name, Scopes scopes, Time expires_at,
                 std::move_only_function<void(Result<Made>)> reply) {
  if (kept_.size() >= tokens_max)
    return reply(fail(Code::exhausted, "The server has as many tokens as it allows. Revoke some: errand token list"));
  const std::string secret = std::string(secret_prefix) + random_secret(random_, secret_bytes);
  IdSource ids(clock_, random_);
  Kept kept{.token = {.id = "tok_" + ids.task().value.substr(5),
                      .name = std::move(token_name),
                      .scopes = scopes,
                      .created_at = clock_.wall(),
                      .expires_at = expires_at,
                      .last_used_at = {}},
            .hash = hash_of(secret)};
  const std::string text = stored_json(kept.token, kept.hash);
  store_setting(std::string(setting_prefix) + kept.token.id, text,
                [this, kept, secret, reply = std::move(reply)](Result<void> stored) mutable {
                  if (!stored) return reply(std::unexpected(stored.error()));
                  hashes_[kept.hash] = kept.token.id;
                  kept_.insert_or_assign(kept.token.id, kept);
                  reply(Made{kept.token, secret});
                });
}

void Tokens::remove(const std::string& id, std::move_only_function<void(Result<void>)> reply) {
  const auto found = kept_.find(id);
  if (found == kept_.end())
    return reply(
        fail(Code::not_found, "No token has this id. `errand token list` (GET /api/tokens) lists the tokens."));
  hashes_.erase(found->second.hash);
  kept_.erase(found);
  store_setting(std::string(setting_prefix) + id, {}, std::move(reply));
}

std::string token_json(const Token& token, std::string_view secret) {
  std::string text;
  JsonOut out(text);
  out.object();
  write_token(out, token);
  if (!secret.empty()) out.field("token", secret);
  out.end();
  return text;
}

}  // namespace errand::net
