// The programs of other makers that errand runs tasks in, as far as they can be seen from here: whether each is on
// PATH, whether it has a login, and what to type where it is not so. Nothing is started and nobody is asked.
#pragma once

#include <string>
#include <vector>

namespace errand::cli {

struct AgentProgram {
  std::string agent;    // As errand names it.
  std::string name;     // As people do.
  std::string install;  // What to type to have it,
  std::string log_in;   // and to log in.
  bool on_path = false;
  // How it is logged in, as the rest of a sentence; empty: no sign of it here. It may have one that cannot be seen: in
  // the server's environment, or in a keyring.
  std::string login;
  bool needs_login = true;  // False: its models may be in its own configuration.
};

std::vector<AgentProgram> agent_programs();
bool on_path(std::string_view program);

}  // namespace errand::cli
