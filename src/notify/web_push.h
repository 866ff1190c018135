// Web push: a notification for one browser, encrypted for it alone (RFC 8291, aes128gcm) and sent in our name
// (RFC 8292, VAPID). The push service between carries it and can read nothing of it. Pure, but for the randomness that
// is given.
#pragma once

#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"
#include "crypto/p256.h"
#include "http/client.h"
#include "notify/notification.h"
#include "notify/target.h"

namespace errand::notify {

inline constexpr size_t push_auth_bytes = 16;
inline constexpr size_t push_salt_bytes = 16;
// What fits into the 4,096 bytes that every push service takes.
inline constexpr size_t push_plain_max = 3'993;
// How long a push service keeps it for a phone that is off.
inline constexpr Millis push_ttl_ms = 24 * 3'600'000;
// For how long we vouch for a request; a day is the most that is allowed.
inline constexpr Millis vapid_ms = 12 * 3'600'000;

// The body of a request. `key` and `auth` are the browser's, as bytes; `once` is a key for this message alone. Empty
// where `key` is none. `plain` has at most push_plain_max bytes.
std::string encrypt_push(std::string_view plain, std::string_view key, std::string_view auth,
                         const crypto::KeyPair& once, std::string_view salt);

// The value of Authorization. `audience`: the origin of the push service; `subject`: who sends, as an address.
std::string vapid(const crypto::KeyPair& own, std::string_view audience, std::string_view subject, Time now);

// What the page's service worker gets: JSON of at most push_plain_max bytes.
std::string push_payload(const Notification& notification);

// `page_url`: where people reach the page, or empty.
http::Request push_request(const Target& target, const Notification& notification, const crypto::KeyPair& own,
                           Random& random, std::string_view page_url, Time now);

}  // namespace errand::notify
