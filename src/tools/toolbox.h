// All tools by name. One for the whole server.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/time.h"
#include "engine/engine.h"
#include "store/store.h"
#include "tools/tool.h"

namespace errand::tools {

// What the tools work with. All outlive the toolbox, and the readers are stopped before it is destroyed.
struct ToolParts {
  Engine& engine;
  Store& store;
  Executor& loop;
  Executor& readers;
  Clock& clock;
  std::string family = "background";  // The one that is listed (the setting tools.family).
};

class Toolbox {
 public:
  explicit Toolbox(ToolParts parts) : parts_(std::move(parts)) {}

  // In a stable order, in the family that is listed, with the names of the agents that are here. `forks`: whether the
  // conversation of whoever reads the list can be copied; where it cannot, `fork` is left out.
  std::vector<ToolInfo> list(bool forks = true) const;
  const std::string& family() const { return parts_.family; }
  void use_family(std::string family) { parts_.family = std::move(family); }
  // Calls a tool by its name in any family. `arguments` is a JSON object, or empty for none. Answers once, later, on
  // the engine's thread. not_found where there is no such tool; whatever else goes wrong is a ToolResult with is_error,
  // whose text says what was wrong, what is allowed and what to try (R8.8). A call whose caller gave up is answered
  // too.
  void call(std::string_view name, Caller caller, std::string arguments, Reply<ToolResult> reply);

 private:
  ToolParts parts_;
};

// By its name in any family; `other` where there is no such tool.
Role role_of(std::string_view name);

// The descriptions alone, as Toolbox::list has them.
std::vector<ToolInfo> tool_infos(std::string_view family = "background");

}  // namespace errand::tools
