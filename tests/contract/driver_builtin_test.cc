// The contract, for the built-in agent: a model and tools inside the process, whose time goes as fast as the next
// timer.
#include <memory>

#include "tests/contract/builtin_world.h"
#include "tests/contract/driver_contract.h"

namespace errand::test {
namespace {

using namespace builtin::test;

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

class ContractWorld final : public BuiltinWorld {
 public:
  ContractWorld() {
    deeds = {{"read", {.read_only = true, .output = "ä"}},
             {"bash", {.survives = true, .output = "ran", .ms = 500}},
             {"write", {.survives = true, .asks = true, .output = "written"}},
             {"children", {.read_only = true, .children = true, .output = "They are done."}}};
    models.script = contract_reply;
    restart();
  }
};

INSTANTIATE_TEST_SUITE_P(Builtin, DriverContract,
                         testing::Values(DriverCase{"builtin", [] { return std::make_unique<ContractWorld>(); }}),
                         case_name);

}  // namespace
}  // namespace errand::test
