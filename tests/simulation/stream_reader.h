// A simulated stream: a cursor that reads a feed, falls back to the store where it is too far behind, is cut at random
// and goes on from where it was (R10.3, P5). It checks that it is shown every event once, in order, and nothing that is
// not on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "tests/simulation/step_queue.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/verdict.h"

namespace errand::sim {

// The server that streams are connected to; a new one after each crash.
struct StreamServer {
  Engine& engine;
  Store& store;
  StepQueue& loop;
  StepQueue& readers;
};

class StreamReader final : public FeedReader {
 public:
  // An empty task: the stream of everything, by pos.
  StreamReader(TaskId task, Truth& truth, Verdict& verdict);
  ~StreamReader() override { cut(); }

  void connect(StreamServer& server);
  void cut();
  // Takes what there is, up to `bytes`. False: there was nothing to do.
  bool step(StreamServer& server, size_t bytes);
  void wake() override { awake_ = true; }

  bool connected() const { return feed_ != nullptr; }
  // At the end: has it seen everything?
  void check_complete() const;
  const TaskId& task() const { return task_; }
  int64_t cursor() const { return cursor_; }

 private:
  bool by_pos() const { return task_.empty(); }
  void read_store(StreamServer& server);
  void take(const Frame& frame, const Streams& streams);
  void take_by_pos(const Frame& frame);
  void take_by_seq(const Frame& frame, const Streams& streams);

  const TaskId task_;
  Truth& truth_;
  Verdict& verdict_;
  int64_t cursor_ = 0;
  bool gone_ = false;
  std::shared_ptr<Feed> feed_;
  bool awake_ = false;
  bool behind_ = false;   // Reads the store until it has caught up.
  bool reading_ = false;  // The store's answer is under way.
  // Answers of reads that began before a cut are not for us any more.
  std::shared_ptr<char> connection_;
};

}  // namespace errand::sim
