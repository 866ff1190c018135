// The built-in agent: a model, tools, the model again, until it ends. One binary and a model's address are enough.
//
// The parts: `conversation` (stored messages as a model's conversation), `step` (what comes next), `prompt`,
// `compaction`, `answer` (an answer as reports), `mark` (the checkpoint), `model_choice`: all pure; `turn` does what
// they say.
//
// Durable steps: each answer and each tool's result is stored before the next step, and a call is marked as begun
// before it begins. So a server that was killed goes on from the stored conversation: a cut answer is asked for again;
// a call that had begun is taken up (tools that survive), run again (those that only read), or told to the model as
// interrupted, never run a second time.
#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "base/id.h"
#include "base/time.h"
#include "base/timers.h"
#include "driver/builtin/model_choice.h"
#include "driver/builtin/tool.h"
#include "driver/driver.h"
#include "http/client.h"
#include "model/model.h"

namespace errand::builtin {

// All outlive the driver.
struct BuiltinParts {
  model::Models& models;
  http::Client* http = nullptr;  // To ask a server for its models where none is named; null: it is not asked.
  ToolSet& tools;
  Timers& timers;
  Clock& clock;
  Random& random;
  Executor& loop;           // The engine's thread.
  Executor& background;     // For what blocks a little: AGENTS.md, the arguments of calls and what they need.
  Driver* files = nullptr;  // Lists, gathers and opens what the commands of its tools left (R9.4); null: nothing does.
};

std::unique_ptr<Driver> make_builtin_driver(ModelDirectory models, BuiltinParts parts);

}  // namespace errand::builtin
