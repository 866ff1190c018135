#include "notify/target.h"

#include <fmt/format.h>

#include "base/encode.h"

namespace errand::notify {
namespace {

constexpr std::string_view secret_prefix = "whsec_";

// "07:30"
std::optional<int> minutes(std::string_view text) {
  const auto digit = [&](size_t at) { return text[at] >= '0' && text[at] <= '9' ? text[at] - '0' : -1; };
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const size_t at : {0, 1, 3, 4})
    if (digit(at) < 0) return std::nullopt;
  const int hour = digit(0) * 10 + digit(1), minute = digit(3) * 10 + digit(4);
  if (hour > 23 || minute > 59) return std::nullopt;
  return hour * 60 + minute;
}

template <class E>
std::optional<E> parse(std::string_view text, int count) {
  for (int i = 0; i < count; ++i)
    if (name(static_cast<E>(i)) == text) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Shape shape) {
  switch (shape) {
    case Shape::standard:
      return "standard";
    case Shape::ntfy:
      return "ntfy";
    case Shape::slack:
      return "slack";
    case Shape::discord:
      return "discord";
    case Shape::push:
      return "push";
  }
  return "";
}
std::optional<Shape> parse_shape(std::string_view text) { return parse<Shape>(text, 5); }
std::optional<Shape> parse_webhook_shape(std::string_view text) { return parse<Shape>(text, 4); }

std::string_view name(Content content) {
  switch (content) {
    case Content::none:
      return "none";
    case Content::title:
      return "title";
    case Content::text:
      return "text";
  }
  return "";
}
std::optional<Content> parse_content(std::string_view text) { return parse<Content>(text, 3); }

std::optional<Quiet> parse_quiet(std::string_view text) {
  if (text.size() != 11 || text[5] != '-') return std::nullopt;
  const std::optional<int> from = minutes(text.substr(0, 5)), to = minutes(text.substr(6));
  if (!from || !to || *from == *to) return std::nullopt;
  return Quiet{*from, *to};
}

std::string to_text(const Quiet& quiet) {
  return fmt::format("{:02}:{:02}-{:02}:{:02}", quiet.from / 60, quiet.from % 60, quiet.to / 60, quiet.to % 60);
}

std::string make_secret(Random& random) {
  std::string bytes;
  for (int word = 0; word < 4; ++word) {
    uint64_t chance = random.next();
    for (int i = 0; i < 8; ++i, chance >>= 8) bytes.push_back(static_cast<char>(chance & 0xff));
  }
  return std::string(secret_prefix) + to_base64(bytes);
}

std::optional<std::string> secret_bytes(std::string_view secret) {
  if (!secret.starts_with(secret_prefix)) return std::nullopt;
  std::optional<std::string> bytes = from_base64(secret.substr(secret_prefix.size()));
  if (!bytes || bytes->size() < 24 || bytes->size() > 64) return std::nullopt;
  return bytes;
}

}  // namespace errand::notify
