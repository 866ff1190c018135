// The contract, for the built-in agent: a model and tools inside the process, whose time goes as fast as the next
// timer.
#include <memory>

#include "driver/builtin/builtin_driver.h"
#include "driver/builtin/scripted_test.h"
#include "tests/contract/driver_contract.h"

namespace errand::test {
namespace {

using namespace builtin::test;
using builtin::ModelDirectory;

// The answer is chosen by what the conversation holds, as a real model's is: asked again, it says the same.
Reply contract_reply(const model::Request& request) {
  const std::string words = user_words(request);
  if (words.starts_with("goes_on")) return {.blocks = {say("I begin.")}, .hangs = true};
  if (words.starts_with("fails"))
    return {.blocks = {say("I try.")},
            .failure = model::Failure{.kind = model::Failure::Kind::invalid, .message = "No."},
            .fail_after = 1};
  switch (answers_in(request)) {
    case 0:
      return calls({think("Hm…"), say("Grüße, 你好, 🙂: I look."), call("r1", "read", R"({"path":"a"})"),
                    call("r2", "read", R"({"path":"b"})"), call("r3", "nothing")});
    case 1:
      return calls({think("", "hidden"), say("Now I work."), call("b1", "bash"), call("w1", "write"),
                    call("q1", "ask_user", R"({"question":"Which colour?","options":["red","blue"]})")});
    case 2:
      return calls({call("c1", "children")});
    default:
      return {.blocks = {say("You said: " + words + " And the colour is " + result_in(request, "q1") + ".")}};
  }
}

class BuiltinWorld final : public DriverWorld {
 public:
  BuiltinWorld() { restart(); }

  Driver& driver() override { return *driver_; }
  void restart() override {
    driver_.reset();
    tools_ = std::make_unique<ScriptedTools>(timers_, clock_, ground_);
    tools_->add("read", {.read_only = true, .output = "ä"});
    tools_->add("bash", {.survives = true, .output = "ran", .ms = 500});
    tools_->add("write", {.survives = true, .asks = true, .output = "written"});
    tools_->add("children", {.read_only = true, .children = true, .output = "They are done."});
    models_.script = contract_reply;
    driver_ = builtin::make_builtin_driver(
        *ModelDirectory::make({{.base_url = "http://127.0.0.1:1", .model = "m"}}, {}), {.models = models_,
                                                                                        .tools = *tools_,
                                                                                        .timers = timers_,
                                                                                        .clock = clock_,
                                                                                        .random = random_,
                                                                                        .loop = executor_,
                                                                                        .background = executor_});
  }
  bool run_until(const std::function<bool()>& done) override {
    for (int i = 0; i < 100'000; ++i) {
      if (done()) return true;
      const Time due = timers_.next_due();
      if (!due) return done();
      clock_.advance(std::max<Millis>(due - clock_.steady(), 0));
      timers_.run_due();
    }
    return false;
  }
  void settle() override {
    run_until([] { return false; });
  }
  int left_behind() override { return models_.live() + tools_->live() + ground_.alive(clock_.steady()); }

  Launch speaks() override { return agent("speaks"); }
  Launch goes_on() override { return agent("goes_on"); }
  Launch fails() override { return agent("fails"); }

 private:
  static Launch agent(std::string prompt) {
    Launch launch;
    launch.agent_id = "builtin";
    launch.prompt = std::move(prompt);
    return launch;
  }

  ManualClock clock_;
  SeededRandom random_{7};
  TimerQueue timers_{clock_};
  InlineExecutor executor_{timers_};
  Ground ground_;
  ScriptedModels models_{timers_};
  std::unique_ptr<ScriptedTools> tools_;
  std::unique_ptr<Driver> driver_;
};

INSTANTIATE_TEST_SUITE_P(Builtin, DriverContract,
                         testing::Values(DriverCase{"builtin", [] { return std::make_unique<BuiltinWorld>(); }}),
                         case_name);

}  // namespace
}  // namespace errand::test
