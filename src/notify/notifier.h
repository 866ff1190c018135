// The notifier: tells people elsewhere what needs them. It follows the stored events of all tasks and owes each target
// what that one wants to hear.
//
// What it promises (R17.2):
//  - At least once. What an event owes a target is stored, with the target's place in the order of all events, in one
//    commit; only then it is sent, and only after a 2xx answer it is deleted. A server that is killed anywhere sends it
//    again, with the same id.
//  - In order, for the notifications of one task to one target. A later one waits until the earlier one is delivered or
//    given up.
//  - An end: after tries_max tries over about 28 hours a notification is given up, and counted. A receiver that answers
//    410 is not asked again: its target is switched off. A phone whose push service answers 404 or 410 is forgotten.
//  - Bounds: targets_max targets, owed_max notifications and one call for each. A target that is owed more reads no
//    further until one is delivered; the events wait in the store.
//
// Threads: everything here happens on the loop. The store is read on `readers`; calls are the client's, on its thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alive.h"
#include "base/executor.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "base/timers.h"
#include "crypto/p256.h"
#include "engine/streams.h"
#include "http/client.h"
#include "notify/delivery.h"
#include "notify/look.h"
#include "notify/reach.h"
#include "notify/records.h"
#include "notify/target.h"
#include "store/store.h"

namespace errand::notify {

inline constexpr size_t owed_max = 256;         // To one target.
inline constexpr size_t recent_max = 1'024;     // Places of events that may owe something, in memory.
inline constexpr int64_t cursor_step = 10'000;  // Events that owed nothing, before the place behind them is stored.
inline constexpr size_t tests_max = 4;          // Under way at once.
inline constexpr Millis store_retry_ms = 5'000;
inline constexpr Millis rotation_ms = 24 * 3'600'000;  // An old secret signs for so long.

// All outlive it.
struct NotifierParts {
  Store& store;
  Executor& loop;
  Executor& readers;
  Timers& timers;
  Clock& clock;
  Random& random;
  http::Client& client;
  std::vector<std::string> private_hosts = {};
  std::string page_url = {};                    // For links; empty: none.
  std::function<Millis(Time)> utc_offset = {};  // Of the time of the day at a moment; absent: UTC.
};

// A target, and how it does. `target` has its secrets: who shows it leaves them out.
struct TargetView {
  Target target;
  Standing standing;
  size_t waiting = 0;  // Notifications that are owed,
  Time next_try;       // and when the next one is tried; never: nothing is owed, or it is switched off.
};

// What of a target may be changed; absent: it stays.
struct TargetChange {
  std::optional<std::string> name;
  std::optional<Occasions> on;
  std::optional<Content> content;
  std::optional<bool> subtasks;
  std::optional<std::optional<Quiet>> quiet;
  std::optional<bool> enabled;
};

class Notifier final : public EventListener {
 public:
  template <class T>
  using Answer = std::move_only_function<void(Result<T>)>;

  explicit Notifier(NotifierParts parts);
  ~Notifier() override;

  // Blocking, and first. A row that cannot be read is left where it is, and said in the log.
  Status load();
  // Sends what is owed, and follows what is stored from now on. Streams::listen tells it, and has to from before this.
  void start();
  // Nothing is sent or stored any more.
  void stop();

  // By creation. At once.
  std::vector<TargetView> list() const;
  Result<TargetView> find(const std::string& id) const;

  // The rest is durable before it is answered; a change holds from the call on, whatever the store answers. Errors
  // beside those of the store: not_found; what Reach::check says; exhausted where there are too many. A new one,
  // without id, secret and times; hears of what happens from now on. A standard webhook without a secret gets one.
  void add(Target target, Answer<TargetView> answer);
  // Switched on again, it hears of what happens from then on; what was owed before is dropped when it is switched off.
  void change(const std::string& id, TargetChange change, Answer<TargetView> answer);
  // What it is owed is dropped.
  void remove(const std::string& id, Answer<void> answer);
  // A new secret; the old one signs beside it for rotation_ms. conflict for a shape that has none.
  void rotate(const std::string& id, Answer<TargetView> answer);
  // The public key in whose name phones are told: made when it is first asked for, durable before it is answered.
  void push_key(Answer<std::string> answer);
  // A phone (shape push, id the device's, with its keys): it hears of what happens from now on. One that is there
  // already gets the new address, keys and rules, and what it is owed. conflict where nobody has asked for the key.
  void subscribe(Target target, Answer<TargetView> answer);

  // Sends a notification now, quiet hours or not, once. Nothing of it is stored.
  void test(const std::string& id, Answer<Outcome> answer);

  void stored(const Event& event) override;

 private:
  struct Box;
  struct Trial;

  Box* box_of(const std::string& id);
  size_t count(bool phones) const;
  void insert(Target target, Answer<TargetView> answer);
  TargetView view_of(const Box& box) const;
  void wake();
  void plan(Box& box);
  void planned(Box& box, Found found);
  void pass(Box& box, int64_t pos);
  void send(Box& box);
  void tried(Box& box, const std::string& id, const Outcome& outcome);
  void give_up_on(Box& box, const std::string& sentence);
  void forget(Box& box);
  void drop_owed(Box& box, std::vector<Commit::Setting>& rows);
  Status check(const Target& target) const;
  http::Request request(const Target& target, const Notification& notification) const;
  Time quiet_end(const Target& target) const;
  // One commit; `done` on the loop, not where this is gone.
  void store(std::vector<Commit::Setting> rows, Answer<void> done);
  void keep(Box& box, std::vector<Commit::Setting> rows);

  NotifierParts parts_;
  Reach reach_;
  IdSource ids_;
  std::map<std::string, std::unique_ptr<Box>> boxes_;  // By id, which goes by time.
  std::map<uint64_t, std::unique_ptr<Trial>> trials_;  // Tests under way.
  uint64_t last_trial_ = 0;
  bool started_ = false;
  bool woken_ = false;
  std::optional<crypto::KeyPair> sender_;               // For phones.
  std::vector<Answer<std::string>> sender_asked_ = {};  // Who waits for it to be stored.

  // Where to look: the places of all events after `complete_from_` that may owe something, up to `seen_`.
  std::deque<Place> recent_;
  int64_t complete_from_ = 0;
  int64_t seen_ = 0;
  int64_t next_mark_ = cursor_step;  // Here the boxes store how far they have come, where nothing else made them.

  Alive alive_;  // Last: it goes first.
};

}  // namespace errand::notify
