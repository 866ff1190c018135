#include "base/json_out.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"

namespace errand {
namespace {

// Bytes that can be copied as they are.
bool plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

// The first byte at or after `at` that is not plain, or the end. Eight at a time: most texts are plain throughout.
size_t plain_until(std::string_view text, size_t at) {
  constexpr uint64_t ones = 0x0101010101010101ull, highs = 0x8080808080808080ull;
  const auto has_zero = [](uint64_t bytes) { return (bytes - ones) & ~bytes & highs; };
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    const uint64_t below_space = (bytes - ones * 0x20) & ~bytes;
    if (((below_space | bytes) & highs) != 0 || has_zero(bytes ^ (ones * '"')) != 0 ||
        has_zero(bytes ^ (ones * '\\')) != 0)
      break;
  }
  while (at < text.size() && plain(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out.push_back('"');
  size_t done = 0;
  bool ascii_only = true;
  for (size_t i = plain_until(text, 0); i < text.size(); i = plain_until(text, i + 1)) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      if (ascii_only) {
        ascii_only = false;
        if (!is_utf8(text.substr(i))) {
          // Rare: mend the rest once and go on with the copy.
          out.append(text.substr(done, i - done));
          const std::string mended = to_utf8(text.substr(i));
          std::string tail;
          append_json_string(tail, mended);
          out.append(tail, 1, tail.size() - 1);
          return;
        }
      }
      continue;
    }
    out.append(text.substr(done, i - done));
    done = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default: {
        constexpr char hex[] = "0123456789abcdef";
        out += "\\u00";
        out.push_back(hex[c >> 4]);
        out.push_back(hex[c & 15]);
      }
    }
  }
  out.append(text.substr(done));
  out.push_back('"');
}

void JsonOut::separate() {
  if (after_key_) {
    after_key_ = false;
  } else if (!first_) {
    out_.push_back(',');
  }
  first_ = false;
}

JsonOut& JsonOut::open(char bracket) {
  separate();
  out_.push_back(bracket);
  is_object_ = (is_object_ << 1) | (bracket == '{' ? 1 : 0);
  first_ = true;
  return *this;
}

JsonOut& JsonOut::end() {
  out_.push_back((is_object_ & 1) != 0 ? '}' : ']');
  is_object_ >>= 1;
  first_ = false;
  return *this;
}

JsonOut& JsonOut::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_.push_back(':');
  after_key_ = true;
  return *this;
}

// One growth for all of it: half of what we write is names.
JsonOut& JsonOut::plain_key(std::string_view name) {
  const size_t before = out_.size();
  const bool comma = !first_ && !after_key_;
  out_.resize_and_overwrite(before + name.size() + 4, [&](char* text, size_t) {
    char* at = text + before;
    if (comma) *at++ = ',';
    *at++ = '"';
    std::memcpy(at, name.data(), name.size());
    at += name.size();
    *at++ = '"';
    *at++ = ':';
    return static_cast<size_t>(at - text);
  });
  first_ = false;
  after_key_ = true;
  return *this;
}

JsonOut& JsonOut::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

JsonOut& JsonOut::value(bool flag) {
  separate();
  out_ += flag ? "true" : "false";
  return *this;
}

JsonOut& JsonOut::value(double number) {
  if (!std::isfinite(number)) return null();
  if (number == 0) return raw("0");  // Most of them.
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", number);
  return *this;
}

JsonOut& JsonOut::integer(int64_t number) {
  separate();
  const fmt::format_int text(number);
  out_.append(text.data(), text.size());
  return *this;
}

JsonOut& JsonOut::value(Time wall) {
  if (!wall) return null();
  separate();
  out_.push_back('"');
  append_time(out_, wall);
  out_.push_back('"');
  return *this;
}

JsonOut& JsonOut::null() {
  separate();
  out_ += "null";
  return *this;
}

JsonOut& JsonOut::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonOut& JsonOut::text_or_null(std::string_view name, std::string_view text) {
  key(name);
  return text.empty() ? null() : value(text);
}

}  // namespace errand
