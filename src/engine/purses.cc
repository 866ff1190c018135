#include "engine/purses.h"

#include <fmt/format.h>

namespace errand {
namespace {

Purse::Spent spent_by(const Task& task) {
  return {.tokens = task.progress.usage.input_tokens + task.progress.usage.output_tokens,
          .cost_usd = task.progress.usage.cost_usd,
          .turns = task.progress.turns,
          .tool_calls = task.progress.tool_calls};
}

std::vector<TaskId> payers_of(const Task& task) {
  std::vector<TaskId> payers = task.launch.payers;
  if (task.launch.budget != Budget{}) payers.insert(payers.begin(), task.id);
  return payers;
}

// What is counted, as people say it.
std::string_view in_words(std::string_view what) {
  if (what == "cost_usd") return "USD";
  if (what == "tool_calls") return "tool calls";
  return what == "wall_s" ? "seconds" : what;
}

TaskError exceeded(const Purse& purse, std::string_view what, const std::string& used, const std::string& limit) {
  const bool shared = purse.members.size() > 1;
  return {"budget",
          fmt::format("The budget of {} {} is used up ({} used{}). Retry with a larger budget, or in smaller steps.",
                      limit, in_words(what), used, shared ? ", by all tasks that share it" : ""),
          fmt::format(R"({{"budget":"{}","limit":{},"used":{}}})", what, limit, used)};
}

// All that was used under one payer: its own and its descendants'.
Status add_members(Store& store, const Task& task, Purse& purse, size_t depth) {
  purse.raise(task.id, spent_by(task));
  if (depth == 0) return {};
  Result<std::vector<TaskId>> children = store.tasks_of_parent(task.session_id);
  if (!children) return std::unexpected(children.error());
  for (const TaskId& id : *children) {
    const Result<Task> child = store.get(id);
    if (!child && child.error().code == Code::not_found) continue;
    if (!child) return std::unexpected(child.error());
    if (const Status added = add_members(store, *child, purse, depth - 1); !added) return added;
  }
  return {};
}

}  // namespace

bool Purse::raise(const TaskId& member, const Spent& now) {
  bool more = false;
  const auto raise_one = [&](auto& known, auto& total, auto to) {
    if (to <= known) return;
    total += to - known;
    known = to;
    more = true;
  };
  Spent& known = members[member];
  raise_one(known.tokens, all.tokens, now.tokens);
  raise_one(known.cost_usd, all.cost_usd, now.cost_usd);
  raise_one(known.turns, all.turns, now.turns);
  raise_one(known.tool_calls, all.tool_calls, now.tool_calls);
  return more;
}

std::optional<TaskError> over_budget(const Purse& purse) {
  const Purse::Spent& all = purse.all;
  const Budget& limit = purse.limit;
  const auto count = [&](std::string_view what, int64_t used, int64_t most) -> std::optional<TaskError> {
    if (most <= 0 || used <= most) return std::nullopt;
    return exceeded(purse, what, std::to_string(used), std::to_string(most));
  };
  if (auto over = count("tokens", all.tokens, limit.tokens)) return over;
  if (auto over = count("turns", all.turns, limit.turns)) return over;
  if (auto over = count("tool_calls", all.tool_calls, limit.tool_calls)) return over;
  if (limit.cost_usd > 0 && all.cost_usd > limit.cost_usd)
    return exceeded(purse, "cost_usd", fmt::format("{:.6g}", all.cost_usd), fmt::format("{:.6g}", limit.cost_usd));
  return std::nullopt;
}

Result<std::vector<Purse>> read_purses(Store& store, const std::vector<TaskId>& payers) {
  std::vector<Purse> purses;
  for (const TaskId& id : payers) {
    const Result<Task> payer = store.get(id);
    if (!payer && payer.error().code == Code::not_found) continue;  // It was removed; what it paid for is being, too.
    if (!payer) return std::unexpected(payer.error());
    Purse& purse = purses.emplace_back(Purse{.payer = id, .limit = payer->launch.budget});
    purse.began = payer->resume_count == 0 ? payer->started_at : Time{};
    if (const Status added = add_members(store, *payer, purse, depth_max); !added)
      return std::unexpected(added.error());
  }
  return purses;
}

std::vector<TaskId> Purses::join(const Task& task) {
  std::vector<TaskId> unread;
  for (TaskId& payer : payers_of(task)) {
    const auto known = by_payer_.find(payer);
    if (known == by_payer_.end())
      unread.push_back(std::move(payer));
    else
      known->second.at_work.insert(task.id);
  }
  return unread;
}

void Purses::open(const Task& task, std::vector<Purse> read, Time now) {
  for (Purse& purse : read) {
    Purse& known = by_payer_.try_emplace(purse.payer, Purse{.payer = purse.payer}).first->second;
    known.limit = purse.limit;
    if (!known.began) known.began = purse.began ? purse.began : now;
    for (const auto& [id, spent] : purse.members) known.raise(id, spent);
    known.at_work.insert(task.id);
  }
}

std::optional<TaskError> Purses::spend(const Task& task, bool begins) {
  std::optional<TaskError> over;
  for (const TaskId& payer : payers_of(task)) {
    const auto found = by_payer_.find(payer);
    if (found == by_payer_.end()) continue;  // No member has begun a turn under this server: the first one reads it.
    Purse& purse = found->second;
    const bool more = purse.raise(task.id, spent_by(task));
    if (at_work(task.state)) {
      purse.at_work.insert(task.id);
      const bool uses = (more || begins) && task.phase == TurnPhase::working && !task.stopping;
      if (uses && !over) over = over_budget(purse);
      continue;
    }
    purse.at_work.erase(task.id);
    if (purse.at_work.empty()) by_payer_.erase(found);
  }
  return over;
}

std::optional<TaskError> Purses::over(const std::vector<TaskId>& payers) const {
  for (const TaskId& payer : payers)
    if (const auto purse = by_payer_.find(payer); purse != by_payer_.end())
      if (std::optional<TaskError> over = over_budget(purse->second)) return over;
  return std::nullopt;
}

std::optional<Purses::WallTime> Purses::wall_time(const Task& task, Time now) const {
  std::optional<WallTime> shortest;
  for (const TaskId& payer : payers_of(task)) {
    const auto purse = by_payer_.find(payer);
    if (purse == by_payer_.end() || purse->second.limit.wall_ms <= 0) continue;
    const Millis left = purse->second.began + purse->second.limit.wall_ms - now;
    if (!shortest || left < shortest->left) shortest = {left, purse->second.limit.wall_ms};
  }
  return shortest;
}

}  // namespace errand
