// The tools that errand itself offers to agents (R8), as a driver sees them: main joins this to tools/, which drivers
// do not know.
//
// Threads: the engine's thread only, in both directions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "task/task.h"

namespace errand {

class AgentTools {
 public:
  struct Info {
    std::string name, description;
    std::string input_schema;  // JSON Schema, an object.
    bool read_only = false;
  };
  struct Result {
    std::string text;
    bool is_error = false;
  };
  // A call under way. Destroyed: nobody waits for its answer any more and `done` is not called; what it started goes
  // on.
  class Handle {
   public:
    virtual ~Handle() = default;
  };

  virtual ~AgentTools() = default;
  virtual std::vector<Info> list() const = 0;
  // `arguments` is a JSON object. The caller is the task's own session: what it launches is that session's child, with
  // `message` as its parent message. `done` is called once, never inside this call; an unknown name is an error result.
  virtual std::unique_ptr<Handle> call(std::string name, std::string arguments, const Task& caller,
                                       const MessageId& message, std::move_only_function<void(Result)> done) = 0;
};

}  // namespace errand
