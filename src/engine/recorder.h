// Recorder: turns what a driver reports into events, messages and progress. It decides no state.
//
// A value: the engine copies it, records into the copy, and keeps the copy once the commit is durable. So a commit that
// fails leaves no trace, and the same reports can be recorded again. Engine thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "driver/driver.h"
#include "store/store.h"
#include "task/event.h"
#include "task/message.h"
#include "task/task.h"

namespace errand {

// What goes into one commit.
struct Recording {
  std::vector<Event> events;
  std::map<size_t, std::string> texts;  // The text of `output` events, by index: for those who read live.
  std::vector<Message> messages;
  std::vector<UsageRow> usage;
  std::vector<std::shared_ptr<Syncable>> sync_first;
};

class Recorder {
 public:
  // The conversation as it is stored: its last message's seq, and the assistant message that is still open.
  void start(int64_t last_message, std::optional<Message> open);

  // A message of somebody else (a user's): numbered and announced.
  void add_message(Message message, Recording& out, Time now);
  // The agent took a user's message.
  void take_message(Message message, Recording& out, Time now);

  // Reports about state (Asks, Taken, AgentSession, Waits, GoesOn) are the engine's own business and are ignored here.
  void record(const Report& report, Task& after, IdSource& ids, Recording& out, Time now);
  // Text that was merged becomes one event. Called once all reports of a commit are recorded.
  void flush(Recording& out, Time now);
  // The turn is over: a message that is still open is closed with what there is.
  void close(Recording& out, Time now);

  bool has_open() const { return open_.has_value(); }
  // The text of the last assistant message that was completed.
  const std::string& last_text() const { return last_text_; }

 private:
  Message& open(Task& after, IdSource& ids, Recording& out, Time now, const MessageId& id = {});
  Part& part(Message& message, int number, PartType type, Recording& out, Time now);
  void complete(bool interrupted, Recording& out, Time now);
  void write(Part& into, std::string_view text, Recording& out, Time now);
  void keep_opaque(Recording& out) const;

  int64_t last_message_ = 0;
  std::optional<Message> open_;
  std::map<int, size_t> part_index_;  // The driver's number of a part to its place in the message.
  std::string last_text_;

  struct Delta {
    size_t part = 0;
    PartType type = PartType::text;
    std::string text;
  };
  std::optional<Delta> delta_;  // Not yet an event.
};

}  // namespace errand
