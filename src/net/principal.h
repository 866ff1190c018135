// Who asks, and what they may do.
//
// The owner (the token in the data folder, the unix socket, a browser session) may do everything. A further token has
// scopes. A task's own token is for what runs inside it: it reaches that task's subtree, and dies with the task's work.
// A caller without credentials may do nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace errand::net {

enum class Scope : uint8_t {
  read,     // See tasks, sessions, logs and files.
  tasks,    // Start agents' tasks; message, cancel, resume, retry, clear.
  exec,     // Start commands.
  approve,  // Say what a task may do.
  admin,    // Everything, tokens and settings included.
};
inline constexpr int scope_count = 5;
std::string_view name(Scope scope);
std::optional<Scope> parse_scope(std::string_view text);

// A set of them. `admin` is all; every other one lets its holder read.
class Scopes {
 public:
  static Scopes all() { return Scopes().add(Scope::admin); }
  Scopes& add(Scope scope) {
    bits_ |= 1U << static_cast<unsigned>(scope);
    return *this;
  }
  bool has(Scope scope) const;
  bool empty() const { return bits_ == 0; }
  // As they were given.
  std::vector<Scope> list() const;
  bool operator==(const Scopes&) const = default;

 private:
  unsigned bits_ = 0;
};

struct Principal {
  std::string id;  // "owner", "tok_..." or "task_..."; empty: nobody.
  Scopes scopes;
  Time expires_at;  // Of a token that ends by itself.
  // Of a task's own token: the task and the run, and (once that is known) the session that the task works in.
  TaskId task;
  int run = 0;
  SessionId session;

  static Principal owner() {
    Principal owner;
    owner.id = "owner";
    owner.scopes = Scopes::all();
    return owner;
  }
  bool may(Scope scope) const { return scopes.has(scope); }
  bool is_owner() const { return id == "owner"; }
  // True for a caller without the scopes `tasks` and `exec`: its reads mark no result as read and take no notice.
  bool only_looks() const { return !may(Scope::tasks) && !may(Scope::exec); }
};

}  // namespace errand::net
