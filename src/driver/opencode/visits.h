// What is done in OpenCode beside turns: a conversation is read, its models are listed, and sessions whose task is gone
// are deleted. OpenCode is started for it where it does not run.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "driver/conversations.h"
#include "driver/model_list.h"
#include "driver/opencode/server.h"
#include "driver/opencode/sessions.h"

namespace errand::opencode {

// Reads conversations, each on a visit of its own.
class Readers {
 public:
  explicit Readers(Server& server);
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;
  void read(const SessionId& session, Conversations::Read done);

 private:
  class One;
  Server& server_;
  std::vector<std::unique_ptr<One>> readers_;
};

// Asks which models there are. Who asks meanwhile gets the same answer.
class Lister final : private SessionListener {
 public:
  explicit Lister(Server& server);
  ~Lister() override;
  Lister(const Lister&) = delete;
  Lister& operator=(const Lister&) = delete;
  void list(ModelList::Listed done);

 private:
  void event(const Event&) override {}
  void stream_lost() override {}
  void stream_open() override;
  void gone(const std::string& why) override;
  void finish(const Result<std::vector<ListedModel>>& listed);

  Server& server_;
  Calls calls_;
  bool reading_ = false;  // What came is being taken apart.
  std::vector<ModelList::Listed> waiting_;
  Beside beside_;
};

// Deletes what was given up, one session after the other. What cannot be deleted is tried again, a few times: OpenCode
// may just have died; then when the next one is given up, or the server is started.
class Cleaner final : private SessionListener {
 public:
  Cleaner(Server& server, const Sessions& sessions);
  ~Cleaner() override;
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;
  // There is something that was given up, perhaps.
  void wake();

 private:
  void event(const Event&) override {}
  void stream_lost() override {}
  void stream_open() override;
  void gone(const std::string& why) override;
  void visit();
  void next();
  void delete_one();
  void rest();
  void try_again();

  Server& server_;
  const Sessions& sessions_;
  Timer again_;
  int failures_ = 0;  // In a row.
  bool visiting_ = false, at_work_ = false;
  bool woken_ = false;  // While it visited: what was given up then may not have been seen.
  TaskId task_;
  std::vector<std::string> left_;  // Of the task's sessions.
  Calls calls_;
  Beside beside_;
};

}  // namespace errand::opencode
