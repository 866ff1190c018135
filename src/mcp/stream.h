// What errand tells a client without being asked.
//
// GET /mcp (legacy): the notices of its session, as logging messages; showing one does not take it: the answer to the
// next call does. Ids are the notices' seq, so a stream that broke goes on with Last-Event-ID. Beside them, without
// ids: changes of the resources that the session has subscribed to, and of the list of them.
//
// subscriptions/listen (modern): what the request asked for, each message with the request's id; no notices, which have
// no place in that protocol.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "engine/engine.h"
#include "mcp/rpc.h"
#include "mcp/watching.h"
#include "net/routes/event_stream.h"
#include "store/store.h"

namespace errand::mcp {

// All outlive the stream.
struct NoticeStreamParts {
  Engine& engine;
  Store& store;
  Executor& loop;
  Executor& readers;
  net::Heartbeats& heartbeats;
};

class TellingStream;

// What the streams of one legacy session, or one listen request, are about. Outlives neither engine nor streams.
struct Subjects {
  std::set<std::string> uris;           // Of resources.
  std::set<std::string> handles;        // Of MCP tasks.
  bool list = false;                    // Of resources.
  std::vector<TellingStream*> streams;  // That are open.
};
inline constexpr size_t uris_max = 200;

class TellingStream final : public net::EventStream, private FeedReader {
 public:
  // Legacy: begins with the notices that are owed; after `last_event_id` where it names one.
  TellingStream(NoticeStreamParts parts, SessionId session, std::string_view last_event_id,
                std::shared_ptr<Subjects> subjects);
  // Modern: `rpc` is the listen request, `acknowledged` the first message.
  TellingStream(NoticeStreamParts parts, RpcPtr rpc, std::shared_ptr<Subjects> subjects, std::string acknowledged);
  ~TellingStream() override;

  // The subjects are others than before.
  void subjects_changed();
  void list_changed();

 private:
  Pulled next(std::vector<net::Slice>& out, size_t bytes) override;
  void wake() override;
  void read_store();
  void tell(std::string_view method, std::string params);
  void tell_changes();
  void tell_resources(const TaskId& id);
  void tell_task(const std::string& handle);

  NoticeStreamParts parts_;
  SessionId session_;
  RpcPtr rpc_;  // Null: legacy.
  std::shared_ptr<Subjects> subjects_;
  Watching watching_;
  std::shared_ptr<Feed> feed_;
  int64_t cursor_ = 0;
  bool stale_ = true;
  bool reading_ = false;
  bool changed_ = false, list_changed_ = false;
  std::vector<Notice> notices_;
  std::string messages_;                     // To be written, beside the notices.
  std::map<std::string, std::string> told_;  // Of tasks: the last that was told.
};

}  // namespace errand::mcp
