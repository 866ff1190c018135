// Tells who waits for tasks that one of them asks something which the caller can answer, or have answered. Inside
// tools/ only.
//
// What a task asks is a notice to the session that launched it: so its session's feed is watched, not the tasks' own,
// which would have every word of theirs stored more often. A caller without a session is never told.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/alive.h"
#include "tools/call.h"

namespace errand::tools {

class AskWatch final : private FeedReader {
 public:
  // `asked` is called once, later, on the engine's thread, unless this is destroyed before; also for what was asked
  // already.
  AskWatch(CallPtr call, std::vector<TaskId> ids, std::function<void()> asked);
  ~AskWatch() override;
  AskWatch(const AskWatch&) = delete;
  AskWatch& operator=(const AskWatch&) = delete;

 private:
  void wake() override;
  void look();
  void seen(const Task& task);

  const CallPtr call_;
  const std::vector<TaskId> ids_;
  std::function<void()> asked_;
  std::shared_ptr<Feed> feed_;
  bool looking_ = false;
  Alive alive_;
};

}  // namespace errand::tools
