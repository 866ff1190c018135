// Paired devices: phones whose browser has a key of its own (R17.1). The store keeps the public half. A device proves
// that it has the other half by signing a challenge, and gets a short session for it (device_login.h). Loop thread
// only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "net/principal.h"
#include "store/store.h"

namespace errand::net {

struct Device {
  std::string id;  // "dev_..."
  std::string name;
  Scopes scopes;
  std::string key;  // Public: a point of P-256 (crypto/p256.h).
  Time created_at;
  Time last_used_at;  // Its last session: to within the length of one.
};

inline constexpr size_t devices_max = 32;
inline constexpr size_t device_name_max = 100;  // Bytes.

class Devices {
 public:
  // All outlive it; load() comes before anything else.
  Devices(Store& store, Clock& clock, Random& random) : store_(store), clock_(clock), random_(random) {}
  // Blocking. What cannot be read is an error: a device that is not known could not be revoked.
  Status load();

  // Null where none has that id. Until the next change.
  const Device* find(const std::string& id) const;
  // By creation.
  std::vector<Device> list() const;
  bool full() const { return kept_.size() >= devices_max; }

  // Durable before it is answered. Errors: exhausted where there are too many, what the store says.
  void add(std::string device_name, Scopes scopes, std::string key,
           std::move_only_function<void(Result<Device>)> reply);
  // not_found if no device has that id. The device is refused from now on, whatever the store answers.
  void remove(const std::string& id, std::move_only_function<void(Result<void>)> reply);
  // It has a new session.
  void used(const std::string& id);

 private:
  void store_row(const std::string& id, std::string json, std::move_only_function<void(Result<void>)> reply);

  Store& store_;
  Clock& clock_;
  Random& random_;
  std::map<std::string, Device> kept_;  // By id, which goes by time.
};

}  // namespace errand::net
