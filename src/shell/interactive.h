// Does a command wait for a person (R9.2)? errand checks before it starts the command. So the caller learns at once,
// with a form that needs no input, instead of finding a task that hangs or fails.
//
// The check compares every simple command of the script with tables (rules.h). It looks through programs that only
// start others (env, sudo, xargs, sh -c, ssh, ...). In doubt it lets a command pass: one that it does not know or
// cannot read is not refused. Pure; any thread.
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
  std::string instead;  // A form that needs no input: "git commit -m \"...\"".
};

// `variables`: names that are set in the environment of the command ("GIT_EDITOR").
std::optional<Refusal> find_interactive(std::string_view script, const std::vector<std::string>& variables = {});
std::optional<Refusal> find_interactive(const std::vector<std::string>& argv,
                                        const std::vector<std::string>& variables = {});

// The refusal as one text for whoever launched it.
std::string refusal_text(const Refusal& refusal);

}  // namespace errand::shell
