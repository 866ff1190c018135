// GET /mcp: what errand tells a client without being asked. The notices of its session, as logging messages; showing
// one does not take it: the answer to the next call does. Ids are the notices' seq, so a stream that broke goes on with
// Last-Event-ID.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "engine/engine.h"
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

class NoticeStream final : public net::EventStream, private FeedReader {
 public:
  // Begins with what is owed; after `last_event_id` where it names a notice.
  NoticeStream(NoticeStreamParts parts, SessionId session, std::string_view last_event_id);
  ~NoticeStream() override;

 private:
  Pulled next(std::vector<net::Slice>& out, size_t bytes) override;
  void wake() override;
  void read_store();

  NoticeStreamParts parts_;
  SessionId session_;
  std::shared_ptr<Feed> feed_;
  int64_t cursor_ = 0;
  bool stale_ = true;
  bool reading_ = false;
  std::vector<Notice> notices_;
};

}  // namespace errand::mcp
