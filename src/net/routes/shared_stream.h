// GET /api/stream: one stream for everything a browser shows. The changes of all tasks and of the counts, and the whole
// transcripts of the tasks that it names. Its ids are store-wide positions; it joins store and feed as task_stream.h
// does.
#pragma once

#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "net/routes/context.h"
#include "net/routes/event_stream.h"

namespace errand::net {

class SharedStream final : public EventStream, private FeedReader {
 public:
  // Without `after` it begins with what happens now.
  SharedStream(Context& context, std::optional<int64_t> after, const std::vector<TaskId>& tasks);
  ~SharedStream() override;

 private:
  using Names = std::unordered_set<TaskId>;

  Pulled next(std::vector<Slice>& out, size_t bytes) override;
  void wake() override { ready(); }
  void read_store();
  // The counts, where they are not what was last sent.
  void send_counts(std::vector<Slice>& out);
  static bool wanted(const Names& names, EventType type, const TaskId& task);

  Context& context_;
  std::shared_ptr<Feed> feed_;
  std::shared_ptr<const Names> names_;  // Shared with the readers.
  std::optional<int64_t> cursor_;       // Absent until it is known where now is.
  bool behind_ = true;
  bool reading_ = false;
  bool broken_ = false;  // The store cannot be read: the reader connects again.
  bool reset_due_ = false;
  std::vector<FramePtr> stored_;
  std::optional<StateCounts> counts_;  // As last sent.
};

}  // namespace errand::net
