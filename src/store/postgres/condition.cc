#include "store/postgres/condition.h"

#include <fmt/format.h>

#include "base/log.h"

namespace errand::postgres {

void Condition::set(StoreState state, const std::string& text) {
  bool news = false;
  {
    const Lock lock(mutex_);
    if (for_good_) return;
    news = now_.state != state;
    now_ = {state, text};
  }
  if (!news) return;
  if (state == StoreState::well)
    log_info("store", "PostgreSQL is back: everything is stored as before");
  else
    log_error("store", fmt::format("{} Nothing is stored until it answers again. Running tasks go on.", text));
}

void Condition::lose(StoreState state, const std::string& text) {
  {
    const Lock lock(mutex_);
    if (for_good_) return;
    for_good_ = true;
    now_ = {state, text};
  }
  log_error("store", fmt::format("{} This server stores nothing until it is started again.", text));
}

bool Condition::is_away() const {
  const Lock lock(mutex_);
  return now_.state == StoreState::away;
}

std::optional<Error> Condition::refusal() const {
  const Lock lock(mutex_);
  if (!for_good_) return std::nullopt;
  return Error{Code::unavailable, now_.text + " Nothing was stored.", std::string(name(now_.state))};
}

StoreHealth Condition::health() const {
  const Lock lock(mutex_);
  return now_;
}

}  // namespace errand::postgres
