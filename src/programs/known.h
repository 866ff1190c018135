// The programs of other makers that agents run in: what each is called, how it is started, installed and logged in to,
// and what of that can be seen on this machine. A program is a row of the table (known.cc). Nothing is started here and
// nobody is asked.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace errand::programs {

struct Known {
  const char* agent;   // As errand names it.
  const char* driver;  // Which runs it.
  const char* program;
  const char* name;  // As people call it.
  const char* description;
  const char* install;  // What to type to have it,
  const char* log_in;   // what to do to log in, as a sentence, and
  const char* login;    // what to type for that.
  // Where a login can be seen. Each variable stands for one; none: it may do without, for its models may be in its own
  // configuration.
  const char* variables;
  const char* folder;      // The variable that names its folder,
  const char* below;       // what is added to that,
  const char* below_home;  // or to the home folder where it is not set;
  const char* file;        // and its file with a login there.
  // Of one that speaks ACP:
  const char* words = "";   // Behind the program.
  const char* mode = "";    // Of a session, where its own default is not to ask anybody.
  const char* beside = "";  // Where this is on PATH and the program is not, the agent is listed with what to install.

  bool needs_login() const { return *variables != 0; }
};

std::span<const Known> all();
// By its agent; null: none of these.
const Known* find(std::string_view agent);

// The value of an environment variable; empty where it is not set.
using Variables = std::function<std::string(const std::string& name)>;
// How it is logged in, as the rest of a sentence; empty: no sign of it here. It may have one that cannot be seen, as in
// a keyring. Blocking.
std::string login_of(const Known& known, const Variables& variables);

// Its version, by where its file is: from the package that it is installed with (package.json), or from a folder that
// is called after it. Empty: not to be told without starting it. Blocking.
std::string version_of(const std::string& path);

}  // namespace errand::programs
