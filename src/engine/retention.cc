#include "engine/retention.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/find_session.h"

namespace errand {
namespace {
constexpr int expired_page = 200;
constexpr Millis retention_retry_ms = 60'000;
constexpr Millis clock_set_ms = 3'600'000;  // The wall clock moved this far against the steady one: somebody set it.
constexpr Millis clock_set_hold_ms = 3'600'000;  // And has this long to set it right.
// Marks of what went: why a task or a session is not there, and which idempotency keys were used.
constexpr Millis mark_kept_ms = 30LL * 86'400'000;
constexpr int64_t tombstones_max = 100'000;
constexpr size_t ended_sessions_max = 10'000;
constexpr int forget_rows = 1'000;      // In one commit,
constexpr int64_t forget_each = 1'000;  // and as soon as so many were made.
constexpr Millis forget_pause_ms = 60'000;
constexpr Millis forget_every_ms = 86'400'000;  // At the latest: rows of usage become old without a mark.
constexpr Millis usage_kept_ms = 400LL * 86'400'000;
constexpr Millis forget_after_start_ms = 60'000;  // A start has better things to do.
}  // namespace

void Retention::start(Time next_expiry) {
  next_expiry_ = next_expiry;
  wall_ahead_ = shared_.wall().ms - shared_.steady().ms;
  arm();
  arm_forgetting(forget_after_start_ms);
}

void Retention::expires(Time at) {
  if (!at || (next_expiry_ && next_expiry_ <= at)) return;
  next_expiry_ = at;
  arm();
}

void Retention::arm() {
  shared_.timers.cancel(std::exchange(timer_, 0));
  if (!next_expiry_) return;
  const Millis delay = std::max<Millis>({next_expiry_ - shared_.wall(), held_until_ - shared_.steady(), 0});
  timer_ = shared_.timers.add(delay, [this] {
    timer_ = 0;
    due();
  });
  shared_.schedule();
}

// A clock that was set forward must not make everything old at once.
bool Retention::held() {
  const Millis ahead = shared_.wall().ms - shared_.steady().ms;
  const Millis moved = ahead - std::exchange(wall_ahead_, ahead);
  if (std::abs(moved) > clock_set_ms) {
    log_warning("engine", fmt::format("the clock was set {} by {}: nothing is removed by its age for {}",
                                      moved > 0 ? "forward" : "back", format_duration(std::abs(moved)),
                                      format_duration(clock_set_hold_ms)));
    held_until_ = shared_.steady() + clock_set_hold_ms;
  }
  return shared_.steady() < held_until_;
}

void Retention::due() {
  if (held()) return arm();
  if (std::exchange(running_, true)) return;
  struct Found {
    std::vector<TaskId> ids;
    Time next;
  };
  shared_.read(
      [now = shared_.wall()](Store& store) -> Result<Found> {
        Result<std::vector<TaskId>> ids = store.expired(now, expired_page);
        if (!ids) return std::unexpected(ids.error());
        Result<Time> next = store.next_expiry();
        if (!next) return std::unexpected(next.error());
        return Found{std::move(*ids), *next};
      },
      [this](Result<Found> found) {
        running_ = false;
        if (!found) {
          log_warning("engine", "retention: " + found.error().message);
          next_expiry_ = shared_.wall() + retention_retry_ms;
          return arm();
        }
        next_expiry_ = found->next;
        if (found->ids.empty()) {
          // What is due and does not go has a notice that nobody took: it is looked at again later.
          if (next_expiry_ && next_expiry_ <= shared_.wall()) next_expiry_ = shared_.wall() + retention_retry_ms;
          return arm();
        }
        removal_.remove_each(std::move(found->ids), Gone::expired, true, [this](Result<int64_t> removed) {
          next_expiry_ = removed ? shared_.wall() : shared_.wall() + retention_retry_ms;
          arm();
        });
      });
}

void Retention::mark_made() {
  if (++marks_made_ == forget_each)
    arm_forgetting(0);
  else if (forget_timer_ == 0 && marks_made_ < forget_each)
    arm_forgetting(mark_kept_ms);
}

void Retention::arm_forgetting(Millis delay) {
  shared_.timers.cancel(std::exchange(forget_timer_, 0));
  forget_timer_ = shared_.timers.add(std::max<Millis>({delay, held_until_ - shared_.steady(), 0}), [this] {
    forget_timer_ = 0;
    forget_due();
  });
  shared_.schedule();
}

// What is forgotten was said for long enough: a not-found says no more why, and a key may be used again.
void Retention::forget_due() {
  if (held()) return arm_forgetting(0);
  marks_made_ = 0;
  shared_.read([](Store& store) { return store.settings(ended_mark_prefix); },
               [this](Result<std::vector<Commit::Setting>> marks) {
                 if (shared_.draining) return;
                 if (!marks) return arm_forgetting(forget_pause_ms);
                 Commit commit;
                 const Time before = shared_.wall() - mark_kept_ms;
                 OldMarks sessions = old_marks(*marks, before, ended_sessions_max, forget_rows);
                 const bool full = sessions.gone.size() == forget_rows;
                 commit.settings = std::move(sessions.gone);
                 commit.forget = {.before = before,
                                  .most = tombstones_max,
                                  .rows = forget_rows,
                                  .usage_before = shared_.wall() - usage_kept_ms};
                 commits_.store(
                     std::move(commit), [this, full, oldest = sessions.oldest](const Result<Committed>& stored) {
                       if (!stored) return arm_forgetting(forget_pause_ms);
                       if (full || stored->forgotten == forget_rows || stored->usage_forgotten == forget_rows)
                         return arm_forgetting(0);
                       Time next = stored->oldest_tombstone;
                       if (!next || (oldest && oldest < next)) next = oldest;
                       Millis delay = forget_every_ms;
                       if (next) delay = std::min(delay, next + mark_kept_ms - shared_.wall());
                       arm_forgetting(std::max(delay, forget_pause_ms));
                     });
               });
}

}  // namespace errand
