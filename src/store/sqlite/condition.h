// How the store is: well, short of space, or no longer to be written to. Shared by the writer and the readers: whoever
// meets damage says it here, and the next commit is refused. Threads: any.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "store/store.h"

namespace errand::sqlite {

class Condition {
 public:
  // Damage and a lost file stay until the store is opened again: what was read before may be wrong too.
  void note(const Error& error) {
    if (error.reason == "corrupt") lose(StoreState::damaged, error.message);
  }
  // True: it is news.
  bool lose(StoreState state, const std::string& text);
  void set_full(bool full) { full_ = full; }

  // Why nothing can be written; nothing where it can.
  std::optional<Error> refusal() const;
  StoreHealth health() const;

 private:
  std::atomic<bool> full_ = false;
  std::atomic<StoreState> state_ = StoreState::well;
  mutable Mutex mutex_;
  std::string text_ GUARDED_BY(mutex_);
};

// Which file a name stands for. A database that was deleted, moved or replaced under a running server takes commits as
// before, and all of them are lost with the server: so the writer looks before each of them.
class FileIdentity {
 public:
  explicit FileIdentity(std::string path) : path_(std::move(path)) {}
  // The file that is there when it is first asked is the one that counts.
  bool is_there();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  uint64_t device_ = 0, number_ = 0;
};

}  // namespace errand::sqlite
