#include "tests/store/store_user.h"

#include <fmt/format.h>

#include "base/log.h"
#include "store/sqlite/sqlite_store.h"

namespace errand {

bool StoreUser::open(const std::string& vfs, std::function<bool(bool take)> ballast) {
  fatal_.clear();
  set_log_level(LogLevel::error);  // A search index that is made anew is no news here.
  SqliteOptions options{
      .path = "errand.db", .readers = 1, .ballast_bytes = 0, .vfs = vfs, .ballast = std::move(ballast)};
  // On the writer's thread: the message is read only after the wake-up.
  options.fatal = [this](const std::string& message) { executor_.post([this, message] { fatal_ = message; }); };
  Result<std::unique_ptr<Store>> store = open_sqlite_store(options, executor_);
  problem_ = store ? "" : store.error().message;
  store_ = store ? std::move(*store) : nullptr;
  return store_ != nullptr;
}

void StoreUser::close() { store_.reset(); }

Commit StoreUser::insert() {
  Task task;
  task.id = TaskId(fmt::format("task_{:026}", ++made_));
  task.session_id = SessionId(fmt::format("ses_{:026}", made_));
  task.launch.agent_id = "demo";
  task.launch.prompt = std::string(random_.below(3'000), 'p');
  task.title = "A task";
  task.created_at = task.queued_at = task.updated_at = now_;
  task.version = 1;
  Commit commit;
  commit.session = Session{.id = task.session_id, .task_id = task.id, .origin = "task", .created_at = now_};
  Message message;
  message.id = MessageId(fmt::format("msg_{:026}", made_));
  message.session_id = task.session_id;
  message.created_at = now_;
  commit.messages.push_back(std::move(message));
  commit.after = std::make_shared<const Task>(std::move(task));
  return commit;
}

Commit StoreUser::update(Known& known) {
  Task task = *known.stored;
  ++task.version;
  task.checkpoint = fmt::format("offset:{}", random_.below(1'000'000));
  if (random_.one_in(3)) task.result = std::string(random_.below(6'000), 'r');
  Commit commit;
  commit.before_version = task.version - 1;
  commit.after = std::make_shared<const Task>(std::move(task));
  return commit;
}

Commit StoreUser::remove(Known& known) {
  Commit commit;
  commit.task_id = known.stored->id;
  commit.before_version = known.stored->version;
  commit.remove = Gone::deleted;
  return commit;
}

void StoreUser::commit_something() {
  std::vector<Commit> group;
  const uint64_t size = 1 + random_.below(8);
  std::vector<TaskId> about;
  for (uint64_t i = 0; i < size; ++i) {
    Known* known = nullptr;
    if (!known_.empty()) {
      auto entry = known_.begin();
      std::advance(entry, random_.below(known_.size()));
      const Known& candidate = entry->second;
      if (candidate.stored && !candidate.maybe && !candidate.maybe_removed) known = &entry->second;
    }
    Commit commit;
    if (only_ == Only::removals && !known) continue;
    if (only_ != Only::inserts && known && (only_ == Only::removals || random_.one_in(5)))
      commit = remove(*known);
    else if (only_ == Only::all && known && random_.one_in(2))
      commit = update(*known);
    else
      commit = insert();
    commit.now = now_;
    if (commit.after) {
      auto after = std::make_shared<Task>(*commit.after);
      commit.task_id = after->id;
      for (uint64_t n = random_.below(4); n > 0; --n) {
        Event event;
        event.task_id = after->id;
        event.seq = ++after->last_seq;
        event.at = now_;
        event.data = fmt::format(R"({{"text":"{}"}})", std::string(random_.below(800), 'e'));
        commit.events.push_back(std::move(event));
      }
      known_[after->id].maybe = *after;
      commit.after = std::move(after);
    } else {
      known->maybe_removed = true;
    }
    about.push_back(commit.task_id);
    group.push_back(std::move(commit));
  }
  refused_.reset();
  if (group.empty()) return;

  std::optional<Answers> answers;
  store_->commit(std::move(group), [&](Answers results) { answers = std::move(results); });
  executor_.run_until([&] { return answers.has_value() || !fatal_.empty(); });
  if (!answers) return;
  for (size_t i = 0; i < about.size(); ++i) {
    Known& known = known_.at(about[i]);
    if ((*answers)[i]) {
      ++answered_;
      if (known.maybe_removed) {
        known.stored.reset();
        known.removed = true;
      } else {
        known.stored = std::move(known.maybe);
      }
    } else if (!refused_) {
      refused_ = (*answers)[i].error().code;
    }
    known.maybe.reset();
    known.maybe_removed = false;
    if (!known.stored && !known.removed) known_.erase(about[i]);
  }
}

std::string StoreUser::verify(const TaskId& id, Known& known) {
  const Result<Task> read = store_->get(id);
  if (!read && read.error().code != Code::not_found) return read.error().message;
  const bool as_stored = known.stored ? read && *read == *known.stored : !read;
  const bool as_asked = (known.maybe && read && *read == *known.maybe) || (known.maybe_removed && !read);
  if (!as_stored && !as_asked) {
    if (!read) return fmt::format("{} was answered and is not there", id.value);
    return fmt::format("{} is neither what was answered nor what was asked for (version {})", id.value, read->version);
  }
  // From here on the truth is known.
  known.removed = known.removed || (known.stored && !read);
  known.stored = read ? std::optional(*read) : std::nullopt;
  known.maybe.reset();
  known.maybe_removed = false;
  if (!read) return {};
  const Result<std::vector<Event>> events = store_->events_after(id, 0, 1'000'000);
  if (!events) return events.error().message;
  if (std::ssize(*events) != read->last_seq)
    return fmt::format("{} has {} events and should have {}", id.value, events->size(), read->last_seq);
  for (size_t i = 0; i < events->size(); ++i)
    if ((*events)[i].seq != static_cast<int64_t>(i) + 1) return fmt::format("the events of {} have a gap", id.value);
  if (!store_->messages(read->session_id, 0, 0, 10)) return fmt::format("the session of {} is not there", id.value);
  return {};
}

std::string StoreUser::verify() {
  int64_t there = 0;
  for (auto entry = known_.begin(); entry != known_.end();) {
    if (const std::string wrong = verify(entry->first, entry->second); !wrong.empty()) return wrong;
    there += entry->second.stored ? 1 : 0;
    const bool unknown = !entry->second.stored && !entry->second.removed;
    entry = unknown ? known_.erase(entry) : std::next(entry);
  }
  int64_t counted = 0;
  for (const int64_t count : store_->counts().by_state) counted += count;
  if (counted != there) return fmt::format("{} tasks are counted and {} are there", counted, there);
  const Result<std::vector<Change>> changes = store_->changes_after(0, 1'000'000);
  if (!changes) return changes.error().message;
  if (!changes->empty() && changes->back().pos > store_->last_pos()) return "the last position is behind the changes";
  return {};
}

}  // namespace errand
