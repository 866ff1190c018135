#include "base/encode.h"

#include <cstdint>

namespace errand {
namespace {

// The digits of base64, six bits each, and the bits that are left over at the end.
std::string in_sixes(std::string_view bytes, char digit_62, char digit_63) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  const auto add = [&](uint32_t value) { out += value < 62 ? digits[value] : value == 62 ? digit_62 : digit_63; };
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    count += 8;
    for (; count >= 6; count -= 6) add(bits >> (count - 6) & 63);
  }
  if (count > 0) add(bits << (6 - count) & 63);
  return out;
}

// The value of a digit of base64, -1 for none.
int value_in_sixes(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

int value_in_hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out = in_sixes(bytes, '+', '/');
  out.resize((out.size() + 3) / 4 * 4, '=');
  return out;
}

std::string to_base64url(std::string_view bytes) { return in_sixes(bytes, '-', '_'); }

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == '\r') continue;
    const int value = value_in_sixes(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return out;
}

std::string to_hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = value_in_hex(text[i]), low = value_in_hex(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

}  // namespace errand
