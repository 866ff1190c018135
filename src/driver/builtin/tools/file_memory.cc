#include "driver/builtin/tools/file_memory.h"

namespace errand::builtin {

void FileMemory::saw(const TaskId& task, const std::string& path, std::string identity) {
  const Lock lock(mutex_);
  const auto [entry, added] = seen_.insert_or_assign({task.value, path}, std::move(identity));
  if (!added) return;
  order_.push_back(entry->first);
  while (order_.size() > entries_max) {
    seen_.erase(order_.front());
    order_.pop_front();
  }
}

Status FileMemory::check(const TaskId& task, const std::string& path, const std::string& identity) const {
  const Lock lock(mutex_);
  const auto entry = seen_.find({task.value, path});
  if (entry == seen_.end())
    return fail(Code::conflict, "You have not read " + path + " yet; call `read` on it first, then change it.",
                "not_read");
  if (entry->second != identity)
    return fail(Code::conflict, path + " has changed since you read it; call `read` on it again, then change it.",
                "changed");
  return {};
}

void FileMemory::forget(const TaskId& task) {
  const Lock lock(mutex_);
  std::erase_if(seen_, [&](const auto& entry) { return entry.first.first == task.value; });
  std::erase_if(order_, [&](const Key& key) { return key.first == task.value; });
}

}  // namespace errand::builtin
