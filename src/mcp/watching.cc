#include "mcp/watching.h"

namespace errand::mcp {

void Watching::keep(const std::set<TaskId>& ids) {
  std::erase_if(readers_, [&](const auto& reader) { return !ids.contains(reader.first); });
  for (const TaskId& id : ids)
    if (readers_.size() < watched_max && !readers_.contains(id))
      readers_.emplace(id, std::make_unique<Reader>(*this, id));
}

std::vector<TaskId> Watching::take() {
  std::vector<TaskId> ids(changed_.begin(), changed_.end());
  changed_.clear();
  return ids;
}

}  // namespace errand::mcp
