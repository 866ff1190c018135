#include "engine/reports.h"

#include <algorithm>
#include <utility>

#include "engine/turn_sink.h"

namespace errand {
namespace {

size_t text_bytes(const std::vector<Report>& reports) {
  size_t bytes = 0;
  for (const Report& report : reports)
    if (const auto* text = std::get_if<report::Text>(&report)) bytes += text->text.size();
  return bytes;
}

// Adds texts to those that wait, joined where they go on in the same part.
void join_texts(std::vector<Report>& waiting, std::vector<Report> more) {
  for (Report& report : more) {
    auto* const last = waiting.empty() ? nullptr : std::get_if<report::Text>(&waiting.back());
    const auto& text = std::get<report::Text>(report);
    if (last != nullptr && last->part == text.part && last->reasoning == text.reasoning)
      last->text += text.text;
    else
      waiting.push_back(std::move(report));
  }
}

}  // namespace

void Reports::reported(TurnSink& sink, std::vector<Report> reports, std::string checkpoint) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  if (reports.size() == 1)
    if (auto* still = std::get_if<report::Still>(&reports.front())) {
      live->seen = std::move(still->seen);
      return;
    }
  const bool sign = std::ranges::any_of(reports, [](const Report& report) {
    const auto* used = std::get_if<report::Resources>(&report);
    return used == nullptr || used->just_now;
  });
  if (sign) {
    live->last_sign = shared_.steady();
    live->warned = false;
    live->seen.clear();
  }
  Action action{.input = input::Activity{sink.run()}, .checkpoint = std::move(checkpoint)};
  action.soft =
      std::ranges::all_of(reports, [](const Report& report) { return std::holds_alternative<report::Text>(report); });
  if (action.soft) {
    live->soft_bytes += text_bytes(reports);
    if (!live->soft_until) live->soft_until = merged_until(*live);
  }
  const size_t bytes = weight(reports) + action.checkpoint.size();
  const size_t added = text_bytes(reports);
  action.report = ++live->reported;
  // Small pieces of text come by the thousand: those that wait together are one.
  if (Action* const last = action.soft && !live->inbox.empty() ? &live->inbox.back() : nullptr;
      last != nullptr && last->soft && std::get<input::Activity>(last->input).run == sink.run()) {
    join_texts(last->reports, std::move(reports));
    last->checkpoint = std::move(action.checkpoint);
    last->report = action.report;
    last->charge.add(added);
    lives_.pump_soon(live);
    return shared_.schedule();
  }
  action.reports = std::move(reports);
  action.charge = Charge(sink.backlog(), sizeof(Action) + bytes);
  lives_.submit(live, std::move(action));
}

// Whoever reads gets the first words at once, and what follows them so soon that it is merged, together.
Time Reports::merged_until(const Live& live) const {
  const Time now = shared_.steady();
  if (!feeds_.is_read(live.id)) return now + shared_.settings.delta_unwatched_ms;
  return std::max(now, live.soft_taken + shared_.settings.delta_watched_ms);
}

bool Reports::has_room(const TurnSink& sink) const {
  const LivePtr live = sink.live();
  if (!live || live->removed) return true;  // Nothing of it is stored any more.
  return sink.backlog()->bytes < shared_.settings.turn_bytes &&
         shared_.reports_backlog->bytes < shared_.settings.turns_bytes;
}

void Reports::when_room(TurnSink& sink, Work then) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  if (!live->when_room) want_room_.push_back(live);
  live->when_room = std::move(then);
  live->soft_until = Time{};  // A turn that waits says nothing more that could be merged.
  lives_.pump_soon(live);
  shared_.schedule();
}

void Reports::give_room() {
  std::erase_if(want_room_, [this](const LivePtr& live) {
    if (!live->when_room || !live->sink) return true;
    if (!has_room(*live->sink)) return false;
    shared_.loop.post([alive = shared_.alive(), live, sink = live->sink.get(),
                       then = std::exchange(live->when_room, nullptr)]() mutable {
      if (!alive.expired() && live->turn && live->sink.get() == sink) then();
    });
    return true;
  });
}

void Reports::when_stored(TurnSink& sink, Work then) {
  const LivePtr live = sink.live();
  if (!live || live->removed) return;
  live->when_stored.emplace_back(live->reported, std::move(then));
  live->soft_until = Time{};  // Somebody waits: nothing is merged any longer.
  lives_.pump_soon(live);
  stored(live, {});
  shared_.schedule();
}

void Reports::stored(const LivePtr& live, const std::vector<Action>& actions) {
  for (const Action& action : actions) live->stored = std::max(live->stored, action.report);
  while (!live->when_stored.empty() && live->when_stored.front().first <= live->stored) {
    shared_.loop.post([alive = shared_.alive(), live, sink = live->sink.get(),
                       then = std::move(live->when_stored.front().second)]() mutable {
      // The turn that asked is still the one at work.
      if (!alive.expired() && live->turn && live->sink.get() == sink) then();
    });
    live->when_stored.pop_front();
  }
}

}  // namespace errand
