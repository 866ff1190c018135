// errand's own tools, for agents that errand runs itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/agent_tools.h"
#include "tools/toolbox.h"

namespace errand::serve {

// Called as the session of the agent's task. They come after the drivers: the tools need the engine, and the engine its
// drivers.
class ToolsForAgents final : public AgentTools {
 public:
  void use(tools::Toolbox& toolbox) { toolbox_ = &toolbox; }

  std::vector<Info> list() const override;
  std::unique_ptr<Handle> call(std::string name, std::string arguments, const Task& caller, const MessageId& message,
                               std::move_only_function<void(Result)> done) override;

 private:
  tools::Toolbox* toolbox_ = nullptr;
};

}  // namespace errand::serve
