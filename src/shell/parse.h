// Reads a shell script as far as a check needs it: which simple commands it has, with which words, and where their
// standard input comes from. POSIX sh and the common forms of bash. Nothing is run and nothing is expanded.
//
// Pure; any thread. The time is linear in the length of the text (times the depth). A script that is not understood is
// an error, never a guess.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace errand::shell {

inline constexpr size_t script_bytes_max = 1 << 20;
inline constexpr size_t commands_max = 10'000;
inline constexpr int depth_max = 60;

struct Word {
  std::string text;       // Without quotes and escapes. Of an expansion nothing.
  bool known = true;      // False: it has an expansion ($x, $(...)); `text` is only what stands around it.
  bool open = false;      // It begins with an expansion outside of quotes: it may become several words, or none.
  std::string expansion;  // The name of the variable that it begins with, quoted or not; "@" for all arguments.
  bool quoted = false;
  bool pattern = false;  // It has *, ?, [ or { outside of quotes: it may become other words.
  size_t plain = 0;      // This many bytes at the beginning of `text` stood there as they are.
};

struct Command {
  enum class From : uint8_t { inherited, pipe, file, here, caller };  // caller: of the function that it is in.
  enum class To : uint8_t { inherited, pipe, file };

  std::vector<std::string> assignments;  // "NAME=value", before the first word.
  std::vector<Word> words;               // May be empty: only assignments or redirections.
  From input = From::inherited;
  Word source;  // Of the input, where it is a file.
  To output = To::inherited;
  std::string here;  // What a here-document or here-string gives it.
};

struct Script {
  std::vector<Command> commands;  // In the order of the text; those of an expansion before the command that has it.
  std::vector<std::string> functions;  // The names that it defines.
  std::vector<Word> writes;            // The paths that redirections write to; a descriptor (>&1) is none.
  // Nothing but simple commands in lists and pipes, which every shell reads alike: no compound command, no array, no
  // $'...', no redirected input.
  bool plain = true;
};

// invalid_argument where it is not understood; too_large past the bounds above.
Result<Script> parse(std::string_view text);

}  // namespace errand::shell
