#include "driver/run/reach.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>
#include <sys/stat.h>

namespace errand::run {

struct Reach::State {
  using Moment = std::chrono::steady_clock::time_point;
  std::mutex mutex;
  std::condition_variable answered;
  std::unordered_map<std::string, Moment> asked;  // Those that have not answered, since when. Guarded by mutex.
};

Reach::Reach(Executor* threads, Millis patience)
    : threads_(threads), patience_(patience), state_(std::make_shared<State>()) {}

Status Reach::answers(const std::string& folder) const {
  if (threads_ == nullptr || folder.empty()) return {};
  std::unique_lock lock(state_->mutex);
  bool full = false;
  if (!state_->asked.contains(folder)) {
    full = state_->asked.size() >= asked_max;
    if (!full) {
      state_->asked.emplace(folder, std::chrono::steady_clock::now());
      threads_->post([state = state_, folder] {
        struct stat info{};
        ::stat(folder.c_str(), &info);
        const std::lock_guard done(state->mutex);
        state->asked.erase(folder);
        state->answered.notify_all();
      });
    }
  }
  const auto known = state_->asked.find(folder);
  const auto until =
      known == state_->asked.end() ? State::Moment() : known->second + std::chrono::milliseconds(patience_);
  if (!full && state_->answered.wait_until(lock, until, [&] { return !state_->asked.contains(folder); })) return {};
  return fail(Code::unavailable,
              fmt::format("The folder {} does not answer: the disk or the network mount that it is on hangs. Ask again "
                          "when it can be reached.",
                          folder),
              "work_dir_unreachable");
}

}  // namespace errand::run
