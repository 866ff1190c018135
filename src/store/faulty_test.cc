#include "store/faulty.h"

#include <gtest/gtest.h>

#include "base/hand_executor.h"
#include "store/memory/memory_store.h"

namespace errand {
namespace {

std::vector<Commit> setting(const std::string& name) {
  std::vector<Commit> group(1);
  group[0].settings.push_back({name, "1"});
  return group;
}

class Faulty : public testing::Test {
 protected:
  // Commits one setting a fault; the answers in the order in which they came, "-" for stored.
  std::vector<std::string> run(std::vector<Fault> plan) {
    size_t next = 0;
    Faults faults;
    faults.commit = [&](const std::vector<Commit>&) { return plan[next++]; };
    store_ = make_faulty(open_memory_store(make_memory_disk(), line_), line_, std::move(faults));
    std::vector<std::string> answers;
    for (size_t i = 0; i < plan.size(); ++i)
      store_->commit(setting(std::to_string(i)), [&answers, i](std::vector<Result<Committed>> results) {
        answers.push_back(std::to_string(i) + (results[0] ? "-" : std::string(name(results[0].error().code))));
      });
    line_.run();
    return answers;
  }
  bool has(const std::string& setting_name) { return !store_->settings(setting_name)->empty(); }

  HandExecutor line_;
  std::unique_ptr<Store> store_;
};

TEST_F(Faulty, FailsBeforeAndKeepsTheOrder) {
  const auto answers = run({Fault::none, Fault::full, Fault::none, Fault::broken, Fault::none});
  EXPECT_EQ(answers, (std::vector<std::string>{"0-", "1storage_full", "2-", "3internal", "4-"}));
  EXPECT_TRUE(has("0"));
  EXPECT_FALSE(has("1"));
  EXPECT_FALSE(has("3"));
}

TEST_F(Faulty, MayStoreAndSayThatItFailedOrSayNothing) {
  const auto answers = run({Fault::stored_but_failed, Fault::unanswered, Fault::lost, Fault::none});
  EXPECT_EQ(answers, (std::vector<std::string>{"0internal", "3-"}));
  EXPECT_TRUE(has("0"));
  EXPECT_TRUE(has("1"));
  EXPECT_FALSE(has("2"));
}

TEST_F(Faulty, ReadsMayFail) {
  Faults faults;
  faults.read = [] { return std::optional(Error{Code::unavailable, "Not now.", {}}); };
  store_ = make_faulty(open_memory_store(make_memory_disk(), line_), line_, std::move(faults));
  EXPECT_EQ(store_->get(TaskId("task_1")).error().code, Code::unavailable);
}

TEST_F(Faulty, ChanceRepeatsItself) {
  const auto faults_of = [](uint64_t seed) {
    SeededRandom random(seed);
    const Faults faults = random_faults(random, 4);
    std::vector<Fault> out;
    for (int i = 0; i < 100; ++i) out.push_back(faults.commit({}));
    return out;
  };
  EXPECT_EQ(faults_of(1), faults_of(1));
  EXPECT_NE(faults_of(1), faults_of(2));
}

}  // namespace
}  // namespace errand
