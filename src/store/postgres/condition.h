// How the store is: well, away, without space, or no longer to be written to by this server. Threads: any.
#pragma once

#include <optional>
#include <string>

#include "base/mutex.h"
#include "store/store.h"

namespace errand::postgres {

class Condition {
 public:
  // Passes: `away` and `full`, until they are set to `well`.
  void set(StoreState state, const std::string& text);
  // Stays until the store is opened again: `damaged`, `taken`.
  void lose(StoreState state, const std::string& text);
  // Damage that somebody met.
  void note(const Error& error) {
    if (error.reason == "corrupt") lose(StoreState::damaged, error.message);
  }

  bool is_away() const;
  // Why nothing can be stored, for good; nothing where it can.
  std::optional<Error> refusal() const;
  StoreHealth health() const;

 private:
  mutable Mutex mutex_;
  StoreHealth now_ GUARDED_BY(mutex_);
  bool for_good_ GUARDED_BY(mutex_) = false;
};

}  // namespace errand::postgres
