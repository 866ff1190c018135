// The contract, for the scripted driver and for the demo agent on it.
#include <memory>

#include "driver/fake/demo.h"
#include "driver/fake/fake_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/contract/timed_world.h"

namespace errand::test {
namespace {

using fake::FakeDriver;
using fake::Prompt;
using fake::Script;

Launch agent(std::string prompt) { return agent_launch("fake", std::move(prompt)); }

class ScriptedWorld : public TimedWorld {
 public:
  using Make = std::function<std::unique_ptr<FakeDriver>(Timers&)>;
  struct Prompts {
    std::string speaks, goes_on, fails;
  };
  ScriptedWorld(Make make, Prompts prompts)
      : make_(std::move(make)), prompts_(std::move(prompts)), driver_(make_(timers)) {}

  Driver& driver() override { return *driver_; }
  void restart() override { driver_ = make_(timers); }
  int left_behind() override { return driver_->live() + static_cast<int>(timers.size()); }

  Launch speaks() override { return agent(prompts_.speaks); }
  Launch goes_on() override { return agent(prompts_.goes_on); }
  Launch fails() override { return agent(prompts_.fails); }

 private:
  Make make_;
  Prompts prompts_;
  std::unique_ptr<FakeDriver> driver_;
};

Script contract_script(const Prompt& prompt) {
  if (prompt.text == "goes_on") return Script().say("I begin.").hang();
  if (prompt.text == "fails") return Script().say("I try.").fail("agent_error", "It did not work.");
  return Script()
      .session("fake-session")
      .think("Hm…")
      .stream("Grüße, 你好, 🙂 and a long tail of words.", 5, 10)
      .tool({.name = "read", .input = R"({"path":"a"})", .output = "ä", .ms = 30})
      .wait(50)
      .ask("colour", "Which colour?", {"red", "blue"})
      .when("colour", "blue", Script().say("Blue it is."))
      .unless("colour", "blue", Script().say("Not blue."))
      .ask_permission("write", "May I?", "write", "a.txt")
      .when("write", "allow", Script().tool({.name = "write", .output = "no", .is_error = true}))
      .end_message()
      .use({.input_tokens = 10, .output_tokens = 20, .cost_usd = 0.5})
      .repeat("{n} of 3; ", 3, 100)
      .repeat("x", 200, 0)
      .warn("slow", "It took a while.")
      .stream("You said {colour}, and {write}.", 7, 0)
      .finish();
}

std::unique_ptr<DriverWorld> fake_world() {
  return std::make_unique<ScriptedWorld>(
      [](Timers& timers) { return std::make_unique<FakeDriver>(timers, fake::FakeOptions{.script = contract_script}); },
      ScriptedWorld::Prompts{"speaks", "goes_on", "fails"});
}

std::unique_ptr<DriverWorld> demo_world() {
  return std::make_unique<ScriptedWorld>(
      [](Timers& timers) { return fake::make_demo_driver(timers); },
      ScriptedWorld::Prompts{"Größe 你好: text tools think ask permission long 3 flood 300 usage", "text silent 86400",
                             "think, then fail"});
}

INSTANTIATE_TEST_SUITE_P(Scripted, DriverContract,
                         testing::Values(DriverCase{"fake", fake_world}, DriverCase{"demo", demo_world}), case_name);

}  // namespace
}  // namespace errand::test
