// The tables behind interactive.h: data, so that a program is one row.
//
// Lists in a row are words separated by blanks. An option is written
//   "-x"       alone, in a group ("-ax") or with its value attached ("-xVALUE");
//   "--long"   alone or as "--long=VALUE";
//   "-long"    likewise, with one dash or two;
//   "=-x"      exactly so;
//   "name="    any word that begins so;
//   ">-x"      behind the verb only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace errand::shell {

// How a program's words are read.
struct Grammar {
  std::string_view programs;
  std::string_view values;     // Options whose value is the next word.
  int stops = 0;               // After this many operands the rest belongs to another program; 0: never.
  std::string_view only = {};  // It stops so only where the first operand is one of these; empty: always.
};

enum Pass : uint8_t {
  never = 0,
  input = 1,   // Standard input is redirected: the answers come from there.
  output = 2,  // Standard output goes to a pipe or a file.
};

// It is refused if it is one of `programs`, its first operands are one of `verbs` ("auth+login" are two), it has one of
// `when`, none of `unless`, fewer than `fewer` further operands, and nothing of `pass` or `variables` is there. What is
// empty or 0 does not count.
struct Rule {
  std::string_view key;
  std::string_view programs;
  std::string_view verbs;
  std::string_view when;
  std::string_view unless;
  int fewer = 0;
  uint8_t pass = never;
  std::string_view variables;
  std::string_view instead;
};

// A program that starts another: its operands after `verbs` and `skip` more are that command.
struct Wrapper {
  std::string_view programs;
  std::string_view verbs;
  int skip = 0;
  enum class Rest : uint8_t {
    words,   // A program and its arguments,
    script,  // or text for a shell, joined with blanks.
  } rest = Rest::words;
  std::string_view option;   // Where it is there, the word behind it is the script (or, with `module`, the program).
  bool module = false;       // The program's name is the option's value.
  std::string_view only;     // Looked through only for these programs.
  std::string_view nothing;  // Options with which it starts nothing.
  bool feeds = false;        // The command's standard input is not this one's.
};

std::span<const Grammar> grammars();
std::span<const Rule> rules();
std::span<const Wrapper> wrappers();
// What is wrong with a command that was refused, by the rule's key: a sentence with {} for the command.
std::string_view reason_of(std::string_view key);

// `word` is one of the words of `list`.
bool in_list(std::string_view list, std::string_view word);

}  // namespace errand::shell
