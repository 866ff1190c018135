// Arguments of tools are hostile: whatever an agent sends, every call is answered once, in JSON and UTF-8, and nothing
// ends the server. The first byte chooses the tool, the second the caller; the rest is the arguments.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "tools/json.h"
#include "tools/toolbox.h"

namespace errand::tools {
namespace {

class HandExecutor final : public Executor {
 public:
  void post(Work work) override { queue_.push_back(std::move(work)); }
  void run() {
    while (!queue_.empty()) {
      Work work = std::move(queue_.front());
      queue_.pop_front();
      work();
    }
  }

 private:
  std::deque<Work> queue_;
};

// An engine that is used for some hundred calls and then thrown away, so that what they leave stays small.
struct World {
  World() {
    engine->recover([](Result<void>) {});
    loop.run();
    for (const char* prompt : {"noop", "fail", "long 30"}) {
      Launch launch;
      launch.agent_id = "demo";
      launch.prompt = prompt;
      launch.parent_session_id = SessionId("ses_a");
      launch.batch_id = BatchId("batch_a");
      engine->launch(std::move(launch), {}, {}, [](Result<TaskView>) {});
    }
    pass(200);
  }
  void pass(Millis span) {
    loop.run();
    clock.advance(span);
    timers.run_due();
    engine->tick();
    loop.run();
  }

  ManualClock clock;
  SeededRandom random{1};
  HandExecutor loop;
  std::unique_ptr<Store> store = open_memory_store(make_memory_disk(), loop);
  TimerQueue timers{clock};
  std::unique_ptr<fake::FakeDriver> demo = fake::make_demo_driver(timers);
  std::unique_ptr<Engine> engine = make_engine({.store = *store,
                                                .loop = loop,
                                                .readers = loop,
                                                .clock = clock,
                                                .random = random,
                                                .drivers = {{"demo", demo.get()}, {"command", demo.get()}},
                                                .agents = {{.id = "command", .name = "command", .driver = "command"},
                                                           {.id = "demo", .name = "demo", .driver = "demo"}}},
                                               {.default_work_dir = "/"});
  Toolbox toolbox{{.engine = *engine, .store = *store, .loop = loop, .readers = loop, .clock = clock}};
  int calls = 0;
};

void check(const Result<ToolResult>& result) {
  ERRAND_CHECK(result.has_value(), "a tool that is there answers with a result");
  boost::json::error_code error;
  boost::json::parse(result->data, error);
  ERRAND_CHECK(!error, "data is JSON");
  ERRAND_CHECK(!result->text.empty() || !result->is_error, "an error says what is wrong");
  boost::json::parse(result_reply(*result), error);
  ERRAND_CHECK(!error, "the reply is JSON");
}

void call(uint8_t tool, uint8_t who, std::string_view arguments) {
  static std::unique_ptr<World> world;
  if (!world || ++world->calls > 200) world = std::make_unique<World>();
  const std::vector<ToolInfo> tools = world->toolbox.list();
  int answers = 0;
  const SessionId session(who % 3 == 0 ? "" : who % 3 == 1 ? "ses_a" : "ses_b");
  world->toolbox.call(tools[tool % tools.size()].name,
                      {.session = session, .message = {}, .cancellation = std::make_shared<Cancellation>()},
                      std::string(arguments), [&](const Result<ToolResult>& result) {
                        ++answers;
                        check(result);
                      });
  // The longest that a call may wait.
  for (int i = 0; i < 8 && answers == 0; ++i) world->pass(600'000);
  ERRAND_CHECK(answers == 1, "every call is answered once");
  (void)parse_call(arguments);
}

}  // namespace
}  // namespace errand::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = (errand::set_log_level(errand::LogLevel::error), true);
  if (!quiet || size < 2) return 0;
  errand::tools::call(data[0], data[1], {reinterpret_cast<const char*>(data) + 2, size - 2});
  return 0;
}
