// No person at the keyboard (R9.2): does a command wait for one? Asked before it starts, so that whoever launched it is
// told at once, with the form that asks nobody, instead of finding a task that hangs or fails.
//
// A check by tables (rules.h) of every simple command that the script has, through what only starts others (env, sudo,
// xargs, sh -c, ssh, ...). It errs on the side of letting pass: what it does not know or cannot read is no reason to
// refuse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::shell {

struct Refusal {
  std::string key;      // editor, pager, repl, terminal, confirm, question, password, login.
  std::string command;  // "git commit"
  std::string reason;   // A sentence.
  std::string instead;  // The form that asks nobody: "git commit -m \"...\"".
};

// `variables`: names that are set in the environment of the command ("GIT_EDITOR").
std::optional<Refusal> find_interactive(std::string_view script, const std::vector<std::string>& variables = {});
std::optional<Refusal> find_interactive(const std::vector<std::string>& argv,
                                        const std::vector<std::string>& variables = {});

// The refusal as one text for whoever launched it.
std::string refusal_text(const Refusal& refusal);

}  // namespace errand::shell
