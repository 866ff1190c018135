// A call that blocks on the disk: done by the background executor, told on the engine's thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/executor.h"
#include "driver/builtin/tool.h"

namespace errand::builtin {

// True as soon as nobody waits any more: work that takes long looks at it now and then.
using GivenUp = std::atomic<bool>;
using Blocking = std::move_only_function<ToolOutcome(const GivenUp&)>;

std::unique_ptr<ToolRun> in_background(Executor& background, Executor& engine, Blocking work, Tool::Done done);
// An outcome that is known already, told later as the contract says.
std::unique_ptr<ToolRun> told_later(Executor& engine, ToolOutcome outcome, Tool::Done done);

// An error as the model is told of it.
ToolOutcome refused(const Error& error);

}  // namespace errand::builtin
