// What a part of the engine stands on, for its test: a memory store, executors and a clock that are turned by hand.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "base/hand_executor.h"
#include "engine/commits.h"
#include "engine/shared.h"
#include "store/faulty.h"
#include "store/memory/memory_store.h"

namespace errand {

struct Room {
  explicit Room(EngineSettings settings = {})
      : store(make_faulty(open_memory_store(make_memory_disk(), loop), loop,
                          {.commit = [this](const auto&) { return std::exchange(fault, Fault::none); }, .read = {}})),
        shared({.store = *store,
                .loop = loop,
                .readers = readers,
                .clock = clock,
                .random = random,
                .drivers = {},
                .agents = {},
                .wake_at = {},
                .faults = {}},
               std::move(settings)),
        commits(shared) {
    commits.on_task([](Prepared&, Result<Committed>&) {});
    commits.on_group([] {});
    shared.on_tick([this] {
      shared.timers.run_due();
      commits.hand_over();
    });
  }

  void settle() {
    while (loop.run_one() || readers.run_one()) {
    }
  }
  void advance(Millis span) {
    clock.advance(span);
    shared.schedule();
    settle();
  }
  template <class T, class Call>
  Result<T> ask(Call call) {
    std::optional<Result<T>> answer;
    call(Reply<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    EXPECT_FALSE(answer) << "a call is answered later, never inside it";
    settle();
    if (!answer) return fail(Code::internal, "no answer");
    return std::move(*answer);
  }

  ManualClock clock;
  SeededRandom random{1};
  HandExecutor loop, readers;
  Fault fault = Fault::none;  // Of the next group of commits.
  std::unique_ptr<Store> store;
  Shared shared;
  Commits commits;
};

}  // namespace errand
