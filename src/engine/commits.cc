#include "engine/commits.h"

#include <memory>
#include <utility>

#include "base/check.h"

namespace errand {

void Commits::stage(Prepared&& prepared) {
  staged_.push_back(std::move(prepared));
  shared_.schedule();
}

void Commits::store(Commit commit, std::move_only_function<void(Result<Committed>)> done) {
  Prepared prepared;
  prepared.commit = std::move(commit);
  prepared.commit.now = shared_.wall();
  prepared.done = std::move(done);
  stage(std::move(prepared));
}

void Commits::hand_over() {
  if (staged_.empty()) return;
  auto group = std::make_shared<std::vector<Prepared>>(std::move(staged_));
  staged_.clear();
  // Lent to the store until it answers: then the events are needed again, for their frames.
  auto commits = std::make_shared<std::vector<Commit>>();
  commits->reserve(group->size());
  for (Prepared& prepared : *group) commits->push_back(std::move(prepared.commit));
  under_way_ += static_cast<int64_t>(group->size());
  shared_.store.commit(Store::Group(commits),
                       [this, alive = shared_.alive(), group, commits](std::vector<Result<Committed>> results) {
                         if (alive.expired()) return;
                         ERRAND_CHECK(results.size() == group->size(), "the store answers every commit");
                         under_way_ -= static_cast<int64_t>(group->size());
                         for (size_t i = 0; i < group->size(); ++i) {
                           Prepared prepared = std::move((*group)[i]);
                           prepared.commit = std::move((*commits)[i]);
                           if (results[i]) {
                             ++stored_;
                             events_ += static_cast<int64_t>(prepared.commit.events.size());
                           }
                           if (prepared.live) answered_(prepared, results[i]);
                           if (prepared.done) prepared.done(std::move(results[i]));
                         }
                         group_answered_();
                         shared_.schedule();
                       });
}

bool Commits::refuse() const {
  const EngineSettings& settings = shared_.settings;
  return shared_.draining || waiting() > settings.inbox_max || shared_.backlog->inputs > settings.inbox_max ||
         shared_.backlog->bytes > settings.inbox_bytes;
}

std::unexpected<Error> Commits::refusal() const {
  if (shared_.draining) return fail(Code::unavailable, "The server is stopping; try again in a moment.", "stopping");
  return fail(Code::exhausted, "Too many requests wait to be stored; try again in a second.");
}

}  // namespace errand
