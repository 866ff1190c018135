#include "net/device_login.h"

#include <charconv>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/fields.h"
#include "base/json_out.h"
#include "base/text.h"
#include "crypto/p256.h"
#include "net/problem.h"

namespace errand::net {
namespace {

constexpr int nonce_bytes = 16;

std::optional<Time> time_in(std::string_view text) {
  int64_t seconds = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, seconds) != std::from_chars_result{end, std::errc()} || seconds <= 0 ||
      seconds > 253'402'300'799)
    return std::nullopt;
  return Time{seconds * 1'000};
}

// NONCE.EXPIRES.SEAL; the seal is over the device too.
struct ChallengeParts {
  std::string_view plain, seal;
  Time expires_at;
};
std::optional<ChallengeParts> parse_challenge(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const std::optional<Time> expires = time_in(parts[1]);
  if (!expires) return std::nullopt;
  return ChallengeParts{text.substr(0, parts[0].size() + 1 + parts[1].size()), parts[2], *expires};
}

struct Wish {
  std::string code, device_name, key, device, challenge, signature;
};

// `names` are all required, and nothing else is taken.
Result<Wish> parse_wish(std::string_view body, std::initializer_list<std::string_view> names) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Wish wish;
  Fields fields(document->value());
  for (const std::string_view name : names) {
    std::string& into = name == "code"        ? wish.code
                        : name == "name"      ? wish.device_name
                        : name == "key"       ? wish.key
                        : name == "challenge" ? wish.challenge
                        : name == "signature" ? wish.signature
                                              : wish.device;
    if (!fields.has(name)) fields.refuse(name, "must be given", "missing_field");
    fields.text(name, into, {.bytes_max = name == "name" ? device_name_max : 200, .one_line = true});
  }
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return wish;
}

}  // namespace

std::string device_json(const Device& device, std::string_view push) {
  std::string text;
  JsonOut out(text);
  out.object().field("id", device.id).field("name", device.name).key("scopes").array();
  for (const Scope scope : device.scopes.list()) out.value(name(scope));
  out.end().field("created_at", device.created_at).field("last_used_at", device.last_used_at);
  out.key("push").raw(push);
  out.end();
  return text;
}

bool DeviceLogin::is_path(std::string_view path) {
  return path == "/api/pair" || path == "/api/login/challenge" || path == "/api/login/device";
}

void DeviceLogin::handle(const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  if (request.path == "/api/pair") return pair(exchange);
  exchange->reply(request.path == "/api/login/challenge" ? challenge(request) : login(request));
}

void DeviceLogin::write_session(std::string& body, const Device& device, bool with_device) const {
  const Time expires = {(parts_.clock.wall() + device_session_ms).ms / 1'000 * 1'000};
  const std::string plain = fmt::format("{}{}.{}.{}", session_prefix, device.id, expires.ms / 1'000,
                                        random_secret(parts_.random, nonce_bytes));
  JsonOut out(body);
  out.object();
  if (with_device) out.key("device").raw(device_json(device));
  out.field("session", plain + "." + parts_.seal("device session", plain)).field("expires_at", expires).end();
}

std::optional<Principal> DeviceLogin::bearer(std::string_view given) const {
  if (!given.starts_with(session_prefix) || given.size() > 300) return std::nullopt;
  const auto parts = split(given.substr(session_prefix.size()), '.');
  if (parts.size() != 4 || !is_id(parts[0], "dev_")) return std::nullopt;
  const std::optional<Time> expires = time_in(parts[1]);
  const std::string_view plain = given.substr(0, given.size() - parts[3].size() - 1);
  if (!expires || !equal_secret(parts[3], parts_.seal("device session", plain)) || *expires <= parts_.clock.wall())
    return std::nullopt;
  const Device* const device = parts_.devices.find(std::string(parts[0]));
  if (device == nullptr) return std::nullopt;
  Principal who;
  who.id = device->id;
  who.scopes = device->scopes;
  who.expires_at = *expires;
  return who;
}

void DeviceLogin::pair(const ExchangePtr& exchange) {
  Result<Wish> wish = parse_wish(exchange->request.body, {"code", "name", "key"});
  if (!wish) return exchange->reply(problem(wish.error()));
  const std::string key = from_base64(wish->key).value_or("");
  if (!crypto::is_public_key(key))
    return exchange->reply(
        problem(400, "invalid_argument",
                "`key` must be a public key of P-256 in base64url: 65 bytes, uncompressed (\"raw\")."));
  // Before the code is used up: it is the only one that the person has.
  if (parts_.devices.full())
    return exchange->reply(
        problem({Code::exhausted, "The server has as many devices as it allows. Revoke one: errand device list", {}}));
  const std::optional<Pairing::Taken> taken = parts_.pairing.take(wish->code);
  if (!taken)
    return exchange->reply(parts_.failed(
        exchange->request,
        "This code is wrong, was already used or has expired. Run `errand phone` on the server for a new one."));
  parts_.devices.add(std::move(wish->device_name), taken->scopes, key,
                     [this, exchange, id = taken->id](const Result<Device>& made) {
                       if (!made) return exchange->reply(problem(made.error()));
                       parts_.pairing.paired(id, made->id);
                       Response response{.status = 201, .body = {}, .headers = {}};
                       write_session(response.body, *made, true);
                       exchange->reply(std::move(response));
                     });
}

// For whoever asks: it tells nobody which devices there are.
Response DeviceLogin::challenge(const Request& request) const {
  const Result<Wish> wish = parse_wish(request.body, {"device"});
  if (!wish) return problem(wish.error());
  const std::string plain =
      fmt::format("{}.{}", random_secret(parts_.random, nonce_bytes), (parts_.clock.wall() + challenge_ms).ms / 1'000);
  Response response;
  JsonOut out(response.body);
  out.object().field("challenge", plain + "." + parts_.seal("device challenge", plain + "\n" + wish->device));
  out.field("expires_in_s", challenge_ms / 1'000).end();
  return response;
}

Response DeviceLogin::login(const Request& request) {
  const Result<Wish> wish = parse_wish(request.body, {"device", "challenge", "signature"});
  if (!wish) return problem(wish.error());
  const Time now = parts_.clock.wall();
  std::erase_if(used_, [&](const auto& entry) { return entry.second <= now; });
  const std::optional<ChallengeParts> parts = parse_challenge(wish->challenge);
  const bool ours = parts && equal_secret(parts->seal, parts_.seal("device challenge",
                                                                   std::string(parts->plain) + "\n" + wish->device));
  const Device* const device = parts_.devices.find(wish->device);
  if (device == nullptr)
    return parts_.failed(request,
                         "This device is not paired, or was revoked. Run `errand phone` on the server to pair it.");
  if (!ours || !crypto::verify(device->key, std::string(signed_prefix) + wish->challenge,
                               from_base64(wish->signature).value_or("")))
    return parts_.failed(request, "The signature is not this device's. Pair it again: errand phone");
  // Signed by the device, and old: no guess.
  if (parts->expires_at <= now || !used_.emplace(wish->challenge, parts->expires_at).second)
    return problem(409, "conflict", "This challenge has expired or was already used. Ask for another one.");
  parts_.devices.used(device->id);
  Response response;
  write_session(response.body, *device, false);
  return response;
}

}  // namespace errand::net
