#include "engine/engine.h"

#include <utility>

#include <fmt/format.h>

#include "engine/admin_calls.h"
#include "engine/aftermath.h"
#include "engine/agents.h"
#include "engine/attempt_calls.h"
#include "engine/batch_calls.h"
#include "engine/batches.h"
#include "engine/change_calls.h"
#include "engine/commits.h"
#include "engine/deadlines.h"
#include "engine/decisions.h"
#include "engine/each.h"
#include "engine/feeds.h"
#include "engine/forks.h"
#include "engine/launching.h"
#include "engine/lives.h"
#include "engine/looks.h"
#include "engine/memory.h"
#include "engine/own_notices.h"
#include "engine/parents.h"
#include "engine/purses.h"
#include "engine/quotas.h"
#include "engine/recovery.h"
#include "engine/removal.h"
#include "engine/reports.h"
#include "engine/retention.h"
#include "engine/session_calls.h"
#include "engine/session_notes.h"
#include "engine/shared.h"
#include "engine/slots.h"
#include "engine/starts.h"
#include "engine/subtree.h"
#include "engine/task_calls.h"
#include "engine/task_waits.h"
#include "engine/turns.h"
#include "engine/views.h"

namespace errand {
namespace {

// Owns the parts, in the order in which they are built: each is given those above it. It does nothing itself but turn
// the loop.
class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineParts parts, EngineSettings with);
  ~EngineImpl() override;

  void recover(Reply<void> reply) override;
  Time tick() override;
  void drain(Reply<void> reply) override;

  Tasks& tasks() override { return task_calls_; }
  TaskBatches& batches() override { return batch_calls_; }
  TaskChanges& changes() override { return change_calls_; }
  TaskAttempts& attempts() { return attempt_calls_; }
  Sessions& sessions() override { return session_calls_; }
  Streams& streams() override { return feeds_; }
  Administration& administration() override { return admin_calls_; }

 private:
  std::string why_queued(const Task& task) const;

  const std::function<void(Time)> wake_at_;
  Reply<void> drained_;

  Shared shared_;
  Commits commits_;
  Agents agents_;
  Slots slots_;
  Quotas quotas_;
  Programs* const programs_;
  Memory memory_;
  Purses purses_;
  Batches batches_;
  Parents parents_;
  Looks looks_;
  Feeds feeds_;
  Decisions decisions_;
  Lives lives_;
  Starts starts_;
  Views views_;
  Each each_;
  OwnNotices own_notices_;
  Deadlines deadlines_;
  Reports reports_;
  Turns turns_;
  Removal removal_;
  Retention retention_;
  Subtree subtree_;
  Forks forks_;
  Launching launching_;
  SessionNotes session_notes_;
  TaskWaits task_waits_;
  TaskCalls task_calls_;
  BatchCalls batch_calls_;
  ChangeCalls change_calls_;
  AttemptCalls attempt_calls_;
  SessionCalls session_calls_;
  AdminCalls admin_calls_;
  Recovery recovery_;
  Aftermath aftermath_;
};

EngineImpl::EngineImpl(EngineParts parts, EngineSettings with)
    : wake_at_(std::move(parts.wake_at)),
      shared_(parts, std::move(with)),
      commits_(shared_),
      agents_(std::move(parts.drivers), std::move(parts.agents)),
      slots_({}),
      quotas_(
          shared_.clock, shared_.timers,
          [this](const std::string& agent, const std::string& model) { return agents_.account_of(agent, model); },
          [this] { shared_.schedule(); }),
      programs_(parts.programs),
      memory_(programs_, agents_, slots_, shared_.settings.max_memory),
      looks_(parts.folders != nullptr ? *parts.folders : parts.readers, parts.loop, parts.clock, shared_.timers,
             [this] { shared_.schedule(); }),
      // Only commands print; their driver reads the logs.
      feeds_(
          agents_.driver("command"),
          [this](const TaskId& id) {
            const LivePtr live = lives_.find(id);
            return live && live->task ? live->task->last_seq : 0;
          },
          shared_.faults.skip_frame),
      decisions_(shared_, agents_, batches_, feeds_),
      lives_(shared_, commits_, decisions_, slots_, batches_),
      starts_(shared_, lives_, slots_),
      views_(shared_, slots_, [this](const Task& task) { return why_queued(task); }),
      each_(shared_),
      own_notices_(shared_, lives_, agents_),
      deadlines_(shared_, lives_, purses_),
      reports_(shared_, lives_, feeds_),
      turns_({.shared = shared_,
              .lives = lives_,
              .slots = slots_,
              .agents = agents_,
              .feeds = feeds_,
              .purses = purses_,
              .reports = reports_,
              .deadlines = deadlines_,
              .own_notices = own_notices_}),
      removal_(shared_, lives_, each_),
      retention_(shared_, commits_, removal_),
      subtree_(shared_, lives_, purses_, parents_, each_),
      forks_(shared_, agents_),
      launching_({.shared = shared_,
                  .commits = commits_,
                  .lives = lives_,
                  .decisions = decisions_,
                  .slots = slots_,
                  .batches = batches_,
                  .agents = agents_,
                  .looks = looks_,
                  .parents = parents_,
                  .subtree = subtree_,
                  .forks = forks_,
                  .views = views_}),
      session_notes_(shared_, commits_),
      task_waits_(shared_, commits_, lives_, views_),
      task_calls_({.shared = shared_,
                   .commits = commits_,
                   .lives = lives_,
                   .agents = agents_,
                   .launching = launching_,
                   .removal = removal_,
                   .views = views_,
                   .waits = task_waits_}),
      batch_calls_({.shared = shared_, .commits = commits_, .batches = batches_, .each = each_, .tasks = task_calls_}),
      change_calls_({.shared = shared_, .commits = commits_, .lives = lives_, .views = views_}, parts.changes),
      attempt_calls_({.shared = shared_,
                      .commits = commits_,
                      .agents = agents_,
                      .looks = looks_,
                      .launching = launching_,
                      .views = views_,
                      .tasks = task_calls_,
                      .changes = change_calls_}),
      session_calls_({.shared = shared_,
                      .commits = commits_,
                      .lives = lives_,
                      .parents = parents_,
                      .removal = removal_,
                      .retention = retention_,
                      .feeds = feeds_,
                      .notes = session_notes_}),
      admin_calls_({.shared = shared_,
                    .commits = commits_,
                    .agents = agents_,
                    .slots = slots_,
                    .quotas = quotas_,
                    .lives = lives_,
                    .feeds = feeds_,
                    .programs = programs_},
                   std::move(parts.pinned), std::move(parts.settings_changed)),
      recovery_({.shared = shared_,
                 .agents = agents_,
                 .admin = admin_calls_,
                 .slots = slots_,
                 .quotas = quotas_,
                 .batches = batches_,
                 .lives = lives_,
                 .starts = starts_,
                 .turns = turns_,
                 .retention = retention_}),
      aftermath_({.shared = shared_,
                  .lives = lives_,
                  .slots = slots_,
                  .starts = starts_,
                  .feeds = feeds_,
                  .quotas = quotas_,
                  .deadlines = deadlines_,
                  .reports = reports_,
                  .turns = turns_,
                  .own_notices = own_notices_,
                  .subtree = subtree_,
                  .removal = removal_,
                  .retention = retention_,
                  .task_waits = task_waits_,
                  .batch_calls = batch_calls_,
                  .session_calls = session_calls_}) {
  lives_.follow(aftermath_);
  slots_.set_gate([this](const std::string& agent, const std::string& model) {
    return !quotas_.hold(agent, model) && !memory_.hold(agent);
  });
  if (programs_ != nullptr) programs_->on_less([this] { shared_.schedule(); });
  commits_.on_group([this] { feeds_.wake_all(); });
  shared_.on_tick([this] {
    const Time next = tick();
    if (wake_at_ && next) wake_at_(next);
  });
}

// Why a turn in line is held back, beside that others are before it.
std::string EngineImpl::why_queued(const Task& task) const {
  const Launch& launch = task.launch;
  if (quotas_.hold(launch.agent_id, launch.model))
    return fmt::format("The usage limit of {} is used up: errand quota says until when.",
                       agents_.account_of(launch.agent_id, launch.model).name());
  return memory_.hold(launch.agent_id) ? memory_.why() : std::string();
}

EngineImpl::~EngineImpl() {
  if (programs_ != nullptr) programs_->on_less({});
  turns_.leave();
  lives_.each([](const LivePtr& live) { live->inbox.clear(); });  // Whoever waits for something of it may hold it.
  turns_.destroy_dead();
}

void EngineImpl::recover(Reply<void> reply) {
  feeds_.start_at(shared_.store.last_pos());
  recovery_.recover([this, reply = std::move(reply)](Result<void> recovered) mutable {
    if (recovered) change_calls_.take_up();
    reply(std::move(recovered));
  });
}

Time EngineImpl::tick() {
  turns_.destroy_dead();
  shared_.timers.run_due();
  starts_.start_queued();
  lives_.pump_all();
  starts_.start_in_place();
  commits_.hand_over();
  reports_.give_room();
  if (shared_.draining && commits_.waiting() == 0 && drained_) {
    turns_.leave();
    turns_.leave_drivers();
    std::exchange(drained_, nullptr)({});
  }
  return shared_.timers.next_due();
}

void EngineImpl::drain(Reply<void> reply) {
  shared_.draining = true;
  drained_ = std::move(reply);
  task_waits_.dismiss();
  batch_calls_.dismiss();
  session_calls_.dismiss();
  looks_.dismiss(commits_.refusal().error());
  shared_.schedule();
}

}  // namespace

// There is one kind of engine.
TaskAttempts& attempts_of(Engine& engine) { return static_cast<EngineImpl&>(engine).attempts(); }

std::unique_ptr<Engine> make_engine(EngineParts parts, EngineSettings settings) {
  return std::make_unique<EngineImpl>(std::move(parts), std::move(settings));
}

}  // namespace errand
