// How a phone becomes a device, and how a device logs in. Part of Auth, which answers these paths by it.
//
//   POST /api/pair {"code","name","key"}                        -> 201 {"device":{...},"session","expires_at"}
//   POST /api/login/challenge {"device"}                        -> 200 {"challenge","expires_in_s"}
//   POST /api/login/device {"device","challenge","signature"}   -> 200 {"session","expires_at"}
//
// A challenge is sealed, not stored, so that asking for them costs the server nothing; one that a device has used is
// refused until it has expired. A session is a bearer token that is sealed too: it names the device, ends after an
// hour, and at once when the device is revoked. No cookie: nothing is sent unless the page sends it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/devices.h"
#include "net/http.h"
#include "net/pairing.h"

namespace errand::net {

inline constexpr Millis challenge_ms = 60'000;
inline constexpr Millis device_session_ms = 3'600'000;
// What a device signs: this, and the challenge behind it.
inline constexpr std::string_view signed_prefix = "errand device login v1\n";

// Loop thread only.
class DeviceLogin {
 public:
  struct Parts {
    Devices& devices;
    Pairing& pairing;
    Clock& clock;
    Random& random;
    // A seal that only this server can make.
    std::function<std::string(std::string_view purpose, std::string_view text)> seal;
    // Counts a wrong try of this client's, and refuses it.
    std::function<Response(const Request&, std::string_view detail)> failed;
  };
  explicit DeviceLogin(Parts parts) : parts_(std::move(parts)) {}

  static bool is_path(std::string_view path);
  // Answers one of the paths above, now or later.
  void handle(const ExchangePtr& exchange);

  // Who has this session; nothing where it is none, has ended, or its device was revoked.
  static constexpr std::string_view session_prefix = "errand_device.";
  std::optional<Principal> bearer(std::string_view given) const;

 private:
  void pair(const ExchangePtr& exchange);
  Response challenge(const Request& request) const;
  Response login(const Request& request);
  void write_session(std::string& body, const Device& device, bool with_device) const;

  Parts parts_;
  std::map<std::string, Time, std::less<>> used_;  // Challenges, to when they expire (wall). Each took a device's key.
};

// {"id","name","scopes":[...],"created_at","last_used_at","push"}. `push`: JSON of how it is told.
std::string device_json(const Device& device, std::string_view push = "null");

}  // namespace errand::net
