#include "driver/builtin/tools/in_background.h"

#include <utility>

namespace errand::builtin {
namespace {

struct State {
  GivenUp given_up = false;
  Tool::Done done;  // Touched on the engine's thread alone.
};

class BackgroundRun final : public ToolRun {
 public:
  explicit BackgroundRun(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // What it does does not survive the server; nobody hears of it.
  ~BackgroundRun() override {
    state_->given_up = true;
    state_->done = nullptr;
  }

 private:
  std::shared_ptr<State> state_;
};

void tell(Executor& engine, std::shared_ptr<State> state, ToolOutcome outcome) {
  engine.post([state = std::move(state), outcome = std::move(outcome)]() mutable {
    if (auto done = std::exchange(state->done, nullptr)) done(std::move(outcome));
  });
}

}  // namespace

std::unique_ptr<ToolRun> in_background(Executor& background, Executor& engine, Blocking work, Tool::Done done) {
  auto state = std::make_shared<State>();
  state->done = std::move(done);
  background.post([&engine, state, work = std::move(work)]() mutable {
    // Given up before it began: nothing is done at all.
    ToolOutcome outcome;
    if (!state->given_up) outcome = work(state->given_up);
    tell(engine, std::move(state), std::move(outcome));
  });
  return std::make_unique<BackgroundRun>(std::move(state));
}

std::unique_ptr<ToolRun> told_later(Executor& engine, ToolOutcome outcome, Tool::Done done) {
  auto state = std::make_shared<State>();
  state->done = std::move(done);
  tell(engine, state, std::move(outcome));
  return std::make_unique<BackgroundRun>(std::move(state));
}

ToolOutcome refused(const Error& error) { return {.output = error.message, .is_error = true}; }

}  // namespace errand::builtin
