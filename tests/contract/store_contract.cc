#include "tests/contract/store_contract.h"

#include <fmt/format.h>

namespace errand {

void QueueExecutor::post(Work work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

Answers commit_group(Store& store, QueueExecutor& executor, std::vector<Commit> group) {
  std::optional<Answers> answers;
  store.commit(std::move(group), [&](Answers results) { answers = std::move(results); });
  if (!executor.run_until([&] { return answers.has_value(); })) {
    ADD_FAILURE() << "the store did not answer a commit";
    return {};
  }
  return std::move(*answers);
}

StoreContract::StoreContract() : host_(GetParam().make()), store_(host_->open(executor_)) {}

void StoreContract::reopen() {
  store_.reset();
  store_ = host_->open(executor_);
}

Result<Committed> StoreContract::commit(Commit one) {
  std::vector<Commit> group;
  group.push_back(std::move(one));
  Answers answers = commit_all(std::move(group));
  if (answers.size() != 1) return fail(Code::internal, "not one answer");
  return std::move(answers.front());
}

Committed StoreContract::store_it(Commit one) {
  Result<Committed> stored = commit(std::move(one));
  if (!stored) {
    ADD_FAILURE() << stored.error().message;
    return {};
  }
  return *stored;
}

std::string StoreContract::tail() { return fmt::format("{:026}", ++next_id_); }

Task StoreContract::new_task(const std::string& prompt) {
  Task task;
  task.id = TaskId("task_" + tail());
  task.session_id = SessionId("ses_" + tail());
  task.launch.agent_id = "demo";
  task.launch.prompt = prompt;
  task.title = title_of(task.launch);
  task.created_at = task.queued_at = task.updated_at = now_;
  task.version = 1;
  return task;
}

Task StoreContract::running(Task task) {
  task = next(task);
  task.state = TaskState::running;
  task.phase = TurnPhase::working;
  task.run = 1;
  task.started_at = task.created_at + 5;
  return task;
}

Task StoreContract::completed(Task task, const std::string& result) {
  task = next(task);
  task.state = TaskState::completed;
  task.phase = TurnPhase::ended;
  task.run = 1;
  task.reason = "finished";
  task.result = result;
  task.started_at = task.created_at + 5;
  task.completed_at = task.created_at + 10;
  return task;
}

Commit StoreContract::commit_of(const Task& after, int events, EventType type) {
  Commit commit = bare();
  commit.task_id = after.id;
  commit.before_version = after.version - 1;
  auto task = std::make_shared<Task>(after);
  for (int i = 0; i < events; ++i) {
    Event event;
    event.task_id = after.id;
    event.seq = ++task->last_seq;
    event.type = type;
    event.at = now_;
    event.data = fmt::format(R"({{"n":{}}})", event.seq);
    commit.events.push_back(std::move(event));
  }
  commit.after = std::move(task);
  return commit;
}

Commit StoreContract::removal(const Task& task, Gone why) {
  Commit commit = bare();
  commit.task_id = task.id;
  commit.before_version = task.version;
  commit.remove = why;
  return commit;
}

Task StoreContract::add(Task task, int events) {
  Commit commit = commit_of(task, events);
  task = *commit.after;
  store_it(std::move(commit));
  return task;
}

Task StoreContract::update(Task after, int events) { return add(std::move(after), events); }

Message StoreContract::new_message(const SessionId& session, Role role, const std::string& text) {
  Message message;
  message.id = MessageId("msg_" + tail());
  message.session_id = session;
  message.role = role;
  message.created_at = message.completed_at = now_;
  message.parts.push_back(Part{.type = PartType::text, .text = text});
  return message;
}

Session StoreContract::new_session(const std::string& origin) {
  Session session;
  session.id = SessionId("ses_" + tail());
  session.origin = origin;
  session.title = "A parent";
  session.created_at = now_;
  return session;
}

Notice StoreContract::new_notice(const Task& task, const SessionId& parent) {
  Notice notice;
  notice.id = NoticeId("ntc_" + tail());
  notice.session_id = parent;
  notice.task_id = task.id;
  notice.turn = task.turn;
  notice.text = "The task has ended.";
  notice.data = R"({"status":"completed"})";
  notice.created_at = now_;
  return notice;
}

Commit StoreContract::bare() {
  Commit commit;
  commit.now = now_;
  return commit;
}

std::vector<std::string> StoreContract::found(const TaskFilter& filter, Page page) {
  const Result<TaskPage> listed = store().list(filter, page);
  if (!listed) {
    ADD_FAILURE() << listed.error().message;
    return {};
  }
  std::vector<std::string> ids;
  for (const Task& task : listed->tasks) ids.push_back(task.id.value);
  return ids;
}

}  // namespace errand
