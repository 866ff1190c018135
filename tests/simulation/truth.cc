#include "tests/simulation/truth.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "tests/simulation/agents.h"

namespace errand::sim {
namespace {

// The value of a field of a status event. Our own writer made it: the first match is the task's own field.
std::string_view field(std::string_view json, std::string_view name) {
  const size_t at = json.find(fmt::format("\"{}\":", name));
  if (at == std::string_view::npos) return {};
  std::string_view rest = json.substr(at + name.size() + 3);
  if (rest.starts_with('"')) {
    rest.remove_prefix(1);
    return rest.substr(0, rest.find('"'));
  }
  return rest.substr(0, rest.find_first_of(",}"));
}

int number(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

bool may_follow(TaskState before, TaskState after) {
  if (before == after) return true;
  switch (before) {
    case TaskState::pending:
      return after == TaskState::running || after == TaskState::cancelled;
    case TaskState::running:
    case TaskState::resumed:
      return after != TaskState::pending && after != TaskState::running;
    case TaskState::completed:
      return after == TaskState::resumed;
    case TaskState::failed:
    case TaskState::cancelled:
      return after == TaskState::pending;
  }
  return false;
}

}  // namespace

void Truth::after_write() {
  int64_t written_from = last_pos_;
  for (const auto& [number, row] : disk_->tasks) {
    Known& known = known_[row.task.id];
    if (known.version == row.task.version) continue;
    check_task(row, known);
    for (size_t i = known.events; i < row.events.size(); ++i) {
      const Event& event = row.events[i];
      if (event.seq != static_cast<int64_t>(i) + 1)
        verdict_.broken(fmt::format("event {} of {} has seq {}", i + 1, row.task.id.value, event.seq));
      if (event.pos <= last_pos_)
        verdict_.broken(fmt::format("pos {} of {} was used before", event.pos, row.task.id.value));
      written_from = std::max(written_from, event.pos);
      check_event(event, known);
    }
    known.version = row.task.version;
    known.events = row.events.size();
  }
  last_pos_ = std::max(written_from, disk_->last_pos);
  check_slots();
  check_new_notices();
  check_sessions();
}

// A batch is told of as whole behind the notices of all its tasks: what is being stopped has yet to tell of itself.
void Truth::check_new_notices() {
  for (const auto& [id, notice] : disk_->notices) {
    if (!seen_notices_.insert(id).second || notice.kind != NoticeKind::batch_ended) continue;
    const BatchId& batch = known_[notice.task_id].batch;
    for (const auto& [number, row] : disk_->tasks)
      if (batch && row.task.launch.batch_id == batch && row.task.stopping && !at_work(row.task.state))
        verdict_.broken(
            fmt::format("batch {} was told of before {}, which is being stopped", batch.value, row.task.id.value));
  }
}

// A session that ended stays so, whatever was under way, and takes its tasks with it.
void Truth::check_sessions() {
  // Past its age the mark of an end is forgotten, and the name is free again. A launch never takes a mark away.
  std::erase_if(ended_, [&](const SessionId& id) { return !disk_->settings.contains("ended_session/" + id.value); });
  for (const SessionId& id : ended_)
    if (disk_->sessions.contains(id)) verdict_.broken("session " + id.value + " has ended, and is there again");
  for (const auto& [number, row] : disk_->tasks) {
    const SessionId& parent = row.task.launch.parent_session_id;
    if (ended_.contains(parent))
      verdict_.broken(fmt::format("{} is there, though its session {} has ended", row.task.id.value, parent.value));
  }
}

void Truth::check_task(const MemoryDisk::TaskRow& row, Known& known) {
  const Task& task = row.task;
  known.batch = task.launch.batch_id;
  if (const std::string broken = broken_promise(task); !broken.empty())
    verdict_.broken(fmt::format("{} on disk: {}", task.id.value, broken));
  if (task.version < known.version) verdict_.broken(task.id.value + " went back to an older version");
  if (task.last_seq != std::ssize(row.events)) verdict_.broken(task.id.value + " has lost events");
  if (task.phase != TurnPhase::working)
    known.waived = false;
  else if (!task.asks.empty() || task.wait)
    known.waived = true;
  if (task.launch.ancestors.size() > depth_max) verdict_.broken(task.id.value + " is deeper than tasks may be");
}

void Truth::check_event(const Event& event, Known& known) {
  const std::string& id = event.task_id.value;
  if ((event.type == EventType::task_created) != (event.seq == 1))
    verdict_.broken("the first event of " + id + " is its creation, and only that");
  if (known.ended && event.type != EventType::notice_taken && event.type != EventType::task_status &&
      event.type != EventType::message_created)
    verdict_.broken(fmt::format("{} of {} came after `end`", name(event.type), id));
  if (event.type == EventType::task_status || event.type == EventType::task_created) check_status(event, known);
  if (event.type == EventType::end) {
    if (known.ended) verdict_.broken("`end` of " + id + " was told twice");
    if (at_work(known.state)) verdict_.broken("`end` of " + id + " was told while it is at work");
    known.ended = true;
  }
}

void Truth::check_status(const Event& event, Known& known) {
  const std::optional<TaskState> state = parse_task_state(field(event.data, "status"));
  if (!state) return verdict_.broken("a status event without a status: " + event.data);
  if (!may_follow(known.state, *state))
    verdict_.broken(fmt::format("{} went from {} to {}", event.task_id.value, name(known.state), name(*state)));
  if (known.ended && at_work(*state)) known.ended = false;
  // An edit is told whenever it happens, and changes no state.
  if (known.ended && *state != known.state) verdict_.broken("a status of " + event.task_id.value + " came after `end`");
  const int turn = number(field(event.data, "turn"));
  // A turn that another one follows has ended, unless a message cut it short.
  if (turn != known.turn && known.turn != 0 && at_work(known.state) && !known.cut) known.ended_turns.insert(known.turn);
  if (!at_work(*state)) known.ended_turns.insert(turn);
  known.turn = turn;
  known.state = *state;
  known.cut = at_work(*state) && field(event.data, "stopping") == "true";
}

void Truth::check_slots() {
  int holding = 0;
  std::string holders;
  for (const auto& [number, row] : disk_->tasks) {
    const Task& task = row.task;
    if (!holds_slot(task) || task.launch.authorize_over_limit || known_[task.id].waived) continue;
    ++holding;
    holders +=
        fmt::format(" {} ({}{}, run {})", task.id.value, name(task.state), task.stopping ? "/stopping" : "", task.run);
  }
  if (holding > max_concurrent_)
    verdict_.broken(fmt::format("{} turns hold a slot, {} may:{}", holding, max_concurrent_, holders));
}

void Truth::check_open_turns(const TurnWatch& watch) {
  for (const auto& [id, run] : watch.open()) {
    const MemoryDisk::TaskRow* row = disk_->find(id);
    if (!row) continue;  // Removed: it is being ended.
    if (row->task.phase != TurnPhase::working || row->task.run != run)
      verdict_.broken(fmt::format("a turn (run {}) is open of {}, which is {}/{} in run {}", run, id.value,
                                  name(row->task.state), name(row->task.phase), row->task.run));
  }
}

void Truth::acknowledged(const Task& told, std::string_view by) {
  const MemoryDisk::TaskRow* row = disk_->find(told.id);
  if (!row) {
    if (!disk_->tombstones.contains(told.id))
      verdict_.broken(fmt::format("{} told of {}, which is not on disk", by, told.id.value));
    return;
  }
  if (row->task.version < told.version || row->task.last_seq < told.last_seq)
    verdict_.broken(fmt::format("{} told of version {} of {}, the disk has {}", by, told.version, told.id.value,
                                row->task.version));
}

void Truth::acknowledged_gone(const TaskId& id, std::string_view by) {
  if (disk_->find(id)) verdict_.broken(fmt::format("{} told that {} is gone, it is on disk", by, id.value));
}

void Truth::check_notices() {
  std::map<TaskId, std::map<int, int>> told;
  for (const auto& [id, notice] : disk_->notices)
    if (notice.kind == NoticeKind::turn_ended) ++told[notice.task_id][notice.turn];
  for (const auto& [number, row] : disk_->tasks) {
    const Task& task = row.task;
    const Known& known = known_[task.id];
    // Its parent's end takes the notices with it, and the task; between the two it has none.
    const SessionId& parent = task.launch.parent_session_id;
    if (parent && !disk_->sessions.contains(parent)) continue;
    if (!task.launch.ancestors.empty() && !disk_->find(task.launch.ancestors.front())) continue;
    for (const int turn : known.ended_turns)
      if (told[task.id][turn] != 1)
        verdict_.broken(
            fmt::format("turn {} of {} ended, and {} notices tell of it", turn, task.id.value, told[task.id][turn]));
    for (const auto& [turn, count] : told[task.id])
      if (count != 0 && !known.ended_turns.contains(turn))
        verdict_.broken(fmt::format("a notice tells that turn {} of {} ended, which it did not", turn, task.id.value));
  }
}

// R5.5: a notice to a task's own session is one message of its conversation, taken in the commit in which the agent
// took that.
void Truth::check_own_notices() {
  std::map<SessionId, const Task*> own;
  for (const auto& [number, row] : disk_->tasks) own.emplace(row.task.session_id, &row.task);
  for (const auto& [id, notice] : disk_->notices) {
    const auto parent = own.find(notice.session_id);
    if (notice.session_id.empty() || parent == own.end()) continue;
    const MessageId message("msg_" + id.value.substr(id.value.find('_') + 1));
    const auto row = disk_->messages.find(message);
    const bool heard = row != disk_->messages.end() && row->second.message.completed_at;
    if (static_cast<bool>(notice.taken_at) != heard)
      verdict_.broken(fmt::format("notice {} to {} is {}, and its agent has {} it", id.value, parent->second->id.value,
                                  notice.taken_at ? "taken" : "open", heard ? "heard" : "not heard"));
  }
}

void Truth::check_batches() {
  std::map<BatchId, bool> told;
  for (const auto& [id, known] : known_)
    if (known.batch) told.emplace(known.batch, false);
  for (const auto& [id, notice] : disk_->notices)
    if (notice.kind == NoticeKind::batch_ended) told[known_[notice.task_id].batch] = true;
  for (const auto& [id, known] : known_) {
    const MemoryDisk::TaskRow* row = disk_->find(id);
    // Notices go with what they are about, and with the session that they are for.
    const bool may_be_gone =
        !row || (row->task.launch.parent_session_id && !disk_->sessions.contains(row->task.launch.parent_session_id)) ||
        (!row->task.launch.ancestors.empty() && !disk_->find(row->task.launch.ancestors.front()));
    if (may_be_gone) told[known.batch] = true;
  }
  for (const auto& [batch, known] : told)
    if (batch && !known) verdict_.broken("nobody was told that batch " + batch.value + " is whole");
}

void Truth::check_messages() {
  for (const auto& [number, row] : disk_->tasks) check_marks(row);
}

// R5.1: in the transcript of each turn every mark stands once; those of a completed task all stand somewhere. First
// mentions come in the order of the messages, among those that were sent in the same way.
void Truth::check_marks(const MemoryDisk::TaskRow& row) {
  const Task& task = row.task;
  const auto session = disk_->sessions.find(task.session_id);
  if (session == disk_->sessions.end()) return verdict_.broken("the session of " + task.id.value + " is gone");
  std::vector<int> sent;
  std::map<int, std::map<int, int>> by_turn;  // Turn, then mark, then how often.
  std::vector<int> heard;                     // In the order of their first mention.
  std::set<std::string> ids;
  for (const MessageId& id : session->second.messages) {
    if (!ids.insert(id.value).second) verdict_.broken("a message is in the session twice: " + id.value);
    const Message message = disk_->shown(disk_->messages.at(id));
    const std::vector<int> marks = marks_in(text_of(message));
    if (message.role == Role::user) {
      sent.insert(sent.end(), marks.begin(), marks.end());
      continue;
    }
    if (!message.completed_at && task.phase == TurnPhase::ended)
      verdict_.broken("a message of " + task.id.value + " is open, though its turn has ended");
    for (const int mark : marks) {
      if (std::ranges::find(heard, mark) == heard.end()) heard.push_back(mark);
      ++by_turn[message.turn][mark];
    }
  }
  // A restart after a hang begins the turn again, and says it again.
  const int most = task.launch.on_hang == OnHang::restart ? 1 + task.launch.max_restarts : 1;
  for (const auto& [turn, marks] : by_turn)
    for (const auto& [mark, count] : marks) {
      if (count > most)
        verdict_.broken(
            fmt::format("message #{}# reached the agent {} times in turn {} of {}", mark, count, turn, task.id.value));
      if (std::ranges::find(sent, mark) == sent.end())
        verdict_.broken(fmt::format("message #{}# reached {}, to which it was not sent", mark, task.id.value));
    }
  for (const auto when : {WaitingMessage::When::steer, WaitingMessage::When::queue, WaitingMessage::When::interrupt}) {
    const auto other = [&](int mark) { return when_of(mark) != when; };
    std::vector<int> sent_so = sent, heard_so = heard;
    std::erase_if(sent_so, other);
    std::erase_if(heard_so, other);
    std::erase_if(sent_so, [&](int mark) { return std::ranges::find(heard_so, mark) == heard_so.end(); });
    if (sent_so != heard_so) verdict_.broken("messages reached the agent of " + task.id.value + " out of order");
  }
  if (task.state != TaskState::completed) return;
  for (const int mark : sent)
    if (std::ranges::find(heard, mark) == heard.end())
      verdict_.broken(fmt::format("message #{}# never reached the agent of {}, which completed", mark, task.id.value));
}

std::set<TaskId> Truth::at_work_now() const {
  std::set<TaskId> out;
  for (const auto& [number, row] : disk_->tasks)
    if (at_work(row.task.state) || row.task.stopping) out.insert(row.task.id);
  return out;
}

}  // namespace errand::sim
