// What the store keeps of notifications: targets, what each is owed, and how far each has come. Rows of the store's
// settings, whose names begin with "notify/".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "notify/notification.h"
#include "notify/target.h"

namespace errand::notify {

// A notification that is owed to a target: stored before it is first sent, deleted when the target has it.
struct Owed {
  Notification notification;
  int tries = 0;  // That have failed.
  Time due;       // Wall time: not before this.
  bool operator==(const Owed&) const = default;
};

// How it went with a target.
struct Standing {
  int64_t delivered = 0;
  int64_t given_up = 0;  // After tries_max tries.
  Time delivered_at;     // The last one.
  std::string error;     // Of the last try, where it failed,
  Time error_at;         // and when that was.
  bool operator==(const Standing&) const = default;
};

inline constexpr std::string_view records_prefix = "notify/";
std::string target_row(std::string_view target);
std::string standing_row(std::string_view target);
// How far the target has come: {"pos": N}; all events up to there were looked at, and what they owe is stored. A row of
// its own, so that nothing else that is stored can set it back: a notification would be made again, under another id.
std::string cursor_row(std::string_view target);
std::string owed_row(std::string_view target, std::string_view notification);

// The key in whose name phones are told (web_push.h): made once, because browsers subscribe to it.
inline constexpr std::string_view sender_row = "notify/sender";

std::string encode(const Target& target);
std::string encode(const Standing& standing);
std::string encode_cursor(int64_t pos);
std::string encode_sender(std::string_view private_key);
std::string encode(const Owed& owed);
// internal, reason "corrupt". A field that a newer errand wrote is passed over, so that an upgrade can be undone.
Result<Target> decode_target(std::string_view json);
Result<Standing> decode_standing(std::string_view json);
Result<int64_t> decode_cursor(std::string_view json);
Result<std::string> decode_sender(std::string_view json);  // The private key.
Result<Owed> decode_owed(std::string_view json);

}  // namespace errand::notify
