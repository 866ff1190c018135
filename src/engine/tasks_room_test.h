// A room with the parts that a task in memory needs, for tests of one of them: nothing follows from a commit but what
// the test looks at.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/agents.h"
#include "engine/batches.h"
#include "engine/decisions.h"
#include "engine/feeds.h"
#include "engine/lives.h"
#include "engine/room_test.h"
#include "engine/slots.h"
#include "engine/starts.h"

namespace errand {

struct TasksRoom : Room, Follower {
  explicit TasksRoom(EngineSettings with = {}) : Room(std::move(with)) {
    lives.follow(*this);
    shared.on_tick([this] {
      shared.timers.run_due();
      lives.pump_all();
      commits.hand_over();
    });
  }

  void stored(Prepared& prepared, const Committed&) override {
    if (prepared.after) prepared.live->task = prepared.after;
    prepared.live->recorder = std::move(prepared.recorder);
    if (prepared.commit.remove) lives.make_ghost(prepared.live);
    answer(prepared);
  }
  void unchanged(Prepared& prepared) override { answer(prepared); }
  void refused(const LivePtr&) override { ++refusals; }
  void reloaded(const LivePtr&) override { ++reloads; }
  void vanished(const LivePtr&) override { ++vanishings; }

  // A task that was just created, stored and in memory.
  LivePtr queued(const std::string& id, Launch launch = {}) {
    if (launch.agent_id.empty()) launch.agent_id = "demo";
    if (launch.prompt.empty()) launch.prompt = "Do it.";
    const LivePtr live = std::make_shared<Live>(TaskId(id));
    const SessionId session("ses_of_" + id);
    const MessageId first("msg_of_" + id);
    Step step = create(std::move(launch), live->id, session, first, clock.wall());
    Prepared prepared;
    prepared.live = live;
    prepared.commit.session = Session{.id = session, .task_id = live->id, .created_at = clock.wall()};
    Recording out;
    out.events = std::move(step.events);
    Message message{.id = first, .session_id = session, .role = Role::user, .turn = 1, .created_at = clock.wall()};
    message.parts.push_back({.type = PartType::text, .text = "Do it."});
    prepared.recorder.add_message(std::move(message), out, clock.wall());
    live->messages.emplace(first, out.messages.back());
    decisions.finish(prepared, std::move(step.after), std::move(out));
    prepared.commit.before_version = 0;
    live->task = prepared.after;
    live->recorder = prepared.recorder;
    Result<Committed> made = fail(Code::internal, "no answer");
    commits.store(std::move(prepared.commit), [&](Result<Committed> result) { made = std::move(result); });
    settle();
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    lives.add(live);
    return live;
  }
  // The same, and its first turn is at work, with the prompt.
  LivePtr working(const std::string& id, Launch launch = {}) {
    LivePtr live = queued(id, std::move(launch));
    becomes(live, input::Start{});
    becomes(live, input::Taken{live->task->run, MessageId("msg_of_" + id)});
    return live;
  }
  // It takes this input, durably.
  void becomes(const LivePtr& live, Input input) {
    lives.submit(live, {.input = std::move(input)});
    settle();
    lives.add(live);  // Also where it is at rest.
  }

  int refusals = 0, reloads = 0, vanishings = 0;
  Agents agents{{}, {}};
  Batches batches;
  Feeds feeds{nullptr, [](const TaskId&) { return int64_t{0}; }, {}};
  Decisions decisions{shared, agents, batches, feeds};
  Slots slots{{}};
  Lives lives{shared, commits, decisions, slots, batches};
  Starts starts{shared, lives, slots};

 private:
  static void answer(Prepared& prepared) {
    for (size_t i = 0; i < prepared.actions.size(); ++i) {
      Action& action = prepared.actions[i];
      if (!action.reply) continue;
      if (prepared.refused[i])
        action.reply(std::unexpected(*prepared.refused[i]));
      else
        action.reply(prepared.live->task);
    }
  }
};

}  // namespace errand
