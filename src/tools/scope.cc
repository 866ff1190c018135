#include "tools/scope.h"

namespace errand::tools {

Scope read_scope(api::Fields& fields, const Caller& caller, AllBy all_by) {
  Scope scope;
  const bool flagged = all_by == AllBy::flag;
  fields.text("task_id", scope.task, id_rule);
  fields.text("batch_id", scope.batch.value, id_rule);
  if (flagged) fields.flag("all", scope.all);
  const int named = static_cast<int>(!scope.task.empty()) + static_cast<int>(!scope.batch.empty());
  if (flagged && named + static_cast<int>(scope.all) != 1)
    fields.refuse_all("Give one of `task_id`, `batch_id` and `all=true`.", "missing_field");
  if (!flagged && named > 1) fields.refuse_all("Give `task_id` or `batch_id`, not both.", "invalid_field");
  if (!flagged) scope.all = named == 0;
  if (!scope.all || !caller.session.empty()) return scope;
  if (flagged)
    fields.refuse("all", "needs a calling session, whose tasks it ends", "no_session");
  else
    fields.refuse_all("Give `task_id` or `batch_id`: without a calling session it is not clear whose tasks are meant.",
                      "no_session");
  return scope;
}

}  // namespace errand::tools
