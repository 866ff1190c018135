#include "tools/rights.h"

#include <algorithm>

namespace errand::tools {

std::unexpected<Error> lacks_scope(std::string_view scope, std::string_view for_what) {
  return fail(Code::forbidden,
              "The token of this caller may not do that: it lacks the scope `" + std::string(scope) + "`, which " +
                  std::string(for_what) + ". Use another token; the owner makes one with `errand token create`.",
              "scope");
}

Status check_launch(const Launch& launch, const Rights& rights) {
  // Only the kind tells: a command runs under no other agent.
  if (launch.kind == TaskKind::command || launch.agent_id == "command") {
    if (!rights.execute) return lacks_scope("exec", "starting commands needs");
  } else if (!rights.change) {
    return lacks_scope("tasks", "starting agents' tasks needs");
  }
  if (!rights.execute) {
    if (!launch.env.empty() || !launch.pass_env.empty())
      return lacks_scope("exec", "`env` and `pass_env` need: variables decide what programs do");
    if (!launch.isolate_setup.empty())
      return lacks_scope("exec", "`isolate_setup` needs: it is a command that is run before the task begins");
    if (!launch.artifacts.empty()) return lacks_scope("exec", "`artifacts` needs: it takes along any file of work_dir");
  }
  const bool allows = launch.permission == Permission::allow ||
                      std::ranges::any_of(launch.permission_rules, [](const PermissionRule& rule) {
                        return rule.decision == Permission::allow;
                      });
  if (allows && !rights.approve) return lacks_scope("approve", "allowing things without asking (`permission`) needs");
  return {};
}

Status check_retry(const Task& task, const Rights& rights) {
  if (task.launch.kind == TaskKind::command && !rights.execute)
    return lacks_scope("exec", "starting commands again needs");
  return {};
}

}  // namespace errand::tools
