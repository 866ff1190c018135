// The MCP servers of one turn, and their tools, named mcp__SERVER__TOOL.
//
// Threads: the engine's only. Nothing is called after destruction.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/builtin/mcp_client/client.h"
#include "driver/builtin/tool.h"
#include "driver/builtin/tools/tool_set.h"

namespace errand::builtin::mcp {

inline constexpr size_t servers_max = 20;
inline constexpr size_t tool_name_max = 64;  // Of what a model sees.

class Servers {
 public:
  Servers(const ToolSettings& settings, const ToolSetParts& parts, std::shared_ptr<const Task> task);
  ~Servers();

  // Begins them all, side by side. Answers once, later: with the tools of those that could be begun, and a sentence for
  // each that could not.
  void begin(std::move_only_function<void(std::vector<std::string> warnings)> ready);
  const std::vector<std::shared_ptr<const Tool>>& tools() const { return tools_; }
  // Answers once, later, when nothing of them is left.
  void close(std::move_only_function<void()> gone);
  // Their destruction ends them all, whatever they do.
  void drop();

 private:
  Result<Client::Make> transport_for(const std::string& name, const McpServer& server);
  void begun(const std::string& name, Result<ServerTools> tools);
  void one_less();

  const ToolSettings& settings_;
  const ToolSetParts& parts_;
  const std::shared_ptr<const Task> task_;
  std::map<std::string, std::unique_ptr<Client>> clients_;
  std::vector<std::shared_ptr<const Tool>> tools_;
  std::vector<std::string> warnings_;
  size_t beginning_ = 0;
  std::move_only_function<void(std::vector<std::string>)> ready_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

// "mcp__github__create_issue": letters, digits, "_" and "-" alone, at most 64; a longer one ends with a hash. Pure.
std::string tool_name(std::string_view server, std::string_view tool);

}  // namespace errand::builtin::mcp
