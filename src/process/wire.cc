#include "process/wire.h"

#include <charconv>
#include <cstring>

namespace errand::process {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are little-endian");

template <class T>
void put(std::string& out, T number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

template <class T>
T get(const char* bytes) {
  T number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

constexpr size_t field_header = sizeof(uint16_t) + sizeof(uint32_t);
constexpr size_t keep_buffer = 64 * 1024;  // A reader gives a bigger buffer back once it is empty.

}  // namespace

FrameOut& FrameOut::add(std::string_view key, std::string_view value) {
  put(bytes_, static_cast<uint16_t>(key.size()));
  put(bytes_, static_cast<uint32_t>(value.size()));
  bytes_.append(key).append(value);
  return *this;
}

FrameOut& FrameOut::add(std::string_view key, int64_t number) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return add(key, std::string_view(digits, static_cast<size_t>(end - digits)));
}

std::string FrameOut::take() {
  auto length = static_cast<uint32_t>(bytes_.size() - 4);
  std::memcpy(bytes_.data(), &length, sizeof length);
  return std::move(bytes_);
}

std::optional<Fields> Fields::parse(std::string_view payload) {
  if (payload.size() > frame_max) return std::nullopt;
  Fields result;
  while (!payload.empty()) {
    if (payload.size() < field_header || result.fields_.size() == frame_fields_max) return std::nullopt;
    size_t key = get<uint16_t>(payload.data());
    size_t value = get<uint32_t>(payload.data() + sizeof(uint16_t));
    payload.remove_prefix(field_header);
    if (key == 0 || key > frame_key_max || value > payload.size() || key > payload.size() - value) return std::nullopt;
    result.fields_.push_back({payload.substr(0, key), payload.substr(key, value)});
    payload.remove_prefix(key + value);
  }
  return result;
}

bool Fields::has(std::string_view key) const {
  for (const Field& field : fields_)
    if (field.key == key) return true;
  return false;
}

std::string_view Fields::text(std::string_view key) const {
  for (const Field& field : fields_)
    if (field.key == key) return field.value;
  return {};
}

int64_t Fields::number(std::string_view key, int64_t otherwise) const {
  std::string_view digits = text(key);
  int64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool whole = !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
  return whole ? number : otherwise;
}

std::vector<std::string_view> Fields::all(std::string_view key) const {
  std::vector<std::string_view> values;
  for (const Field& field : fields_)
    if (field.key == key) values.push_back(field.value);
  return values;
}

std::optional<std::string_view> FrameReader::next() {
  if (broken_) return std::nullopt;
  std::string_view rest = std::string_view(buffer_).substr(taken_);
  if (rest.size() >= 4) {
    size_t length = get<uint32_t>(rest.data());
    if (length > frame_max) {
      broken_ = true;
      return std::nullopt;
    }
    if (rest.size() >= 4 + length) {
      taken_ += 4 + length;
      return rest.substr(4, length);
    }
  }
  buffer_.erase(0, taken_);
  taken_ = 0;
  if (buffer_.empty() && buffer_.capacity() > keep_buffer) std::string().swap(buffer_);
  return std::nullopt;
}

}  // namespace errand::process
