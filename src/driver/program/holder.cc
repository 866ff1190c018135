#include "driver/program/holder.h"

#include <algorithm>
#include <utility>

namespace errand::program {

namespace {

constexpr Millis leave_ms = 2'000;  // For it to leave by itself when its input ends.
// So much may it say while it waits. It stays in its journal until a turn goes on behind it, and in one that is full a
// program comes to a halt.
constexpr size_t said_max = 1 << 20;
constexpr Millis begins_ms = 30'000;  // For one that has said why it will go on, to do so.
constexpr Millis turn_ms = 20'000;    // For one that has begun, to get a turn: it works without a slot so long.
// An agent that wakes itself up again and again works without anybody's word. It is ended in the end.
constexpr int begun_max = 20;

}  // namespace

struct Holder::Entry final : lines::Listener {
  Entry(Holder& holder, const Task& owner, Kept what)
      : holder(holder),
        task(owner.id),
        kept(std::move(what)),
        timer(holder.parts_.timers),
        settling(holder.parts_.timers),
        child(holder.parts_, holder.options_for(owner, true), kept.run, *this) {}

  void started(int64_t /*taken*/) override {}
  void lines(std::span<const lines::Line> lines) override {
    for (const lines::Line& line : lines) {
      if (kept.began || leaving) return;  // From its beginning on it is its turn's to read.
      hear(line.text);
      if (kept.began || leaving) return;
      kept.next = line.next;
    }
  }
  void hear(std::string_view line) {
    said += line.size();
    if (said > said_max) return holder.leave(*this);
    if (!holder.habits_.hear) return;
    Heard heard = holder.habits_.hear(line);
    const bool goes_on = !heard.why.empty(), changes = heard.busy && *heard.busy != kept.busy;
    if (goes_on) why = std::move(heard.why);
    if (changes) kept.busy = *heard.busy;
    if (goes_on || changes) holder.wait(*this);
    if (settling.pending()) return;
    if (heard.leads && !led_from) led_from = kept.next;
    if (!heard.begins) return;
    kept.next = led_from.value_or(kept.next);
    holder.begin(*this);
  }
  void ended(const lines::End& /*end*/) override { holder.gone(this); }

  Holder& holder;
  const TaskId task;
  Kept kept;
  size_t said = 0;  // Since it waits.
  std::string why;  // What it will go on for, as far as it said.
  std::optional<int64_t> led_from;
  bool leaving = false;
  Timer timer;
  Timer settling;
  lines::LineChild child;  // Last: it calls the rest.
};

Holder::Holder(lines::Parts parts, std::string driver, std::function<Bounds()> bounds, Habits habits)
    : parts_(std::move(parts)), driver_(std::move(driver)), bounds_(std::move(bounds)), habits_(std::move(habits)) {}

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
  kept.began = false;
  Entry& entry = *entries_.emplace_back(std::make_unique<Entry>(*this, task, std::move(kept)));
  if (habits_.settle_ms > 0) entry.settling.set(habits_.settle_ms, [] {});
  wait(entry);
  entry.child.attach(entry.kept.next);
  end_surplus(bounds_().most);
}

void Holder::wait(Entry& entry) {
  const Bounds bounds = bounds_();
  Millis time = bounds.idle_ms;
  if (entry.kept.busy) time = std::max(time, bounds.busy_ms);
  if (!entry.why.empty()) time = std::max(time, begins_ms);
  entry.timer.set(time, [this, &entry] { leave(entry); });
}

void Holder::end_surplus(int64_t most) {
  int64_t waiting = std::ranges::count_if(entries_, [](const auto& one) { return !one->leaving; });
  for (const bool busy : {false, true})
    for (const auto& one : entries_)
      if (waiting > most && !one->leaving && one->kept.busy == busy) {
        leave(*one);
        --waiting;
      }
}

// It works, and nobody has decided that yet. Until somebody has, what it says stays in its journal and what it asks
// waits for an answer.
void Holder::begin(Entry& entry) {
  if (!habits_.ask || entry.kept.begun >= begun_max) return leave(entry);
  entry.kept.began = true;
  entry.timer.set(turn_ms, [this, &entry] { leave(entry); });
  habits_.ask(entry.task, entry.why, [this, here = alive_.watch(), run = entry.kept.run](bool comes) {
    if (comes || here.gone()) return;
    for (const auto& one : entries_)
      if (one->kept.run == run && one->kept.began) leave(*one);
  });
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
