#include "tests/simulation/clients.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/simulation/agents.h"

namespace errand::sim {
namespace {

using When = WaitingMessage::When;

}  // namespace

template <class T>
Reply<T> Clients::reply(std::string what, std::function<void(const Result<T>&)> then, TaskId blocks_for) {
  const uint64_t id = ++calls_;
  open_.emplace(id, Call{what, std::move(blocks_for)});
  verdict_.trace(fmt::format("call {} {}", id, what));
  return [this, id, what = std::move(what), then = std::move(then)](Result<T> result) {
    verdict_.trace(fmt::format("reply {} {}", id, result ? "ok" : result.error().message));
    if (in_call_) verdict_.broken(what + " was answered inside the call");
    if (open_.erase(id) == 0) verdict_.broken(what + " was answered twice, or by a dead server");
    then(result);
  };
}

void Clients::check_error(const Error& error, const std::string& what, const TaskId& task) {
  if (error.message.empty()) verdict_.broken(what + " failed without a word");
  if (error.code == Code::not_found && truth_.disk().find(task))
    verdict_.broken(fmt::format("{} did not find {}, which is on disk: {}", what, task.value, error.message));
}

void Clients::act(Engine& engine) {
  in_call_ = true;
  const TaskId id = any_task();
  const auto view = [this, id](const char* what) {
    return reply<TaskView>(what + (" " + id.value), [this, id, what](const Result<TaskView>& result) {
      if (result)
        told(*result, what);
      else
        check_error(result.error(), what, id);
    });
  };
  switch (random_.below(23)) {
    case 0:
    case 1:
    case 2:
    case 3:
      launch(engine);
      break;
    case 4:
    case 5:
    case 6:
      message(engine, false);
      break;
    case 7:
      message(engine, true);
      break;
    case 8:
      engine.tasks().cancel(id, "user", view("cancel"));
      break;
    case 9:
    case 10:
      if (random_.one_in(2))
        engine.tasks().retry(id, {}, view("retry"));
      else
        engine.tasks().retry(id, new_message(), view("retry"));
      break;
    case 11:
    case 12:
    case 13:
      answer(engine);
      break;
    case 14:
      if (random_.one_in(2))
        engine.tasks().remove(id, Gone::deleted,
                              reply<void>("remove " + id.value, [this, id](const Result<void>& gone) {
                                if (gone) truth_.acknowledged_gone(id, "remove");
                              }));
      else
        clear(engine);
      break;
    case 15:
    case 16:
      result(engine);
      break;
    case 17:
      batch(engine);
      break;
    case 18:
      session(engine);
      break;
    case 19:
      notices(engine);
      break;
    case 22:
      edit(engine, id);
      break;
    case 20:
      engine.tasks().resolve(id.value, reply<TaskId>("resolve", [this, id](const Result<TaskId>& found) {
                               if (found && *found != id) verdict_.broken("a whole id was resolved to another");
                               if (!found) check_error(found.error(), "resolve", id);
                             }));
      break;
    default:
      engine.tasks().get(id, view("get"));
      break;
  }
  in_call_ = false;
}

Launch Clients::random_launch() {
  Launch launch;
  launch.agent_id = random_.one_in(4) ? "narrow" : "demo";
  launch.prompt = mark(next_mark(When::steer));
  launch.description = "simulated";
  launch.idle_timeout_ms = static_cast<Millis>(4'000 + random_.below(30'000));
  if (random_.one_in(4)) launch.timeout_ms = static_cast<Millis>(2'000 + random_.below(60'000));
  if (random_.one_in(3)) launch.on_hang = OnHang::restart;
  if (random_.one_in(2)) launch.parent_session_id = random_.one_in(2) ? own_session() : any_session();
  if (random_.one_in(10)) launch.budget.tool_calls = static_cast<int64_t>(1 + random_.below(3));
  if (random_.one_in(4)) launch.batch_id = any_batch();
  if (random_.one_in(8)) launch.retention_ms = static_cast<Millis>(1'000 + random_.below(60'000));
  if (random_.one_in(8)) launch.progress_every_ms = static_cast<Millis>(1'000 + random_.below(20'000));
  if (random_.one_in(2)) launch.permission = static_cast<Permission>(random_.below(3));
  if (random_.one_in(3)) launch.priority = static_cast<int>(random_.below(3));
  launch.authorize_over_limit = over_limit_ && random_.one_in(6);
  return launch;
}

void Clients::launch(Engine& engine) {
  std::string key;
  Launch launch = random_launch();
  if (random_.one_in(3)) {
    key = fmt::format("key{}", random_.below(6));
    const auto [known, fresh] = keys_.try_emplace(key, Keyed{launch, {}, {}});
    if (!fresh) launch = known->second.launch;
  }
  // The prompt has a mark of its own: it tells one request from another.
  const std::string fingerprint = launch.prompt;
  engine.tasks().launch(
      launch, key, fingerprint,
      reply<TaskView>("launch " + launch.prompt, [this, key, launch](const Result<TaskView>& result) {
        if (!result) {
          // A task's own session may be too deep, cancelled, or without a budget that is left.
          const bool foreign = launch.parent_session_id.value.starts_with("ses_parent");
          if (result.error().code == Code::invalid_argument ||
              (result.error().code == Code::conflict && (foreign || launch.parent_session_id.empty())))
            verdict_.broken("a good launch was refused: " + result.error().message);
          return;
        }
        const TaskId& id = result->task.id;
        told(*result, "launch");
        if (result->task.launch.prompt != launch.prompt) verdict_.broken("a launch answered another's task");
        if (!key.empty()) {
          Keyed& known = keys_[key];
          // A key of a task that is gone is remembered for 30 days (a clock that is set may make that short).
          const bool is_old = result->task.created_at - known.made >= 30LL * 86'400'000;
          if (known.task && known.task != id && !is_old) verdict_.broken("the same key made two tasks");
          known.task = id;
          known.made = result->task.created_at;
        }
        if (std::ranges::find(tasks_, id) != tasks_.end()) {
          if (key.empty()) verdict_.broken("two launches got the same id");
          return;
        }
        tasks_.push_back(id);
        if (result->task.launch.batch_id) batches_.push_back(result->task.launch.batch_id);
      }));
}

void Clients::message(Engine& engine, bool resume) {
  const TaskId id = any_task();
  NewMessage message = new_message();
  const std::string text = message.text;
  auto answer =
      reply<MessageTaken>(fmt::format("{} {} {}", resume ? "resume" : "message", id.value, text),
                          [this, id, text](const Result<MessageTaken>& taken) {
                            if (!taken) return check_error(taken.error(), "message", id);
                            told(taken->view, "message");
                            if (!truth_.disk().find(id)) return;  // Removed since.
                            const auto stored = truth_.disk().messages.find(taken->message_id);
                            if (stored == truth_.disk().messages.end() || text_of(stored->second.message) != text)
                              verdict_.broken("a message was taken and is not on disk: " + text);
                          });
  if (resume)
    engine.tasks().resume(id, std::move(message), std::move(answer));
  else
    engine.tasks().message(id, std::move(message), std::move(answer));
}

void Clients::answer(Engine& engine) {
  // Somebody who looks at the list for what is asked; or somebody who is late.
  TaskId id = any_task();
  std::string request = "ask_1_1";
  AskKind kind = AskKind::answer;
  for (const auto& [number, row] : truth_.disk().tasks) {
    const Ask* const open = open_ask(row.task);
    if (!open || random_.one_in(3)) continue;
    id = row.task.id;
    request = open->request_id;
    kind = open->kind;
    break;
  }
  input::Answered answered{request, kind == AskKind::answer ? "answer" : "allow", "the first", "user"};
  if (random_.one_in(10)) answered.decision = "nonsense";
  engine.tasks().answer(id, answered,
                        reply<TaskView>("answer " + id.value + " " + request, [this](const Result<TaskView>& result) {
                          if (result) told(*result, "answer");
                        }));
}

void Clients::answer_all(Engine& engine) {
  in_call_ = true;
  for (const auto& [number, row] : truth_.disk().tasks) {
    const Ask* const open = open_ask(row.task);
    if (!open) continue;
    engine.tasks().answer(row.task.id,
                          {open->request_id, open->kind == AskKind::answer ? "answer" : "allow", "the first", "user"},
                          reply<TaskView>("answer " + row.task.id.value, [](const Result<TaskView>&) {}));
  }
  in_call_ = false;
}

void Clients::cancel(Engine& engine, const TaskId& id) {
  in_call_ = true;
  engine.tasks().cancel(id, "user", reply<TaskView>("cancel " + id.value, [](const Result<TaskView>&) {}));
  in_call_ = false;
}

// What was acknowledged of an edit is on disk, whatever the task does meanwhile; or a later edit that was stored with
// it.
void Clients::edit(Engine& engine, const TaskId& id) {
  const std::string title = fmt::format("Renamed {:06}", ++edits_);
  input::Edit edit{.title = title, .labels = {{"sort", title}}, .pinned = random_.one_in(2)};
  engine.tasks().edit(id, std::move(edit), reply<TaskView>("edit " + id.value, [this, id, title](const auto& result) {
                        if (!result) return check_error(result.error(), "edit", id);
                        told(*result, "edit");
                        // Of one that was removed in the same commit nothing is left to be edited.
                        if (!truth_.disk().find(id)) return;
                        const Task& task = result->task;
                        const auto sort = task.launch.labels.find("sort");
                        if (!task.title.starts_with("Renamed ") || task.title < title ||
                            sort == task.launch.labels.end() || sort->second != task.title)
                          verdict_.broken("an edit of " + id.value + " was taken and is not there");
                      }));
}

void Clients::result(Engine& engine) {
  const TaskId id = any_task();
  const Millis block = random_.one_in(2) ? 0 : static_cast<Millis>(random_.below(120'000));
  engine.tasks().result(id, block,
                        reply<ResultView>(
                            fmt::format("result {} {}", id.value, block),
                            [this, id](const Result<ResultView>& result) {
                              if (!result) return check_error(result.error(), "result", id);
                              told(result->view, "result");
                              const Task& task = result->view.task;
                              if (!at_work(task.state) && !task.retrieved_at)
                                verdict_.broken("a result was read and not marked as read");
                            },
                            block > 0 ? id : TaskId()));
}

void Clients::batch(Engine& engine) {
  const BatchId id = batches_.empty() ? BatchId("batch_none") : batches_[random_.below(batches_.size())];
  const auto count = [this](const char* what) { return reply<int64_t>(what, [](const Result<int64_t>&) {}); };
  const auto counts = [this](const char* what) { return reply<BatchCounts>(what, [](const Result<BatchCounts>&) {}); };
  switch (random_.below(8)) {
    case 0:
      return engine.batches().cancel(id, "user", count("cancel_batch"));
    case 1:
      return engine.batches().retry(id, count("retry_batch"));
    case 2:
      return engine.batches().remove(id, count("remove_batch"));
    case 3:
    case 4:
      return engine.batches().wait(id, random_.one_in(2) ? Until::all : Until::first,
                                   static_cast<Millis>(random_.below(60'000)), counts("wait_batch"));
    default:
      return engine.batches().get(id, counts("batch"));
  }
}

void Clients::session(Engine& engine) {
  const SessionId id = any_session();
  if (!random_.one_in(3)) {
    truth_.opens(id);
    ++opened_[id];
    return engine.sessions().open_session({.id = id, .title = "parent"},
                                          reply<Session>("open_session", [](const auto&) {}));
  }
  // Where somebody opens it meanwhile, it may be there again.
  engine.sessions().end_session(
      id, reply<int64_t>("end_session " + id.value, [this, id, before = opened_[id]](const Result<int64_t>& ended) {
        if (ended && opened_[id] == before) truth_.acknowledged_end(id);
      }));
}

void Clients::notices(Engine& engine) {
  const SessionId id = any_session();
  int64_t& read = notices_read_[id];
  if (random_.one_in(3)) {
    // Takes one by its id, if there is one.
    for (const auto& [notice_id, notice] : truth_.disk().notices) {
      if (notice.session_id != id || notice.taken_at) continue;
      return engine.sessions().take_notice(
          id, notice_id, reply<Notice>("take_notice " + notice_id.value, [this](const Result<Notice>& taken) {
            if (taken && !taken->taken_at) verdict_.broken("a notice was taken and is not");
          }));
    }
  }
  const Millis block = random_.one_in(2) ? 0 : static_cast<Millis>(random_.below(60'000));
  engine.sessions().notices(id, read, 5, block,
                            reply<std::vector<Notice>>(fmt::format("notices {} after {}", id.value, read),
                                                       [this, id](const Result<std::vector<Notice>>& found) {
                                                         if (!found) return;
                                                         int64_t last = 0;
                                                         for (const Notice& notice : *found) {
                                                           if (notice.seq <= last)
                                                             verdict_.broken("notices are out of order");
                                                           last = notice.seq;
                                                           if (notice.session_id != id)
                                                             verdict_.broken("a session got another's notice");
                                                         }
                                                         if (last > 0) notices_read_[id] = last;
                                                       }));
}

void Clients::clear(Engine& engine) {
  Tasks::Scope scope;
  switch (random_.below(3)) {
    case 0:
      scope.task = any_task();
      break;
    case 1:
      scope.batch = batches_.empty() ? BatchId("batch_none") : batches_[random_.below(batches_.size())];
      break;
    default:
      scope.parent_session = any_session();
      break;
  }
  engine.tasks().clear(scope, reply<Cleared>("clear", [](const Result<Cleared>&) {}));
}

TaskId Clients::any_task() {
  if (tasks_.empty() || random_.one_in(40)) return TaskId("task_never_there");
  // The newest are where the work is.
  const uint64_t back =
      random_.one_in(3) ? random_.below(tasks_.size()) : random_.below(std::min<size_t>(tasks_.size(), 6));
  return tasks_[tasks_.size() - 1 - back];
}

SessionId Clients::any_session() { return SessionId(fmt::format("ses_parent{}", random_.below(3))); }

SessionId Clients::own_session() {
  const MemoryDisk::TaskRow* row = truth_.disk().find(any_task());
  return row ? row->task.session_id : any_session();
}

BatchId Clients::any_batch() {
  if (batches_.empty() || random_.one_in(3)) return BatchId("new");
  return batches_[random_.below(batches_.size())];
}

int Clients::next_mark(When when) {
  marks_ += 3;
  return marks_ - marks_ % 3 + static_cast<int>(when);
}

NewMessage Clients::new_message() {
  const auto when = static_cast<When>(random_.below(3));
  return {.text = mark(next_mark(when)), .content = {}, .when = when};
}

void Clients::server_died() { open_.clear(); }

void Clients::check_nobody_waits_in_vain() {
  for (const auto& [id, call] : open_) {
    if (call.task.empty()) continue;
    const MemoryDisk::TaskRow* row = truth_.disk().find(call.task);
    // What is being stopped is waited for: only then is its result whole.
    if (!row || (!at_work(row->task.state) && !row->task.stopping))
      verdict_.broken(call.what + " still waits, though the task is " + (row ? "at rest" : "gone"));
  }
}

std::string Clients::waiting_list() const {
  std::string out;
  for (const auto& [id, call] : open_) out += (out.empty() ? "" : "; ") + call.what;
  return out;
}

}  // namespace errand::sim
