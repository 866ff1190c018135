#include "net/devices.h"

#include <boost/json.hpp>

#include "base/encode.h"
#include "base/json_out.h"
#include "crypto/p256.h"

namespace errand::net {
namespace {

namespace json = boost::json;

constexpr std::string_view row_prefix = "device/";

std::string stored_json(const Device& device) {
  std::string text;
  JsonOut out(text);
  out.object().field("id", device.id).field("name", device.name).key("scopes").array();
  for (const Scope scope : device.scopes.list()) out.value(name(scope));
  out.end().field("key", to_base64url(device.key)).field("created_ms", device.created_at.ms);
  out.field("used_ms", device.last_used_at.ms).end();
  return text;
}

std::optional<Device> parse_row(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  const json::object& object = value.get_object();
  const json::value *id = object.if_contains("id"), *called = object.if_contains("name");
  const json::value *key = object.if_contains("key"), *scopes = object.if_contains("scopes");
  const json::value *made = object.if_contains("created_ms"), *used = object.if_contains("used_ms");
  if (!id || !id->is_string() || !called || !called->is_string() || !key || !key->is_string() || !scopes ||
      !scopes->is_array() || !made || !made->is_int64() || !used || !used->is_int64())
    return std::nullopt;
  Device device{.id = std::string(id->get_string()),
                .name = std::string(called->get_string()),
                .scopes = {},
                .key = from_base64(key->get_string()).value_or(""),
                .created_at = {made->get_int64()},
                .last_used_at = {used->get_int64()}};
  if (!crypto::is_public_key(device.key)) return std::nullopt;
  // A scope that a newer errand knows is none here.
  for (const json::value& one : scopes->get_array())
    if (const auto scope = one.is_string() ? parse_scope(one.get_string()) : std::nullopt) device.scopes.add(*scope);
  return device;
}

}  // namespace

Status Devices::load() {
  const Result<std::vector<Commit::Setting>> rows = store_.settings(std::string(row_prefix));
  if (!rows) return std::unexpected(rows.error());
  for (const Commit::Setting& row : *rows) {
    std::optional<Device> device = parse_row(row.json);
    if (!device)
      return fail(Code::internal, "The stored device \"" + row.name + "\" is damaged; restore the database.",
                  "corrupt");
    const std::string id = device->id;
    kept_.insert_or_assign(id, std::move(*device));
  }
  return {};
}

const Device* Devices::find(const std::string& id) const {
  const auto found = kept_.find(id);
  return found == kept_.end() ? nullptr : &found->second;
}

std::vector<Device> Devices::list() const {
  std::vector<Device> all;
  all.reserve(kept_.size());
  for (const auto& [id, device] : kept_) all.push_back(device);
  return all;
}

void Devices::store_row(const std::string& id, std::string text, std::move_only_function<void(Result<void>)> reply) {
  std::vector<Commit> group(1);
  group[0].settings.push_back({std::string(row_prefix) + id, std::move(text)});
  group[0].now = clock_.wall();
  store_.commit(std::move(group), [reply = std::move(reply)](std::vector<Result<Committed>> done) mutable {
    if (!done[0]) return reply(std::unexpected(done[0].error()));
    reply({});
  });
}

void Devices::add(std::string device_name, Scopes scopes, std::string key,
                  std::move_only_function<void(Result<Device>)> reply) {
  if (full())
    return reply(fail(Code::exhausted, "The server has as many devices as it allows. Revoke one: errand device list"));
  const Device device{.id = "dev_" + IdSource(clock_, random_).task().value.substr(5),
                      .name = std::move(device_name),
                      .scopes = scopes,
                      .key = std::move(key),
                      .created_at = clock_.wall(),
                      .last_used_at = clock_.wall()};
  store_row(device.id, stored_json(device),
            [this, device, reply = std::move(reply)](const Result<void>& stored) mutable {
              if (!stored) return reply(std::unexpected(stored.error()));
              kept_.insert_or_assign(device.id, device);
              reply(device);
            });
}

void Devices::remove(const std::string& id, std::move_only_function<void(Result<void>)> reply) {
  if (kept_.erase(id) == 0)
    return reply(
        fail(Code::not_found, "No device has this id. `errand device list` (GET /api/devices) lists the devices."));
  store_row(id, {}, std::move(reply));
}

void Devices::used(const std::string& id) {
  const auto found = kept_.find(id);
  if (found == kept_.end()) return;
  found->second.last_used_at = clock_.wall();
  store_row(id, stored_json(found->second), [](const Result<void>&) {});
}

}  // namespace errand::net
