// An agent that a task may name: found on this machine, or configured (R4.6, section 13 "Agents").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "task/task.h"

namespace errand {

struct Agent {
  std::string id;  // A found one's id is its name.
  std::string name;
  std::string driver;  // Key of EngineParts::drivers.
  std::string model;
  std::string description;
  bool builtin = true;                           // Found, or shipped with errand, not configured: cannot be changed.
  std::optional<Permission> permission;          // What a launch that says nothing gets; absent: ask.
  std::vector<PermissionRule> permission_rules;  // Behind those of the launch.
  // What its owner allowed it from now on, when a task of it asked (R14.3): stored beside it, for found ones too.
  std::vector<PermissionRule> granted;
  int max_concurrent = 0;          // 0: no limit of its own.
  std::string prompt;              // Its system prompt; empty: the driver's own.
  std::vector<std::string> tools;  // The tools that it gets, by name; empty: what its driver gives.
  Limits limits;                   // Of the processes that it starts.
  Budget budget;                   // Of a task, where its launch says less.
  int max_steps = 0;               // Model calls of one turn; 0: the driver's own bound.
  bool enable_skills = false;      // For every task of it; a launch may add them.
  bool enable_mcp = false;
  Isolate isolate = Isolate::unset;  // Of a task whose launch does not say.
  IsolateBase isolate_base = IsolateBase::unset;
  std::string isolate_setup;
  StringMap options;        // The driver's own.
  std::string unavailable;  // Why it cannot be used here, as a sentence; empty: it can.
  bool operator==(const Agent&) const = default;
};

}  // namespace errand
