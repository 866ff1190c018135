// Looks in the store for what a target is to be told. Blocking: on a reader thread, where it knows nothing of the
// notifier.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "notify/notification.h"
#include "notify/target.h"
#include "store/store.h"
#include "task/event.h"

namespace errand::notify {

// Where an event stands that may owe something.
struct Place {
  int64_t pos = 0;
  std::optional<Occasion> occasion;  // Absent: a question was answered.
};
// Nothing for most events.
std::optional<Place> place_of(const Event& event);
// May what stands there matter to this target?
bool concerns(const Place& place, const Target& target);

struct Search {
  // Either exactly these places, after which the target has seen everything up to `until`;
  std::vector<int64_t> places = {};
  int64_t until = 0;
  // or, without any, what stands after this: one page of the store.
  int64_t after = 0;
  size_t room = 0;  // Notifications at most.
};

struct Found {
  struct News {
    std::optional<Notification> notification;  // Without an id;
    std::optional<Event> answered;             // or a question that was answered.
  };
  std::vector<News> news = {};
  int64_t cursor = 0;               // All up to here was looked at.
  bool skipped = false;             // The store no longer knows what followed: some of it may have been missed.
  std::optional<Error> error = {};  // Nothing else counts.
};

Found look(Store& store, const Target& target, const Search& search);

}  // namespace errand::notify
