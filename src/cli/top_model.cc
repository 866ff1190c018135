#include "cli/top_model.h"

#include <algorithm>

#include "base/escape_filter.h"
#include "base/text.h"
#include "cli/progress_line.h"
#include "cli/task_text.h"

namespace errand::cli {
namespace {

constexpr size_t text_max = 300;  // Characters of a text that one line shows.

std::string shown_text(std::string_view text) {
  return std::string(first_characters(shown_line(first_characters(text, text_max)), text_max));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Who waits longest comes first; what began or ended last comes first.
int64_t order_of(const TopTask& task) {
  switch (task.group) {
    case Group::needs_you:
    case Group::waiting:
      return task.created_at.ms;
    case Group::running:
      return -(task.started_at ? task.started_at : task.created_at).ms;
    case Group::done:
      break;
  }
  return -(task.completed_at ? task.completed_at : task.created_at).ms;
}

}  // namespace

Group group_of(const TaskInfo& task) {
  if (!task.at_work()) return Group::done;
  if (needs_input(task) && !task.stopping) return Group::needs_you;
  return task.waiting_for || task.status == "pending" ? Group::waiting : Group::running;
}

std::string_view title_of(Group group) {
  constexpr std::string_view titles[group_count] = {"Needs you", "Running", "Waiting", "Done"};
  return titles[static_cast<size_t>(group)];
}

void TopModel::refresh(Known& known) {
  const TaskInfo& info = known.info;
  TopTask& task = known.task;
  task.id = info.id;
  task.title = shown_text(info.title);
  task.agent = shown_text(info.agent.empty() ? info.agent_id : info.agent);
  task.status = status_text(info);
  task.style = status_style(info);
  task.now = shown_text(activity(info));
  if (task.now.empty() && info.status == "failed") task.now = shown_text(info.error_message);
  task.work_dir = shown_text(info.work_dir);
  task.group = group_of(info);
  task.command = info.kind == "command";
  task.at_work = info.at_work();
  task.failed = info.status == "failed";
  task.retryable = task.failed || info.status == "cancelled";
  task.attempt = info.attempt;
  task.created_at = info.created_at;
  task.started_at = info.started_at;
  task.completed_at = info.completed_at;
  task.question.reset();
  if (task.group == Group::needs_you && !info.waiting_for->request_id.empty()) task.question = info.waiting_for;
  task.found_by = lower(task.title + "\n" + task.agent + "\n" + task.id + "\n" + task.status + "\n" + task.work_dir);
}

void TopModel::put(const TaskInfo& info) {
  if (info.id.empty()) return;
  std::unique_ptr<Known>& known = tasks_[info.id];
  if (known) {
    --counts_[static_cast<size_t>(known->task.group)];
  } else {
    known = std::make_unique<Known>();
  }
  known->info = info;
  refresh(*known);
  // What is long and not shown is not kept, for there may be many.
  for (std::string* text :
       {&known->info.prompt, &known->info.command, &known->info.description, &known->info.error_details})
    *text = {};
  known->info.result.reset();
  known->task.load = load_;
  ++counts_[static_cast<size_t>(known->task.group)];
  stale_ = true;
  // By some at once: looking for the oldest is the same work for one as for many.
  if (count(Group::done) > done_max + done_max / 10) drop_oldest();
}

void TopModel::progress(const std::string& id, const ProgressInfo& progress) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end()) return;
  at->second->info.progress = progress;
  refresh(*at->second);
}

void TopModel::remove(const std::string& id) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end()) return;
  --counts_[static_cast<size_t>(at->second->task.group)];
  tasks_.erase(at);
  entries_.clear();
  stale_ = true;
}

void TopModel::end_load() {
  std::erase_if(tasks_, [&](const auto& one) {
    const bool gone = one.second->task.load != load_;
    if (gone) --counts_[static_cast<size_t>(one.second->task.group)];
    return gone;
  });
  entries_.clear();
  stale_ = true;
}

void TopModel::drop_oldest() {
  std::vector<const TopTask*> done;
  for (const auto& [id, known] : tasks_)
    if (known->task.group == Group::done) done.push_back(&known->task);
  std::ranges::nth_element(done, done.begin() + done_max,
                           [](const TopTask* a, const TopTask* b) { return order_of(*a) < order_of(*b); });
  std::vector<std::string> old;
  for (size_t i = done_max; i < done.size(); ++i) old.push_back(done[i]->id);
  for (const std::string& id : old) remove(id);
  cut_ = true;
}

void TopModel::find(std::string_view text) {
  find_ = lower(trim(text));
  stale_ = true;
}

void TopModel::show(Show show) {
  show_ = show;
  stale_ = true;
}

bool TopModel::passes(const TopTask& task) const {
  if (show_ == Show::failed && !task.failed) return false;
  if (show_ != Show::all && show_ != Show::failed &&
      static_cast<size_t>(task.group) != static_cast<size_t>(show_) - static_cast<size_t>(Show::needs_you))
    return false;
  return find_.empty() || task.found_by.find(find_) != std::string::npos;
}

void TopModel::arrange() {
  if (!stale_) return;
  stale_ = false;
  std::vector<std::pair<int64_t, const TopTask*>> groups[group_count];
  for (const auto& [id, known] : tasks_)
    if (passes(known->task))
      groups[static_cast<size_t>(known->task.group)].emplace_back(order_of(known->task), &known->task);
  entries_.clear();
  for (size_t g = 0; g < group_count; ++g) {
    if (groups[g].empty()) continue;
    std::ranges::sort(groups[g], [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second->id < b.second->id;
    });
    entries_.push_back({static_cast<Group>(g), nullptr});
    for (const auto& [order, task] : groups[g]) entries_.push_back({static_cast<Group>(g), task});
  }
  const auto same =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.task && entry.task->id == selected_; });
  if (same != entries_.end()) {
    selected_at_ = static_cast<size_t>(same - entries_.begin());
    return;
  }
  if (entries_.empty()) {
    selected_.clear();
    selected_at_ = 0;
    return;
  }
  selected_at_ = std::min(selected_at_, entries_.size() - 1);
  // A heading is always followed by a task.
  if (!entries_[selected_at_].task) ++selected_at_;
  selected_ = entries_[selected_at_].task->id;
}

const std::vector<TopModel::Entry>& TopModel::entries() {
  arrange();
  return entries_;
}

const TopTask* TopModel::selected() {
  arrange();
  return entries_.empty() ? nullptr : entries_[selected_at_].task;
}

size_t TopModel::selected_at() {
  arrange();
  return selected_at_;
}

const TopTask* TopModel::get(const std::string& id) const {
  const auto at = tasks_.find(id);
  return at == tasks_.end() ? nullptr : &at->second->task;
}

void TopModel::select_by(int64_t steps) {
  arrange();
  if (entries_.empty()) return;
  const int64_t last = std::ssize(entries_) - 1;
  int64_t at = std::clamp<int64_t>(static_cast<int64_t>(selected_at_) + steps, 1, last);
  // Over a heading, in the direction of the move.
  if (!entries_[static_cast<size_t>(at)].task) at += steps < 0 ? -1 : 1;
  selected_at_ = static_cast<size_t>(std::clamp<int64_t>(at, 1, last));
  selected_ = entries_[selected_at_].task->id;
}

void TopModel::select_first() { select_by(INT32_MIN); }
void TopModel::select_last() { select_by(INT32_MAX); }

}  // namespace errand::cli
