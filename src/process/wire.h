// What server and supervisor send each other: frames of named fields, each way over one stream socket.
//
//   frame = u32 length of the rest, then fields; field = u16 key length, u32 value length, key, value (little-endian)
//
// A key may occur several times (argv). A reader ignores keys that it does not know, and gives one that is missing its
// default: so the protocol only grows, and an older supervisor serves a newer server. Every size is bounded here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::process {

inline constexpr int protocol_version = 1;
inline constexpr size_t frame_max = 16u << 20;  // Of the payload.
inline constexpr size_t frame_fields_max = 65'536;
inline constexpr size_t frame_key_max = 64;

// Writes a frame.
class FrameOut {
 public:
  FrameOut() : bytes_(4, '\0') {}
  FrameOut& add(std::string_view key, std::string_view value);
  FrameOut& add(std::string_view key, int64_t number);
  // Over frame_max the other side would hang up: the caller refuses instead.
  bool fits() const { return bytes_.size() - 4 <= frame_max; }
  // The whole frame, or only its fields.
  std::string take();
  std::string_view payload() const { return std::string_view(bytes_).substr(4); }

 private:
  std::string bytes_;
};

// Reads a payload. Views point into it.
class Fields {
 public:
  // Nothing where the payload is malformed or over a bound.
  static std::optional<Fields> parse(std::string_view payload);

  bool has(std::string_view key) const;
  std::string_view text(std::string_view key) const;  // Empty where it is missing.
  int64_t number(std::string_view key, int64_t otherwise = 0) const;
  std::vector<std::string_view> all(std::string_view key) const;

 private:
  struct Field {
    std::string_view key, value;
  };
  std::vector<Field> fields_;
};

// Cuts a byte stream into payloads.
class FrameReader {
 public:
  void append(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole payload; valid until the next call. Nothing: more bytes are needed, or the stream is broken().
  std::optional<std::string_view> next();
  // A length over the bound: the stream cannot be read any further.
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  size_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace errand::process
