// Attempts (decision 37): all or none are stored, and a choice can be repeated.
#include "driver/isolates.h"
#include "engine/engine.h"
#include "engine/task_attempts.h"
#include "engine/world_test.h"

namespace errand {
namespace {

// Keeps no changes: it says what it is told to, and remembers what it was asked.
struct HandChanges final : Changes {
  explicit HandChanges(HandExecutor& on) : loop(on) {}
  void ask(std::shared_ptr<const Task> task, ChangesAsk ask, Answered done) override {
    asked.push_back(ask.order + " " + task->launch.model);
    ChangesAnswer answer{.isolation = task->isolation, .reply = "null"};
    if (refuses == asked.back())
      answer.refused = Error{Code::conflict, "It is in the way.", "in_the_way"};
    else if (ask.order == "merging")
      answer.isolation->state = "merging";
    else if (ask.order == "take")
      answer.isolation->state = "merged";
    else if (ask.order == "discard")
      answer.isolation->state = "discarded";
    messages.push_back(ask.message);
    loop.post([done = std::move(done), answer = std::move(answer)]() mutable { done(std::move(answer)); });
  }
  void take_up(Heard heard) override { tell = std::move(heard); }

  HandExecutor& loop;
  std::string refuses;
  std::vector<std::string> asked, messages;
  Heard tell;
};

// Turns that end at once, with or without a repository around.
struct Isolating final : Driver, Isolates {
  struct Over final : Turn {
    Status send(const Message&) override { return {}; }
    void answer(const std::string&, const std::string&, const std::string&) override {}
    void stop() override {}
    void drop() override {}
  };
  Capabilities capabilities() const override { return {.message_while_running = true, .resume = true}; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    for (const Message& message : request.messages) sink.report({report::Taken{message.id}}, request.task->checkpoint);
    if (request.task->launch.prompt != "long") sink.ended({.kind = Outcome::Kind::completed, .result = "Done."});
    return std::make_unique<Over>();
  }
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override { done({}); }
  void end_run(const TaskId&, int) override {}
  void forget(const TaskId&) override {}
  std::function<Status()> may_isolate(std::string) const override {
    return [good = may] { return good; };
  }
  Status may;
};

struct Attempts {
  explicit Attempts(std::vector<std::string> of = {"a", "b", "c"}) : models(std::move(of)) {
    settings.default_work_dir = "/tmp";
    settings.max_concurrent = 8;
    engine = make_engine({.store = *store,
                          .loop = loop,
                          .readers = readers,
                          .clock = clock,
                          .random = random,
                          .drivers = {{"isolating", &driver}},
                          .agents = {{.id = "able", .name = "able", .driver = "isolating"}},
                          .wake_at = {},
                          .faults = {},
                          .changes = &changes},
                         settings);
    engine->recover([](const Result<void>& recovered) { EXPECT_TRUE(recovered); });
    settle();
  }
  void settle() {
    while (loop.run_one() || readers.run_one()) {
    }
  }
  template <class T, class Call>
  Result<T> ask(Call call) {
    std::optional<Result<T>> answer;
    call(Reply<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    settle();
    if (!answer) return fail(Code::internal, "no answer");
    return *answer;
  }
  std::vector<NewAttempt> launches(const std::string& key = {}) {
    std::vector<NewAttempt> all;
    for (const std::string& model : models) {
      NewAttempt& one = all.emplace_back();
      one.launch.agent_id = model == "none" ? "nobody" : "able";
      one.launch.model = model;
      one.launch.prompt = "text";
      one.launch.isolate = Isolate::worktree;
      one.launch.batch_id = BatchId("new");
      if (!key.empty()) one.key = key + model, one.fingerprint = model;
    }
    return all;
  }
  Result<std::vector<TaskView>> launch(const std::string& key = {}) {
    return ask<std::vector<TaskView>>(
        [&](auto reply) { attempts_of(*engine).launch(launches(key), std::move(reply)); });
  }
  // All have ended, and have their work trees.
  std::vector<TaskId> rested() {
    std::vector<TaskId> ids;
    for (const TaskView& view : *launch()) ids.push_back(view.task.id);
    for (const TaskId& id : ids) {
      EXPECT_EQ(store->get(id)->state, TaskState::completed);
      changes.tell(id, Isolation{.kind = "worktree", .state = "ready", .path = "/w", .work_dir = "/w"});
      settle();
    }
    return ids;
  }
  Result<Chosen> choose(const TaskId& id) {
    return ask<Chosen>([&](auto reply) { attempts_of(*engine).choose(id, {.order = "merge"}, std::move(reply)); });
  }
  size_t stored() { return store->list({}, {})->tasks.size(); }
  Task launch_alone(const std::string& prompt, const BatchId& batch) {
    Launch launch;
    launch.agent_id = "able";
    launch.prompt = prompt;
    launch.batch_id = batch;
    launch.isolate = Isolate::worktree;
    return ask<TaskView>([&](auto reply) { engine->tasks().launch(launch, {}, {}, std::move(reply)); })->task;
  }

  ManualClock clock;
  SeededRandom random{1};
  HandExecutor loop, readers;
  std::unique_ptr<Store> store = open_memory_store(make_memory_disk(), loop);
  Isolating driver;
  HandChanges changes{loop};
  EngineSettings settings;
  std::unique_ptr<Engine> engine;
  std::vector<std::string> models;
};

TEST(AttemptCalls, AreStoredInOneBatch) {
  Attempts attempts;
  const auto made = attempts.launch();
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->size(), 3u);
  for (const TaskView& view : *made) EXPECT_EQ(view.task.launch.batch_id, made->front().task.launch.batch_id);
  EXPECT_EQ((*made)[2].task.launch.model, "c");
}

TEST(AttemptCalls, NoneIsStoredWhereOneWouldBeRefused) {
  Attempts attempts({"a", "b", "none"});
  const auto made = attempts.launch();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, "unknown_agent");
  EXPECT_EQ(attempts.stored(), 0u);
}

TEST(AttemptCalls, NoneIsStoredWhereTheFolderIsInNoRepository) {
  Attempts attempts;
  attempts.driver.may = fail(Code::unsupported, "There is none.", "isolation");
  const auto made = attempts.launch();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, "isolation");
  EXPECT_EQ(attempts.stored(), 0u);
}

TEST(AttemptCalls, WhatWasStoredIsTakenBackWhereTheNextCannotBe) {
  Attempts attempts;
  std::vector<NewAttempt> launches = attempts.launches("k");
  ASSERT_TRUE(attempts.launch("k"));
  // The last one's key was used for something else.
  launches[0].key = "new1", launches[1].key = "new2", launches[2].fingerprint = "other";
  const auto made = attempts.ask<std::vector<TaskView>>(
      [&](auto reply) { attempts_of(*attempts.engine).launch(std::move(launches), std::move(reply)); });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, "idempotency_key");
  EXPECT_EQ(attempts.stored(), 3u);
}

TEST(AttemptCalls, ARepeatedRequestAddsWhatAKilledServerHadNotStored) {
  Attempts attempts({"a"});
  const auto first = attempts.launch("k");
  ASSERT_TRUE(first);
  const Task begun = first->front().task;
  attempts.models = {"a", "b"};
  const auto both = attempts.launch("k");
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ((*both)[0].task.id, begun.id);
  EXPECT_EQ((*both)[1].task.launch.batch_id, begun.launch.batch_id);
  EXPECT_EQ(attempts.stored(), 2u);
}

TEST(AttemptCalls, OneIsMergedAsItEndedAndTheOthersAreDiscarded) {
  Attempts attempts;
  const std::vector<TaskId> ids = attempts.rested();
  const Result<Chosen> chosen = attempts.choose(ids[1]);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(attempts.changes.asked, (std::vector<std::string>{"merging b", "take b", "discard a", "discard c"}));
  EXPECT_EQ(chosen->discarded, (std::vector{ids[0], ids[2]}));
  EXPECT_FALSE(attempts.changes.messages.at(1).empty()) << "the commit has a message";
  // Once more: it is merged, and the others are discarded.
  attempts.changes.asked.clear();
  const Result<Chosen> again = attempts.choose(ids[1]);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->merged_before);
  EXPECT_TRUE(attempts.changes.asked.empty());
}

TEST(AttemptCalls, NothingIsDiscardedWhereTheMergeIsRefused) {
  Attempts attempts;
  const std::vector<TaskId> ids = attempts.rested();
  attempts.changes.refuses = "take a";
  const Result<Chosen> chosen = attempts.choose(ids[0]);
  ASSERT_TRUE(chosen);
  ASSERT_TRUE(chosen->merged.answer.refused);
  EXPECT_EQ(chosen->merged.answer.refused->reason, "in_the_way");
  EXPECT_EQ(attempts.changes.asked, (std::vector<std::string>{"merging a", "take a"}));
}

TEST(AttemptCalls, OneThatCannotBeDiscardedIsNamedAndTheRestGoesOn) {
  Attempts attempts;
  const std::vector<TaskId> ids = attempts.rested();
  attempts.changes.refuses = "discard a";
  const Result<Chosen> chosen = attempts.choose(ids[1]);
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->left.size(), 1u);
  EXPECT_EQ(chosen->left.front().task, ids[0]);
  EXPECT_EQ(chosen->discarded, std::vector{ids[2]});
}

TEST(AttemptCalls, AreNotChosenFromWhileOneIsAtWork) {
  Attempts attempts;
  const std::vector<TaskId> ids = attempts.rested();
  const Task late = attempts.launch_alone("long", attempts.store->get(ids[0])->launch.batch_id);
  const Result<Chosen> chosen = attempts.choose(ids[0]);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().reason, "at_work");
  EXPECT_NE(chosen.error().message.find(late.id.value), std::string::npos);
  EXPECT_TRUE(attempts.changes.asked.empty());
}

TEST(AttemptCalls, BeforeATestBeginsTheEndOfItsAttemptIsKept) {
  Attempts attempts;
  const std::vector<TaskId> ids = attempts.rested();
  const BatchId batch = attempts.store->get(ids[0])->launch.batch_id;
  attempts.changes.refuses = "hold b";
  Launch command;
  command.agent_id = "able";
  command.prompt = "text";
  const auto begun = attempts.ask<TestsBegun>(
      [&](auto reply) { attempts_of(*attempts.engine).test(batch, command, std::move(reply)); });
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(attempts.changes.asked, (std::vector<std::string>{"hold a", "hold b", "hold c"}));
  ASSERT_EQ(begun->tests.size(), 2u);
  EXPECT_EQ(begun->tests[1].task.launch.labels.at(attempt_label), ids[2].value);
  ASSERT_EQ(begun->left.size(), 1u);
  EXPECT_EQ(begun->left.front().task, ids[1]);
  EXPECT_EQ(begun->left.front().why, "It is in the way.");
}

TEST(AttemptCalls, ThatAMergeIsTakenBackIsKnownBeforeItIs) {
  Attempts attempts;
  const std::vector<TaskId> ids = attempts.rested();
  const auto undo = [&] {
    return attempts.ask<ChangesReply>(
        [&](auto reply) { attempts.engine->changes().ask(ids[0], {.order = "undo"}, std::move(reply)); });
  };
  ASSERT_TRUE(undo());
  EXPECT_EQ(attempts.changes.asked, (std::vector<std::string>{"undoing a", "undo a"}));
  attempts.changes.asked.clear();
  attempts.changes.refuses = "undoing a";
  const Result<ChangesReply> refused = undo();
  ASSERT_TRUE(refused);
  EXPECT_TRUE(refused->answer.refused);
  EXPECT_EQ(attempts.changes.asked, std::vector<std::string>{"undoing a"});
}

TEST(AttemptCalls, ATaskInNoBatchHasNoOthers) {
  Attempts attempts;
  const Task alone = attempts.launch_alone("text", {});
  EXPECT_EQ(attempts.choose(alone.id).error().reason, "no_batch");
}

}  // namespace
}  // namespace errand
