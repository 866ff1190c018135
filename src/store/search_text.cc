#include "store/search_text.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace errand {
namespace {

constexpr size_t grams_a_term_max = 4;

// The character at `at`, which is moved behind it. A byte that belongs to none counts as U+FFFD.
char32_t next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 1) return text[at++] & 0x7F;
  if (length == 0 || at + length > text.size()) {
    ++at;
    return 0xFFFD;
  }
  char32_t c = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) {
      ++at;
      return 0xFFFD;
    }
    c = (c << 6) | (byte(at + i) & 0x3F);
  }
  at += length;
  return c;
}

constexpr bool between(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

// Simple case folding of the scripts that have case and are likely here: Latin, Greek, Cyrillic. A locale would make
// the index depend on the machine.
char32_t fold_character(char32_t c) {
  if (between(c, 0xFF01, 0xFF5E)) c -= 0xFEE0;  // Full-width forms.
  if (c < 0x80) return between(c, 'A', 'Z') ? c + 32 : c;
  if (c == 0x3000 || c == 0xA0 || c == 0x85 || between(c, 0x2000, 0x200B)) return ' ';
  if (between(c, 0xC0, 0xDE) && c != 0xD7) return c + 32;
  if (c == 0x178) return 0xFF;
  if (between(c, 0x139, 0x148) || between(c, 0x179, 0x17E)) return c + (c & 1);
  if (between(c, 0x100, 0x177) && c != 0x130 && c != 0x131 && c != 0x138) return c | 1;
  if (between(c, 0x391, 0x3A9) && c != 0x3A2) return c + 32;  // U+03A2 is no letter: folded it would fold again.
  if (c == 0x3C2) return 0x3C3;
  if (between(c, 0x400, 0x40F)) return c + 80;
  if (between(c, 0x410, 0x42F)) return c + 32;
  if (between(c, 0x460, 0x481) || between(c, 0x48A, 0x4BF) || between(c, 0x4D0, 0x52F)) return c | 1;
  return c;
}

bool is_space(char32_t c) { return c <= ' '; }

// Characters that are words or syllables by themselves.
bool is_ideograph(char32_t c) {
  return between(c, 0x2E80, 0x9FFF) || between(c, 0xAC00, 0xD7AF) || between(c, 0xF900, 0xFAFF) ||
         between(c, 0x20000, 0x3FFFF);
}

std::u32string characters(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) out += fold_character(next_character(text, at));
  return out;
}

std::string as_text(std::u32string_view gram) {
  std::string out;
  for (const char32_t c : gram) append_character(out, c);
  return out;
}

// How many characters the longest gram at the start of `text` has: 1 to 3, 0 at white space.
size_t gram_length(std::u32string_view text) {
  size_t length = 0;
  while (length < 3 && length < text.size() && !is_space(text[length])) ++length;
  if (length == 3 && (is_ideograph(text[0]) || is_ideograph(text[1]) || is_ideograph(text[2]))) length = 2;
  return length;
}

// The grams of one text: at most so many, none of them 0. A table that never grows; this is the hot part of indexing.
class GramSet {
 public:
  explicit GramSet(size_t most) : slots_(std::bit_ceil(most * 2 + 1)), mask_(slots_.size() - 1) {}
  bool insert(uint64_t gram) {
    size_t at = (gram * 0x9e3779b97f4a7c15ull >> 20) & mask_;
    for (; slots_[at] != 0; at = (at + 1) & mask_)
      if (slots_[at] == gram) return false;
    slots_[at] = gram;
    return true;
  }

 private:
  std::vector<uint64_t> slots_;
  size_t mask_;
};

}  // namespace

std::string_view searched_text(std::string_view result) {
  return result.size() <= searched_bytes ? result : result.substr(0, utf8_prefix(result, searched_bytes));
}

std::string searched_text(std::string_view title, std::string_view prompt, std::string_view command) {
  std::string text(searched_text(title));
  // White space between the fields: a gram never spans two of them.
  (text += '\n') += searched_text(prompt);
  (text += '\n') += searched_text(command);
  return text;
}

std::string fold(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      out += static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
      ++at;
    } else {
      append_character(out, fold_character(next_character(text, at)));
    }
  }
  return out;
}

Result<std::vector<std::string>> query_terms(std::string_view query) {
  if (query.size() > query_bytes_max)
    return fail(Code::too_large, "The search text is over 1,000 bytes: search for less of it.");
  std::vector<std::string> terms;
  std::string term;
  const std::string folded = fold(query);
  for (size_t at = 0; at <= folded.size(); ++at) {
    if (at < folded.size() && static_cast<unsigned char>(folded[at]) > ' ') {
      term += folded[at];
    } else if (!term.empty()) {
      if (std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
      term.clear();
    }
  }
  return terms;
}

bool found_in(const Task& task, const std::vector<std::string>& terms) {
  if (terms.empty()) return true;
  const std::string* result = task.result ? &*task.result : nullptr;
  std::vector<bool> found(terms.size());
  size_t missing = terms.size();
  const auto look_in = [&](std::string_view field) {
    if (field.empty() || missing == 0) return;
    const std::string text = fold(searched_text(field));
    for (size_t i = 0; i < terms.size(); ++i) {
      if (found[i] || text.find(terms[i]) == std::string::npos) continue;
      found[i] = true;
      --missing;
    }
  };
  look_in(task.title);
  look_in(task.launch.prompt);
  look_in(task.launch.command);
  if (result) look_in(*result);
  return missing == 0;
}

void each_gram(std::string_view text, const std::function<bool(std::string_view gram)>& each) {
  const std::u32string all = characters(text);
  GramSet seen(all.size() * 3);
  std::string gram;
  for (size_t at = 0; at < all.size(); ++at) {
    const size_t longest = gram_length(std::u32string_view(all).substr(at));
    uint64_t key = 0;
    gram.clear();
    for (size_t i = 0; i < longest; ++i) {
      // 21 bits a character; none is 0 here, so the length is part of the key.
      key = (key << 21) | all[at + i];
      append_character(gram, all[at + i]);
      if (seen.insert(key) && !each(gram)) return;
    }
  }
}

std::vector<std::string> grams_of_term(std::string_view term) {
  const std::u32string all = characters(term);
  std::vector<std::string> grams;
  for (size_t at = 0; at < all.size(); ++at) {
    const size_t length = gram_length(std::u32string_view(all).substr(at));
    // The tail of a term has shorter grams that say nothing new.
    if (length < 2 && at > 0) break;
    if (length == 2 && at > 0 && at + length == all.size() && !is_ideograph(all[at]) && !is_ideograph(all[at + 1]) &&
        all.size() > 2 && !is_ideograph(all[at - 1]))
      break;
    std::string gram = as_text(std::u32string_view(all).substr(at, length));
    if (std::ranges::find(grams, gram) == grams.end()) grams.push_back(std::move(gram));
  }
  if (grams.size() <= grams_a_term_max) return grams;
  std::vector<std::string> spread;
  spread.reserve(grams_a_term_max);
  for (size_t i = 0; i < grams_a_term_max; ++i)
    spread.push_back(std::move(grams[i * (grams.size() - 1) / (grams_a_term_max - 1)]));
  return spread;
}

}  // namespace errand
