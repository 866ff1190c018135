// Patterns for paths, such as `dist/**/*.js`: `*` and `?` stand for parts of one name, `[a-z]` and `[!a-z]` for one
// character, `**` for any number of folders. A name that begins with a dot matches only if its part of the pattern
// begins with a dot, too: `**` does not match .git. A slash at the end matches everything below.
//
// A pattern is followed down a tree name by name, so that a walk never goes where nothing can match.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace errand::files {

// Whether `*`, `?` and `**` may stand for a dot at the beginning of a name: as a shell has it, or as .gitignore does.
enum class Dots : uint8_t { named, any };

class Glob {
 public:
  // invalid_argument where it is absolute, has "..", is empty or has more than 60 parts.
  static Result<Glob> parse(std::string_view pattern, Dots dots = Dots::named);

  // Where in the pattern a path may be: one bit a part.
  using States = uint64_t;
  States start() const { return skip(1); }
  States step(States states, std::string_view name) const;
  bool accepts(States states) const { return (states >> parts_.size() & 1) != 0; }
  // Can anything below still match?
  bool hopeful(States states) const { return (states & ~(1ULL << parts_.size())) != 0; }

  bool matches(std::string_view path) const;

 private:
  // `**` may stand for no folder at all.
  States skip(States states) const;

  std::vector<std::string> parts_;
  Dots dots_ = Dots::named;
};

}  // namespace errand::files
