// Targets: where notifications go, and which. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "notify/occasion.h"

namespace errand::notify {

// How a request to the target looks.
enum class Shape : uint8_t {
  standard,  // Standard Webhooks: signed JSON.
  ntfy,
  slack,
  discord,
  push,  // A paired phone's browser (web_push.h). Not to be chosen for a webhook.
};
std::string_view name(Shape shape);
std::optional<Shape> parse_shape(std::string_view text);
// One that a webhook can have.
std::optional<Shape> parse_webhook_shape(std::string_view text);

// How much of a task's content leaves errand (R17.2).
enum class Content : uint8_t {
  none,   // Its id and its state.
  title,  // And its title: the default.
  text,   // And the question, the error's message or the beginning of the result.
};
std::string_view name(Content content);
std::optional<Content> parse_content(std::string_view text);

// From one time of the day to another, in minutes after midnight where the server is; over midnight where `to` is not
// after `from`. What would be sent meanwhile waits for its end.
struct Quiet {
  int from = 0, to = 0;
  bool operator==(const Quiet&) const = default;
};
// "22:00-07:00"; nothing where it is none, or is empty.
std::optional<Quiet> parse_quiet(std::string_view text);
std::string to_text(const Quiet& quiet);

inline constexpr size_t targets_max = 16;       // Webhooks.
inline constexpr size_t pushed_max = 32;        // Phones.
inline constexpr size_t target_name_max = 100;  // Bytes, as are the next two.
inline constexpr size_t url_max = 2'000;
inline constexpr size_t token_max = 500;

struct Target {
  std::string id;  // "hook_..."; of a phone its own, "dev_..."
  std::string name;
  Shape shape = Shape::standard;
  // Secret: the address of a Slack or Discord channel lets everybody write there. Shown as masked(url).
  std::string url;
  std::string secret;      // Of a standard webhook: "whsec_..."; told once.
  std::string old_secret;  // Signs beside it until `old_until`, so that a receiver can change over.
  Time old_until;
  std::string token;  // Of ntfy: sent as a bearer token.
  // Of a phone: what its browser gave to encrypt for it, in base64url.
  std::string push_key, push_auth;

  Occasions on = needs_a_person();
  Content content = Content::title;
  // Also tasks that another session launched. They report to it, so that by default only their questions are told.
  bool subtasks = false;
  std::optional<Quiet> quiet;

  bool enabled = true;
  std::string disabled_because;  // A sentence, where errand did it.
  Time created_at;
  bool operator==(const Target&) const = default;
};

// "whsec_" and 32 random bytes in base64.
std::string make_secret(Random& random);
// The bytes of a secret of 24 to 64 bytes; nothing where it is none.
std::optional<std::string> secret_bytes(std::string_view secret);

}  // namespace errand::notify
