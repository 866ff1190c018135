// Feeds: what streams read, and what is published into it. A feed is there while somebody holds it; of a task whose
// feed nobody holds no frame is made. The feed of the whole store is always there.
//
// It decides nothing and stores nothing: what is published here is durable already. Engine thread only, but frames()
// and gone_frame(), which any thread may call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/driver.h"
#include "engine/streams.h"
#include "store/store.h"

namespace errand {

class Feeds final : public Streams {
 public:
  // The number of the last event of a task that is in memory; 0: it is not.
  using LastSeq = std::function<int64_t(const TaskId& id)>;
  // True: the event is not shown. A bug that the simulator plants; empty everywhere else.
  using Skip = std::function<bool(const Event& event)>;

  // `printer` reads the logs that `output` events name; null: nothing prints here.
  Feeds(const Driver* printer, LastSeq last_seq, Skip skip);

  std::shared_ptr<Feed> feed(const TaskId& id) override;
  std::shared_ptr<Feed> all() override { return all_; }
  std::shared_ptr<Feed> session_feed(const SessionId& id) override;
  void listen(EventListener* listener) override { listener_ = listener; }
  std::vector<FramePtr> frames(const std::vector<Event>& events) const override;
  FramePtr gone_frame(const Tombstone& gone) const override;

  // At the start: what was stored before is not published.
  void start_at(int64_t pos) { all_->start_at(0, pos); }
  // The events of one commit, whose places in the store begin with `first_pos`, which is written into them. `texts`: of
  // `output` events, by index. The readers of the whole store are woken later, once for a group of commits.
  void publish(const TaskId& id, std::vector<Event>& events, const std::map<size_t, std::string>& texts,
               int64_t first_pos);
  // The task was removed.
  void publish_gone(const Tombstone& gone);
  void wake_all() { all_->wake_readers(); }
  // A notice was made for this session, or the session has ended.
  void wake(const SessionId& id);
  void forget(const TaskId& id) { tasks_.erase(id); }

  // Somebody reads this task's events as they come.
  bool is_read(const TaskId& id) const;
  int64_t readers() const;
  int64_t size() const { return std::ssize(tasks_) + std::ssize(sessions_); }

 private:
  std::shared_ptr<Feed> held(const TaskId& id);
  void drop_unheld();

  const Driver* const printer_;
  const LastSeq last_seq_;
  const Skip skip_;
  EventListener* listener_ = nullptr;
  std::shared_ptr<Feed> all_ = std::make_shared<Feed>(4 << 20);
  std::unordered_map<TaskId, std::weak_ptr<Feed>> tasks_;
  std::unordered_map<SessionId, std::weak_ptr<Feed>> sessions_;
  size_t looked_at_ = 0;  // With so many entries those that nobody holds go.
};

}  // namespace errand
