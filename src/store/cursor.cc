#include "store/cursor.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace errand {
namespace {

// FNV-1a: the same on every machine, so that a cursor outlives a restart and an upgrade.
class Fingerprint {
 public:
  void add(std::string_view text) {
    add(static_cast<int64_t>(text.size()));
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  void add(int64_t number) {
    for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  uint32_t value() const { return static_cast<uint32_t>(hash_ ^ (hash_ >> 32)); }

 private:
  void byte(unsigned char b) { hash_ = (hash_ ^ b) * 0x100000001B3; }
  uint64_t hash_ = 0xCBF29CE484222325;
};

uint32_t fingerprint(const TaskFilter& filter, Sort sort) {
  Fingerprint print;
  print.add(static_cast<int64_t>(sort));
  print.add(static_cast<int64_t>(filter.states.size()));
  for (const TaskState state : filter.states) print.add(static_cast<int64_t>(state));
  print.add(filter.agent_id);
  print.add(filter.kind ? static_cast<int64_t>(*filter.kind) : -1);
  print.add(filter.batch_id.value);
  print.add(filter.parent_session_id.value);
  print.add(filter.label_key);
  print.add(filter.label_value);
  print.add(filter.query);
  print.add(filter.created_after.ms);
  print.add(filter.created_before.ms);
  // Only where there are any: cursors from before this filter existed stay good.
  for (const AskKind kind : filter.asks) print.add(static_cast<int64_t>(kind));
  for (const WaitKind kind : filter.waits) print.add(-1 - static_cast<int64_t>(kind));
  if (filter.unseen) print.add("unseen");
  if (filter.archived) print.add(*filter.archived ? "archived" : "not archived");
  if (filter.pinned) print.add(*filter.pinned ? "pinned" : "not pinned");
  if (filter.fold) print.add("fold");
  return print.value();
}

template <class T>
bool take_hex(std::string_view& text, size_t digits, T& out) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, out, 16);
  if (error != std::errc() || end != text.data() + digits) return false;
  text.remove_prefix(digits);
  return true;
}

}  // namespace

bool comes_after(const Place& place, const Place& other, Sort sort) {
  if (sort == Sort::oldest) return place.number > other.number;
  if (sort == Sort::updated && place.updated != other.updated) return place.updated < other.updated;
  if (sort == Sort::attention && place.band != other.band) return place.band > other.band;
  return place.number < other.number;
}

std::string make_cursor(const TaskFilter& filter, Sort sort, const Place& last) {
  const int64_t second = sort == Sort::attention ? last.band : last.updated.ms;
  return fmt::format("c{:08x}{:016x}{:016x}", fingerprint(filter, sort), static_cast<uint64_t>(last.number),
                     static_cast<uint64_t>(second));
}

Result<Place> read_cursor(std::string_view cursor, const TaskFilter& filter, Sort sort) {
  uint32_t print = 0;
  uint64_t number = 0, updated = 0;
  if (!cursor.starts_with('c') || cursor.size() != 41)
    return fail(Code::invalid_argument, "The cursor is not valid: pass next_cursor of the page before, unchanged.");
  cursor.remove_prefix(1);
  if (!take_hex(cursor, 8, print) || !take_hex(cursor, 16, number) || !take_hex(cursor, 16, updated))
    return fail(Code::invalid_argument, "The cursor is not valid: pass next_cursor of the page before, unchanged.");
  if (print != fingerprint(filter, sort))
    return fail(Code::invalid_argument,
                "The cursor belongs to another list: repeat the same request, with the same filters and sort.");
  Place place{.number = static_cast<int64_t>(number)};
  if (sort == Sort::attention)
    place.band = static_cast<int>(std::min<uint64_t>(updated, band_count));
  else
    place.updated = Time{static_cast<int64_t>(updated)};
  return place;
}

}  // namespace errand
