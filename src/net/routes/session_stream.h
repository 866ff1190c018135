// GET /api/sessions/{id}/stream: the notices that errand owes a session, as they are made (R5.5). Its ids are the
// notices' seq. Showing a notice does not take it.
#pragma once

#include <memory>
#include <vector>

#include "net/routes/context.h"
#include "net/routes/event_stream.h"

namespace errand::net {

class SessionStream final : public EventStream, private FeedReader {
 public:
  SessionStream(Context& context, SessionId session, int64_t after);
  ~SessionStream() override;

 private:
  Pulled next(std::vector<Slice>& out, size_t bytes) override;
  void wake() override;
  void read_store();

  Context& context_;
  SessionId session_;
  std::shared_ptr<Feed> feed_;
  int64_t cursor_;
  bool stale_ = true;  // There may be more after the cursor.
  bool reading_ = false;
  bool over_ = false;            // The session has ended.
  std::vector<Notice> notices_;  // Read and not yet sent.
};

}  // namespace errand::net
