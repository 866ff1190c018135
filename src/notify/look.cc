#include "notify/look.h"

#include <algorithm>

namespace errand::notify {
namespace {

constexpr int page = 256;

// False: the store could not answer.
bool take(Store& store, const Target& target, const Event& event, Found& found) {
  const std::optional<Place> place = place_of(event);
  if (!place || !concerns(*place, target)) return true;
  if (!place->occasion) {
    found.news.push_back({.notification = {}, .answered = event});
    return true;
  }
  const Result<Task> task = store.get(event.task_id);
  if (!task) {
    if (task.error().code == Code::not_found) return true;  // Deleted meanwhile: nobody needs to look at it.
    found.error = task.error();
    return false;
  }
  if (std::optional<Notification> made = notification_of(event, *task, target))
    found.news.push_back({.notification = std::move(made), .answered = {}});
  return true;
}

size_t notifications(const Found& found) {
  return static_cast<size_t>(
      std::ranges::count_if(found.news, [](const Found::News& news) { return news.notification.has_value(); }));
}

// A store that no longer knows what followed (store.h, "reset") is read on from its end; any other error is one.
Found unread(Store& store, const Error& error) {
  if (error.reason == "reset") return {.cursor = store.last_pos(), .skipped = true};
  return {.error = error};
}

Found look_at(Store& store, const Target& target, const Search& search) {
  Found found;
  for (const int64_t pos : search.places) {
    const Result<std::vector<Change>> change = store.changes_after(pos - 1, 1);
    if (!change) return unread(store, change.error());
    // Of a task that was deleted there is nothing here any more.
    if (change->size() == 1 && change->front().pos == pos && change->front().event)
      if (!take(store, target, *change->front().event, found)) return found;
    found.cursor = pos;
    if (notifications(found) >= search.room) return found;
  }
  found.cursor = std::max(found.cursor, search.until);
  return found;
}

Found look_after(Store& store, const Target& target, const Search& search) {
  Found found{.cursor = search.after};
  const int64_t last = store.last_pos();
  const Result<std::vector<Change>> changes = store.changes_after(search.after, page);
  if (!changes) return unread(store, changes.error());
  for (const Change& change : *changes) {
    if (change.event && !take(store, target, *change.event, found)) return found;
    found.cursor = change.pos;
    if (notifications(found) >= search.room) return found;
  }
  if (std::ssize(*changes) < page) found.cursor = std::max(found.cursor, last);
  return found;
}

}  // namespace

std::optional<Place> place_of(const Event& event) {
  if (event.type == EventType::ask_answered) return Place{event.pos, std::nullopt};
  const std::optional<Occasion> occasion = occasion_of(event);
  if (!occasion) return std::nullopt;
  return Place{event.pos, occasion};
}

bool concerns(const Place& place, const Target& target) {
  return target.on.has(place.occasion.value_or(Occasion::asked));
}

Found look(Store& store, const Target& target, const Search& search) {
  return search.places.empty() ? look_after(store, target, search) : look_at(store, target, search);
}

}  // namespace errand::notify
