#include "engine/change_calls.h"

#include <utility>

#include <fmt/format.h>

#include "task/commit_text.h"

namespace errand {

void ChangeCalls::ask(TaskId id, ChangesAsk ask, Reply<ChangesReply> reply) {
  if (ask.decides() && rooms_.commits.refuse())
    return rooms_.shared.answer_later(std::move(reply), rooms_.commits.refusal());
  rooms_.views.get(
      std::move(id), [this, ask = std::move(ask), reply = std::move(reply)](Result<TaskView> view) mutable {
        if (!view) return reply(std::unexpected(view.error()));
        if (changes_ == nullptr)
          return reply(fail(Code::unsupported, "This server does not keep what tasks changed.", "no_changes"));
        const Task& task = view->task;
        if (ask.decides() && !is_over(task))
          return reply(fail(Code::conflict,
                            fmt::format("The task is {}. Wait for its end, or cancel it first: `errand cancel {}`.",
                                        task.stopping ? "being stopped" : "at work", task.id.value),
                            "at_work"));
        const bool merges = ask.order == "merge" || ask.order == "take";
        if ((merges || ask.order == "publish") && ask.message.empty()) ask.message = commit_message(commit_text(task));
        if ((merges || ask.order == "undo") && task.isolation)
          return move(view->kept, std::move(ask), std::move(reply));
        this->ask(view->kept, std::move(ask), std::move(reply));
      });
}

void ChangeCalls::ask(std::shared_ptr<const Task> task, ChangesAsk ask, Reply<ChangesReply> reply) {
  changes_->ask(
      task, std::move(ask),
      [this, alive = rooms_.shared.alive(), task, reply = std::move(reply)](Result<ChangesAnswer> answer) mutable {
        if (!alive.expired()) answered(rooms_.views.of(task), std::move(answer), std::move(reply));
      });
}

// That it is being merged, or that this is taken back, is known, stored and told before anything moves. Whoever keeps
// the changes knows it first: a server that is killed in between finds it there, and settles it.
void ChangeCalls::move(std::shared_ptr<const Task> task, ChangesAsk ask, Reply<ChangesReply> reply) {
  this->ask(task, {.order = ask.order == "undo" ? "undoing" : "merging"},
            [this, ask = std::move(ask), reply = std::move(reply)](Result<ChangesReply> marked) mutable {
              if (!marked || marked->answer.refused) return reply(std::move(marked));
              const std::shared_ptr<const Task> merging = marked->view.kept;
              this->ask(merging, std::move(ask),
                        [this, merging, reply = std::move(reply)](Result<ChangesReply> merged) mutable {
                          if (merged) return reply(std::move(merged));
                          // Nobody could be asked, or nobody answered: what is true is found, and the error told.
                          this->ask(merging, {.order = "settle"},
                                    [error = merged.error(), reply = std::move(reply)](
                                        const Result<ChangesReply>&) mutable { reply(std::unexpected(error)); });
                        });
            });
}

void ChangeCalls::answered(const TaskView& view, Result<ChangesAnswer> answer, Reply<ChangesReply> reply) {
  if (!answer) return reply(std::unexpected(answer.error()));
  // Nothing is known of it any more: what was known stays. Of a task at work its turn tells.
  if (!answer->isolation || !is_over(view.task) || answer->isolation == view.task.isolation)
    return reply(ChangesReply{view, std::move(*answer)});
  Action action{.input = input::Isolated{answer->isolation}};
  action.reply = [this, answer = std::move(*answer), reply = std::move(reply)](Result<TaskPtr> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    reply(ChangesReply{rooms_.views.of(std::move(*stored)), std::move(answer)});
  };
  rooms_.lives.submit(view.task.id, std::move(action));
}

void ChangeCalls::take_up() {
  if (changes_ == nullptr) return;
  changes_->take_up([this, alive = rooms_.shared.alive()](const TaskId& task, std::optional<Isolation> isolation) {
    if (alive.expired()) return;
    // A caller's action: one for a task that is gone is not tried again.
    Action action{.input = input::Isolated{std::move(isolation)}};
    action.reply = [](const Result<TaskPtr>&) {};
    rooms_.lives.submit(task, std::move(action));
  });
}

}  // namespace errand
