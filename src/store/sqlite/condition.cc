#include "store/sqlite/condition.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/log.h"

namespace errand::sqlite {

bool Condition::lose(StoreState state, const std::string& text) {
  {
    const Lock lock(mutex_);
    if (state_ != StoreState::well) return false;
    text_ = text;
    state_ = state;
  }
  log_error("store", fmt::format("{} The server stores nothing until this is fixed. Running tasks go on.", text));
  return true;
}

std::optional<Error> Condition::refusal() const {
  if (state_ == StoreState::well) return std::nullopt;
  const StoreHealth now = health();
  return Error{Code::unavailable, now.text + " Nothing was stored.", std::string(name(now.state))};
}

StoreHealth Condition::health() const {
  if (state_ == StoreState::well) {
    if (!full_) return {};
    return {StoreState::full, "The disk is full: only deleting is possible until there is space."};
  }
  const Lock lock(mutex_);
  return {state_, text_};
}

bool FileIdentity::is_there() {
  struct stat now{};
  if (::stat(path_.c_str(), &now) != 0) return false;
  if (number_ == 0) {
    device_ = now.st_dev;
    number_ = now.st_ino;
  }
  return now.st_dev == device_ && now.st_ino == number_;
}

}  // namespace errand::sqlite
