#include "serve/agent_tools.h"

#include <utility>

namespace errand::serve {
namespace {

struct Waiting final : AgentTools::Handle {
  ~Waiting() override { cancellation->cancel(); }
  std::shared_ptr<tools::Cancellation> cancellation = std::make_shared<tools::Cancellation>();
};

}  // namespace

std::vector<AgentTools::Info> ToolsForAgents::list() const {
  std::vector<Info> infos;
  for (tools::ToolInfo& tool : toolbox_->list())
    infos.push_back({.name = std::move(tool.name),
                     .description = std::move(tool.description),
                     .input_schema = std::move(tool.input_schema),
                     .read_only = tool.annotations.read_only});
  return infos;
}

std::unique_ptr<AgentTools::Handle> ToolsForAgents::call(std::string name, std::string arguments, const Task& caller,
                                                         const MessageId& message,
                                                         std::move_only_function<void(Result)> done) {
  auto handle = std::make_unique<Waiting>();
  toolbox_->call(
      name, {caller.session_id, message, handle->cancellation}, std::move(arguments),
      [cancellation = handle->cancellation, done = std::move(done)](errand::Result<tools::ToolResult> result) mutable {
        if (cancellation->cancelled()) return;
        if (!result) return done({result.error().message, true});
        done({std::move(result->text), result->is_error});
      });
  return handle;
}

}  // namespace errand::serve
