// What a script does, as lines to compare with permission rules: one line for each simple command, wherever it stands
// (lists, pipes, substitutions, loops), and one line "> PATH" for each file that a redirection writes. So a rule
// `git status*` allows `git status -s` and not `git status; rm -rf /`, because rules must allow every line.
//
// Pure; any thread. For a script that is not understood the answer is nothing, and a person is asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::shell {

inline constexpr size_t subjects_max = 100;
inline constexpr size_t subject_bytes_max = 16 * 1024;  // Of all lines together.

// A line is "NAME=value command word ...": words without their quotes, "${NAME}" or "$(...)" for an expansion; behind
// them "< PATH", or "<< HASH" of a here-document, where its input is redirected. No line
// has a line break in it. Nothing where the script cannot be read, defines functions or aliases of its own, runs a
// command whose name is only known when it runs, or is longer than the bounds.
std::optional<std::vector<std::string>> subjects(std::string_view script);

// The same as one text, a line each: what a permission request is about. A script that is not understood is its first
// line behind "? ", with a hash of all of it where that is more.
std::string subject_of(std::string_view script);

}  // namespace errand::shell
