// A log as a stream: read piece by piece as the connection takes it, so that a log of any size costs one piece of
// memory; with `follow`, on until the task is at rest, also over a run that begins again after a hang.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/alive.h"
#include "driver/driver.h"
#include "net/routes/context.h"
#include "net/routes/log_text.h"

namespace errand::net {

class LogStream final : public StreamSource, private FeedReader {
 public:
  struct Start {
    TaskId task;
    int run = 0;  // 0: the first, once it begins.
    const Driver* driver = nullptr;
    int64_t offset = 0;
    bool follow = false;
    int attempt = 0;    // Followed through all of its runs; 0: the one run only.
    std::string first;  // Written before what is read (the tail that was asked for).
  };
  LogStream(Context& context, Start start, LogText text);
  ~LogStream() override;

  Pulled pull(std::vector<Slice>& out, size_t bytes) override;
  void on_ready(std::function<void()> wake) override { wake_ = std::move(wake); }

 private:
  void wake() override;
  void read_on();
  void took(Result<LogRead> read);
  // There was nothing more: has the task come to its end?
  void ask_whether_over();

  Context& context_;
  TaskId task_;
  int run_;
  const Driver* driver_;
  const int attempt_;
  int64_t next_;
  LogText text_;
  std::shared_ptr<Feed> feed_;  // Null: not followed.
  std::function<void()> wake_;
  std::string ready_;     // Read and not yet given.
  bool busy_ = false;     // A read or a question is under way.
  bool stale_ = true;     // There may be more to read.
  bool at_rest_ = false;  // The run will print no more.
  int next_run_ = 0;      // Then this one follows.
  bool finished_ = false;
  Alive alive_;
};

}  // namespace errand::net
