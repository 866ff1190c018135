#include "net/pairing.h"

#include <algorithm>

#include "base/text.h"

namespace errand::net {
namespace {

// Without I, O, 0 and 1. 32 of them: each character has five bits of chance, 40 in all.
constexpr std::string_view alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
static_assert(alphabet.size() == 32);

// As it was made, whatever people type around it.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 64)) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (upper != ' ' && upper != '-') out += upper;
  }
  return out;
}

}  // namespace

std::string_view name(Pairing::State state) {
  switch (state) {
    case Pairing::State::open:
      return "open";
    case Pairing::State::used:
      return "used";
    case Pairing::State::expired:
      return "expired";
    case Pairing::State::guessed:
      return "guessed";
  }
  return "expired";
}

std::string for_people(std::string_view code) {
  return std::string(code.substr(0, code.size() / 2)) + "-" + std::string(code.substr(code.size() / 2));
}

Pairing::State Pairing::state_of(const Entry& entry) const {
  if (entry.taken) return State::used;
  if (entry.tries >= pairing_tries_max) return State::guessed;
  return entry.ends <= clock_.steady() ? State::expired : State::open;
}

Pairing::Opened Pairing::open(Scopes scopes) {
  if (entries_.size() >= pairings_max) entries_.pop_front();
  Entry entry{.id = "pair_" + random_secret(random_, 12),
              .code = {},
              .scopes = scopes,
              .ends = clock_.steady() + pairing_ms,
              .device = {}};
  uint64_t chance = random_.next();
  for (size_t i = 0; i < pairing_characters; ++i, chance >>= 5) entry.code += alphabet[chance & 31];
  entries_.push_back(entry);
  return {entry.id, entry.code};
}

std::optional<Pairing::Taken> Pairing::take(std::string_view code) {
  const std::string given = plain(code);
  for (Entry& entry : entries_) {
    if (state_of(entry) != State::open || !equal_secret(entry.code, given)) continue;
    entry.taken = true;
    return Taken{entry.id, entry.scopes};
  }
  for (Entry& entry : entries_)
    if (state_of(entry) == State::open) ++entry.tries;
  return std::nullopt;
}

void Pairing::paired(const std::string& id, const std::string& device) {
  const auto found = std::ranges::find(entries_, id, &Entry::id);
  if (found != entries_.end()) found->device = device;
}

std::optional<Pairing::View> Pairing::look(std::string_view id) const {
  const auto found = std::ranges::find(entries_, id, [](const Entry& entry) -> std::string_view { return entry.id; });
  if (found == entries_.end()) return std::nullopt;
  const State state = state_of(*found);
  return View{state, found->device, state == State::open ? found->ends - clock_.steady() : 0};
}

}  // namespace errand::net
