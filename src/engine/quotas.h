// Quotas: providers' usage limits (R4.5). While one task waits for one, further turns on the same account are not
// begun.
//
// The same driver with the same address (the agent's option `base_url`) and the same model is the same account. It is
// held until the time that the waiting task has named, for a day where it named none or a later one, and no longer than
// the task waits: when it goes on or is over, the next in line asks for itself. A person can end it before (lift). What
// is at work already finds out by itself.
//
// Bookkeeping only: it neither begins nor tells a turn. Engine thread only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "base/timers.h"
#include "engine/administration.h"
#include "task/task.h"

namespace errand {

// Who counts what is used.
struct Account {
  std::string driver, model, base_url;
  bool operator==(const Account&) const = default;
  std::string name() const;  // DRIVER[/MODEL][@ADDRESS]
};

class Quotas {
 public:
  // The account that turns of this agent and model are on.
  using AccountOf = std::function<Account(const std::string& agent_id, const std::string& model)>;
  // How many turns in line are on this account.
  using QueuedOn = std::function<int64_t(const Account& account)>;

  // `wake`: called when more may be begun than before, also later, by a timer.
  Quotas(Clock& clock, Timers& timers, AccountOf account_of, std::function<void()> wake);

  // No turn of this agent and model may be begun now.
  bool hold(const std::string& agent_id, const std::string& model) const;
  // The task as it is stored now: it waits for a limit, or does not (any more).
  void settle(const Task& task);
  // It was removed.
  void forget(const TaskId& id);
  // Those that hold something back, the oldest first.
  std::vector<Quota> list(const QueuedOn& queued_on) const;
  // A person says that this one (empty: each) is over: it holds nobody any longer, until a task meets it anew. Returns
  // the tasks that wait for it, by the name of their account; they are to be told.
  std::map<std::string, std::vector<TaskId>> lift(const std::string& account);

 private:
  struct Waiting {
    Account account;
    std::string text;
    Time since, until;    // Wall time.
    bool lifted = false;  // By a person, though it waits on.
    bool holds(Time now) const { return !lifted && until > now; }
  };

  Clock& clock_;
  Timers& timers_;
  const AccountOf account_of_;
  const std::function<void()> wake_;
  std::unordered_map<TaskId, Waiting> waits_;
};

}  // namespace errand
