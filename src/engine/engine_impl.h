// The engine's inside, shared by its .cc files: engine.cc (tick, submit, load, pump), decisions.cc, commits.cc,
// launch.cc, turns.cc (drivers), deadlines.cc, quota_calls.cc, subtree.cc,
// own_notices.cc, calls.cc, removal.cc, batch_calls.cc, sessions.cc, recovery.cc, shown.cc.
//
// A tick: take what waits for each task, decide, hand the commits to the store. When they are durable: replace the
// task, show its events, answer the callers, perform the effects. A task has at most one commit under way; its further
// inputs wait and are decided together on the durable task.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/timers.h"
#include "engine/backlog.h"
#include "engine/batches.h"
#include "engine/engine.h"
#include "engine/feeds.h"
#include "engine/history.h"
#include "engine/looks.h"
#include "engine/parents.h"
#include "engine/purses.h"
#include "engine/quotas.h"
#include "engine/recorder.h"
#include "engine/slots.h"
#include "engine/waiters.h"

namespace errand {

// How long the engine waits where the store failed it, before it tries again what is its own business.
inline constexpr Millis store_retry_ms = 500;

// At rest, and nothing of it is being stopped: its result is whole, and its notice is made.
inline bool is_over(const Task& task) { return !at_work(task.state) && !task.stopping; }

// Something that happens to one task.
struct Action {
  Input input;
  // With Activity: what the driver reported, and its mark.
  std::vector<Report> reports;
  std::string checkpoint;
  Charge charge;
  bool soft = false;     // May wait a little, to be merged with what follows.
  uint64_t report = 0;   // Its number in Live::reported.
  bool take_up = false;  // Instead of reports: the message that was open when the server died is closed.
  // With Prompt and Retry: stored in the same commit.
  std::vector<Message> messages;
  // With Remove.
  Gone gone = Gone::deleted;
  // With NoticeTaken.
  std::vector<NoticeId> taken;
  // Whoever asked. Absent: the engine's own action, which is tried again where the store fails.
  Reply<TaskPtr> reply;
};

class TurnSink;

// The agent's message that is still open. Blocking.
Result<std::optional<Message>> open_message(Store& store, const SessionId& session);
Result<bool> is_orphaned(Store& store, const Task& task);

// A task in memory: at work, or with something under way.
struct Live {
  explicit Live(TaskId task_id);
  ~Live();

  const TaskId id;
  std::shared_ptr<const Task> task;  // As it is stored. Null until it is loaded or its creation is durable.
  Recorder recorder;                 // Likewise.
  std::unordered_map<MessageId, Message> messages;  // The bodies of Task::waiting.
  std::vector<Action> inbox;
  bool loading = false;
  bool stale = false;    // `task` is not what is stored: it is loaded again.
  bool busy = false;     // A commit is under way.
  bool removed = false;  // Its rows are gone; its last run is being ended.
  Time soft_until;       // Soft actions wait until then.
  size_t soft_bytes = 0;
  Time retry_at;  // After a failed commit.

  // The turn at work. The sink outlives it.
  std::unique_ptr<TurnSink> sink;
  std::unique_ptr<Turn> turn;
  bool opening = false;
  // Reports of the turn by number: how many came, how many are durable, and who waits for one to be.
  uint64_t reported = 0, stored = 0;
  std::list<std::pair<uint64_t, Work>> when_stored;  // Mostly empty, and then it takes no memory.
  Work when_room;                                    // The turn was told to wait.
  std::unordered_set<NoticeId> taken_notices;        // By its agent, since the task is in memory.
  int overspent_run = 0;                             // The run that was told to end over its budget.
  int finished_run = 0;  // The run whose work has ended with nothing left of it, whatever is stored yet.

  // Deadlines of the run, in steady time. 0: none.
  Time last_sign;  // Of life.
  Time looked;     // When it was last asked for one.
  bool warned = false;
  std::string seen;  // What the last probe said of something that does nothing.
  // When the work that the timeout is for began: a restart after a hang, or a clock that is set, does not move it.
  struct Began {
    int attempt = 0, resume_count = 0;
    Time at;
  } began;
  Timers::Key timeout_timer = 0, idle_timer = 0, progress_timer = 0, soft_timer = 0, stop_timer = 0, ask_timer = 0,
              budget_timer = 0;
};
using LivePtr = std::shared_ptr<Live>;

// A commit under way.
struct Prepared {
  Commit commit;
  LivePtr live;  // Null: about no task.
  std::shared_ptr<const Task> after;
  Recorder recorder;
  std::map<size_t, std::string> texts;
  std::vector<Effect> effects;
  std::vector<Action> actions;                // For another try.
  std::vector<std::optional<Error>> refused;  // Per action: what decide answered.
  BatchMoves batch_moves;
  std::vector<SessionId> told;      // Sessions that get a notice.
  std::vector<NoticeId> own_taken;  // By this task's agent.
  bool undecided = false;           // Whether its batch is whole depends on a commit under way: not to be stored yet.
  bool created = false;
  std::string key;                                        // Idempotency.
  std::move_only_function<void(Result<Committed>)> done;  // Where live is null, or for a creation.
};

class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineParts parts, EngineSettings settings);
  ~EngineImpl() override;

  void recover(Reply<void> reply) override;
  Time tick() override;
  void drain(Reply<void> reply) override;

  void launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) override;
  void get(TaskId id, Reply<TaskView> reply) override;
  void cancel(TaskId id, std::string by, Reply<TaskView> reply) override;
  void retry(TaskId id, std::optional<NewMessage> message, Reply<TaskView> reply) override;
  void message(TaskId id, NewMessage message, Reply<MessageTaken> reply) override;
  void resume(TaskId id, NewMessage message, Reply<MessageTaken> reply) override;
  void answer(TaskId id, input::Answered answer, Reply<TaskView> reply) override;
  void remove(TaskId id, Gone why, Reply<void> reply) override;
  void clear(Scope scope, Reply<Cleared> reply) override;
  void result(TaskId id, Millis block_ms, Reply<ResultView> reply) override;
  uint64_t wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) override;
  void give_up(uint64_t wait) override;
  void resolve(std::string text, Reply<TaskId> reply) override;
  void batch(BatchId id, Reply<BatchCounts> reply) override;
  void wait_batch(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) override;
  void cancel_batch(BatchId id, std::string by, Reply<int64_t> reply) override;
  void retry_batch(BatchId id, Reply<int64_t> reply) override;
  void remove_batch(BatchId id, Reply<int64_t> reply) override;
  void open_session(Session session, Reply<Session> reply) override;
  void end_session(SessionId id, Reply<int64_t> reply) override;
  void notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply) override;
  void take_notice(SessionId session, NoticeId id, Reply<Notice> reply) override;
  void session_state(SessionId id, Reply<std::vector<StatePiece>> reply) override;
  void keep_state(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) override;

  void put_agent(std::string id, Agent agent, Reply<Agent> reply) override;
  void remove_agent(std::string id, Reply<void> reply) override;
  void change_settings(SettingsChange change, Reply<EngineSettings> reply) override;

  std::vector<Quota> quotas() const override;
  void clear_quota(std::string account, Reply<int64_t> reply) override;

  std::vector<Agent> agents() const override;
  StateCounts counts() const override { return parts_.store.counts(); }
  EngineSettings settings() const override { return settings_; }
  Health health() const override;
  TaskMoment moment(const Task& task) const override;
  Driver* driver_of(const Task& task) const override;
  std::shared_ptr<Feed> feed(const TaskId& id) override;
  std::shared_ptr<Feed> all() override { return feeds_.all(); }
  std::vector<FramePtr> frames(const std::vector<Event>& events) const override;
  FramePtr gone_frame(const Tombstone& gone) const override;
  std::shared_ptr<Feed> session_feed(const SessionId& id) override;

 private:
  friend class TurnSink;

  // --- engine.cc: tick, pump, commit, apply
  Time wall() { return parts_.clock.wall(); }
  Time steady() { return parts_.clock.steady(); }
  void schedule();
  // Puts the action into the task's inbox; loads the task where it is not in memory.
  void submit(const TaskId& id, Action action);
  void submit(const LivePtr& live, Action action);
  void load(const LivePtr& live);
  void reloaded(const LivePtr& live);
  void not_loaded(const LivePtr& live, const Error& error);
  void pump(const LivePtr& live);
  bool decide_all(const LivePtr& live, Prepared& prepared);
  void decide_reports(Live& live, const Action& action, Task& after, Prepared& prepared, Recording& out, bool& changed);
  void watch_calls(const Report& report, Task& after, Prepared& prepared, Recording& out, bool& changed);
  void add_step(Step step, Task& after, Prepared& prepared, Recording& out, bool& changed);
  void add_notice(Notice notice, Prepared& prepared, Recording& out);
  void tell_turn(const Task& after, Prepared& prepared, Recording& out);
  void tell_batch(const Task& after, Prepared& prepared, Recording& out);
  void finish(Prepared& prepared, Task&& after, Recording&& out);
  void stage(Prepared&& prepared);
  void hand_over();
  void committed(Prepared prepared, Result<Committed> result);
  void applied(Prepared& prepared, const Committed& committed);
  void failed(Prepared& prepared, const Error& error);
  void answer_actions(Prepared& prepared);
  void publish(Prepared& prepared, const Committed& committed);
  void settle_slot(Live& live);
  void start_in_place();
  void pump_all();
  void start_queued();
  void evict(const LivePtr& live);
  LivePtr find_live(const TaskId& id) const;
  bool overloaded() const;
  // Whoever asked is answered as before; until then what was asked is counted as waiting, with all that is made of it.
  template <class T>
  Reply<T> charged(Reply<T> reply, size_t bytes) {
    return [charge = Charge(backlog_, copies_until_stored * bytes),
            reply = std::move(reply)](Result<T> result) mutable { reply(std::move(result)); };
  }
  std::unexpected<Error> busy_error() const;
  // Runs `read` on a reader thread and `then` with its result on the engine's. The store and the loop outlive the
  // engine; a read that was posted may too, so it knows nothing of the engine itself.
  template <class Read, class Then>
  void read(Read read, Then then) {
    std::weak_ptr<char> alive = alive_;
    parts_.readers.post(
        [&store = parts_.store, &loop = parts_.loop, alive, read = std::move(read), then = std::move(then)]() mutable {
          auto result = std::make_shared<decltype(read(store))>(read(store));
          loop.post([alive, result, then = std::move(then)]() mutable {
            if (!alive.expired()) then(std::move(*result));
          });
        });
  }
  // A call is answered later, never inside it: also where there is nothing to wait for.
  template <class T>
  void answer_later(Reply<T> reply, std::unexpected<Error> error) {
    parts_.loop.post([alive = std::weak_ptr(alive_), reply = std::move(reply), error = std::move(error)]() mutable {
      if (!alive.expired()) reply(std::move(error));
    });
  }
  // Answers everybody who waits: the server is leaving, and the next one can be asked.
  void dismiss_waiters();

  TaskView view(TaskPtr task) const {
    TaskMoment now = moment(*task);
    return {std::move(task), std::move(now)};
  }
  Reply<TaskPtr> as_view(Reply<TaskView> reply);

  // --- agents.cc, settings.cc
  Status check_agent(const Agent& agent, const std::string& id) const;
  void use_agent(Agent agent);
  void drop_agent(const std::string& id);
  void use_limits();
  void use_stored(const std::vector<Commit::Setting>& stored);
  void use_settings(const SettingsChange& change);

  // --- subtree.cc
  void with_parent(Launch&& launch, Reply<Launch> then);
  Status bound_by(Launch& launch, const Task& parent) const;
  void cancel_children(const SessionId& session);

  // --- deadlines.cc
  void spend(const LivePtr& live, bool begins = false);
  void arm_budget(const LivePtr& live);

  // --- own_notices.cc
  Action noticed(const SessionId& session, const Notice& notice, bool wake);
  bool takes_notices(const Live& live) const;
  void deliver_notices(const LivePtr& live);
  void told_task(const TaskId& id);
  void wake_task(const TaskId& id);
  void notices_taken(const LivePtr& live, const std::vector<NoticeId>& taken);

  // --- quota.cc
  Account account_of(const std::string& agent_id, const std::string& model) const;

  // --- launch.cc
  Status complete_launch(Launch& launch) const;
  // What the launch names on disks is looked at, where it names something.
  void look_at(const Launch& launch, std::move_only_function<void(Status)> then);
  std::shared_ptr<const Agent> find_agent(const std::string& id_or_name) const;
  void launch_under(Launch&& launch, std::string key, std::string fingerprint, Reply<TaskView> reply);
  void launch_now(Launch&& launch, std::string key, std::string fingerprint, Reply<TaskView> answer,
                  std::optional<fork::Prepared> inherited = std::nullopt);
  Message user_message(const SessionId& session, int turn, const NewMessage& message);

  // --- fork.cc
  void inherit(const Launch& launch, Reply<fork::Prepared> then);
  std::vector<Message> inherited_messages(fork::Prepared inherited, const SessionId& session, Time now);

  // --- turns.cc
  void perform(const LivePtr& live, std::vector<Effect> effects);
  struct Opening;
  void open_turn(const LivePtr& live, bool reattach);
  void opening_read(const LivePtr& live, bool reattach, Opening opening);
  void open_now(const LivePtr& live, bool reattach, std::vector<Message> history);
  void stop_turn(const LivePtr& live);
  void end_without_turn(const LivePtr& live, int run);
  void reported(TurnSink& sink, std::vector<Report> reports, std::string checkpoint);
  void turn_ended(TurnSink& sink, Outcome outcome);
  void when_stored(TurnSink& sink, Work then);
  bool has_room(const TurnSink& sink) const;
  void when_room(TurnSink& sink, Work then);
  void give_room();
  void reports_stored(const LivePtr& live, const std::vector<Action>& actions);
  void take_up_turn(const LivePtr& live);
  void bury(Live& live);
  void leave_turns();
  void leave_drivers();

  // --- deadlines.cc
  void arm_deadlines(const LivePtr& live, bool reattached);
  Millis time_left(Live& live, bool reattached);
  void disarm_deadlines(Live& live);
  void arm_asks(const LivePtr& live);
  void arm_idle(const LivePtr& live);
  void idle_due(const LivePtr& live, int run);
  void arm_progress(const LivePtr& live);

  // --- removal.cc
  void remove_tree(TaskId id, Gone why, bool only_at_rest, Reply<void> reply);
  void remove_stragglers(const SessionId& session);
  void remove_each(std::vector<TaskId> ids, Gone why, bool only_at_rest, Reply<int64_t> reply);
  void ghost_gone(const LivePtr& live);
  void arm_retention();
  void retention_due();
  void mark_made();
  void arm_forgetting(Millis delay);
  void forget_due();
  bool clock_was_set();

  // --- batches.cc
  using EachDone = std::move_only_function<void(bool ok)>;
  using EachAct = std::function<void(const TaskId&, EachDone)>;
  // Acts on all, a few at a time, so that a long list fills neither the memory nor the inbox; then `done`.
  void act_on_each(std::vector<TaskId> ids, EachAct act, std::move_only_function<void(int64_t acted)> done);
  struct Each {
    std::vector<TaskId> ids;
    EachAct act;
    std::move_only_function<void(int64_t acted)> done;
    size_t next = 0, ended = 0;
    int64_t acted = 0;
  };
  void act_on_next(const std::shared_ptr<Each>& each);
  void for_each_of(TaskFilter filter, EachAct act, Reply<int64_t> reply);
  void check_batch_waiters(const BatchId& id);
  void with_batch(const BatchId& id, std::move_only_function<void(Status)> then);

  // --- sessions.cc
  void end_session_on(SessionId id, int64_t removed_before, Reply<int64_t> reply);
  void wake_notice_waiters(const SessionId& id);
  void read_notices(SessionId id, int64_t after, int limit, Reply<std::vector<Notice>> reply);
  void await_notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply);
  void take_notices(std::vector<Notice> notices, Reply<void> reply);

  // --- state.cc
  void next_state_change();
  void store_state_change(std::vector<StatePiece> kept);

  // --- calls.cc, waits.cc
  void result_woken(const TaskId& id, Woken why, Reply<ResultView> reply);
  // The task is at rest, or gone: those who wait for it are answered.
  void answer_waiters(const TaskId& id, Woken why);

  // --- recovery.cc
  struct Recovered;
  void take_up(Recovered recovered);
  void end_orphans();

  // --- fixed after construction
  EngineParts parts_;
  EngineSettings settings_;
  IdSource ids_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // Late callbacks see that the engine is gone.
  const std::shared_ptr<Backlog> backlog_ = std::make_shared<Backlog>();
  const std::shared_ptr<Backlog> reports_backlog_ = std::make_shared<Backlog>(backlog_);

  // --- owned by the engine's thread
  TimerQueue timers_;
  Looks looks_;
  std::vector<std::shared_ptr<const Agent>> agents_;
  Slots slots_;
  std::unordered_map<TaskId, LivePtr> lives_;
  std::unordered_map<TaskId, LivePtr> ghosts_;  // Removed; their runs are being ended.
  std::vector<LivePtr> to_pump_;
  std::vector<LivePtr> want_room_;  // Their turns wait until more is stored.
  std::vector<Prepared> staged_;
  int64_t under_way_ = 0;  // Commits handed over and not answered.
  bool tick_posted_ = false;
  std::vector<LivePtr> leaving_;  // In this tick: staged with the end of their turn, which gives a slot back.
  bool recovering_ = false;
  bool draining_ = false;
  Reply<void> drained_;
  std::vector<std::unique_ptr<Turn>> dead_turns_;  // Destroyed outside their own callbacks.
  std::vector<std::unique_ptr<TurnSink>> dead_sinks_;

  Feeds feeds_;
  // Launches with an Idempotency-Key that are under way, and who repeats them.
  struct KeyUnderWay {
    std::string fingerprint;
    std::vector<Reply<TaskView>> repeats;
  };
  std::unordered_map<std::string, KeyUnderWay> keys_;
  Parents parents_;
  Purses purses_;
  Quotas quotas_;
  Batches batches_;
  Waiters<TaskId> waiters_{timers_};         // For tasks, and for their results.
  Waiters<BatchId> all_waiters_{timers_};    // For all of a batch,
  Waiters<BatchId> first_waiters_{timers_};  // or the first of it.
  Waiters<SessionId> notice_waiters_{timers_};

  // One at a time, so that the bounds hold however many are asked for at once.
  struct StateChange {
    SessionId session;
    std::string key;
    std::optional<std::string> value;
    Reply<void> reply;
  };
  std::deque<StateChange> state_changes_;
  bool state_busy_ = false;

  Time next_expiry_;  // Wall time.
  Timers::Key retention_timer_ = 0;
  Millis wall_ahead_ = 0;  // Of the steady clock, when retention last looked.
  Time retention_held_;    // Steady time: nothing is removed before.
  bool retention_running_ = false;
  Timers::Key forget_timer_ = 0;
  int64_t marks_made_ = 0;  // Since marks were last forgotten.
  int64_t recovery_left_ = 0;
  Reply<void> recovered_;
  int64_t commits_ = 0, events_ = 0;
};

// What a driver reports goes through here into the engine's inbox. One per run; deaf once the run has ended.
class TurnSink final : public Sink {
 public:
  TurnSink(EngineImpl& engine, const LivePtr& live, int run)
      : engine_(engine), live_(live), run_(run), backlog_(std::make_shared<Backlog>(engine.reports_backlog_)) {}
  void report(std::vector<Report> reports, std::string checkpoint) override {
    if (!ended_) engine_.reported(*this, std::move(reports), std::move(checkpoint));
  }
  void when_stored(Work then) override {
    if (!ended_) engine_.when_stored(*this, std::move(then));
  }
  bool has_room() const override { return engine_.has_room(*this); }
  void when_room(Work then) override {
    if (!ended_) engine_.when_room(*this, std::move(then));
  }
  void ended(Outcome outcome) override {
    if (std::exchange(ended_, true)) return;
    engine_.turn_ended(*this, std::move(outcome));
  }
  const LivePtr live() const { return live_.lock(); }
  int run() const { return run_; }
  void mute() { ended_ = true; }
  // What the turn has reported and is not stored yet.
  const std::shared_ptr<Backlog>& backlog() const { return backlog_; }

 private:
  EngineImpl& engine_;
  std::weak_ptr<Live> live_;
  const int run_;
  const std::shared_ptr<Backlog> backlog_;
  bool ended_ = false;
};

}  // namespace errand
