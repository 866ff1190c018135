#include "driver/program/holder.h"

#include <algorithm>
#include <utility>

namespace errand::program {

namespace {

constexpr Millis leave_ms = 2'000;  // For it to leave by itself when its input ends.
// So much may it say while it waits. It stays in its journal until a turn goes on behind it, and in one that is full a
// program comes to a halt.
constexpr size_t said_max = 1 << 20;

}  // namespace

struct Holder::Entry final : lines::Listener {
  Entry(Holder& holder, const Task& owner, Kept what)
      : holder(holder),
        task(owner.id),
        kept(std::move(what)),
        timer(holder.parts_.timers),
        child(holder.parts_, holder.options_for(owner, true), kept.run, *this) {}

  void started(int64_t /*taken*/) override {}
  void lines(std::span<const lines::Line> lines) override {
    for (const lines::Line& line : lines) {
      kept.next = line.next;
      said += line.text.size();
      if (said > said_max || (holder.wakes_ && holder.wakes_(line.text))) holder.leave(*this);
    }
  }
  void ended(const lines::End& /*end*/) override { holder.gone(this); }

  Holder& holder;
  const TaskId task;
  Kept kept;
  size_t said = 0;  // Since it waits.
  bool leaving = false;
  Timer timer;
  lines::LineChild child;  // Last: it calls the rest.
};

Holder::Holder(lines::Parts parts, std::string driver, std::function<Bounds()> bounds, Wakes wakes)
    : parts_(std::move(parts)), driver_(std::move(driver)), bounds_(std::move(bounds)), wakes_(std::move(wakes)) {}

Holder::~Holder() = default;

bool Holder::keeps() const {
  const Bounds bounds = bounds_ ? bounds_() : Bounds();
  return bounds.idle_ms > 0 && bounds.most > 0;
}

lines::Options Holder::options_for(const Task& task, bool waits) const {
  lines::Options options;
  options.owner = {.agent = task.launch.agent_id, .task = task.id, .driver = driver_, .waits = waits};
  return options;
}

std::unique_ptr<lines::LineChild> Holder::child(const Task& task, std::string run, lines::Listener& listener) const {
  return std::make_unique<lines::LineChild>(parts_, options_for(task, false), std::move(run), listener);
}

void Holder::keep(const Task& task, Kept kept) {
  end(task.id);
  const Bounds bounds = bounds_();
  Entry& entry = *entries_.emplace_back(std::make_unique<Entry>(*this, task, std::move(kept)));
  entry.child.attach(entry.kept.next);
  entry.timer.set(bounds.idle_ms, [this, &entry] { leave(entry); });
  int64_t waiting = std::ranges::count_if(entries_, [](const auto& one) { return !one->leaving; });
  for (const auto& one : entries_)
    if (waiting > bounds.most && !one->leaving) {
      leave(*one);
      --waiting;
    }
}

std::optional<Kept> Holder::take(const TaskId& task, std::string_view key) {
  const auto found =
      std::ranges::find_if(entries_, [&](const auto& entry) { return entry->task == task && !entry->leaving; });
  if (found == entries_.end()) return std::nullopt;
  if ((*found)->kept.key != key) {
    leave(**found);
    return std::nullopt;
  }
  Kept kept = std::move((*found)->kept);
  entries_.erase(found);
  return kept;
}

void Holder::end(const TaskId& task) {
  for (const auto& entry : entries_)
    if (entry->task == task) leave(*entry);
}

bool Holder::has(std::string_view run) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) { return entry->kept.run == run; });
}

// The server leaves: nobody will be there to see whether they obey.
void Holder::end_all() {
  for (const auto& entry : entries_) entry->child.drop();
  entries_.clear();
}

void Holder::end_each() {
  for (const auto& entry : entries_) leave(*entry);
}

void Holder::leave(Entry& entry) {
  if (std::exchange(entry.leaving, true)) return;
  entry.child.close_input();
  entry.timer.set(leave_ms, [&entry] { entry.child.stop(); });
}

void Holder::gone(const Entry* entry) {
  std::erase_if(entries_, [entry](const auto& one) { return one.get() == entry; });
}

}  // namespace errand::program
