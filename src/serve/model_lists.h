// Which models each agent can be asked for, as GET /api/agents/{id}/models answers. A provider or a program is asked at
// most once in a while, however often people look; whoever looks waits only so long.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alive.h"
#include "base/time.h"
#include "base/timers.h"
#include "driver/model_list.h"

namespace errand::serve {

class ModelLists {
 public:
  // What there is for an agent's driver; null: it cannot list any. All outlive this.
  using ListOf = std::function<ModelList*(const Agent&)>;
  ModelLists(ListOf list_of, Timers& timers, Clock& clock)
      : list_of_(std::move(list_of)), timers_(timers), clock_(clock) {}

  // Once; later, or inside where it is known. An agent whose driver lists none has no model in its answer. Errors:
  // unavailable, where the provider did not say, or not in time.
  void list(const Agent& agent, ModelList::Listed done);

 private:
  struct Entry {
    explicit Entry(Timers& timers) : patience(timers) {}
    std::string key;                           // How the agent was set up when it was asked.
    std::optional<Result<ListedModels>> last;  // What was said the last time,
    Time said_at;                              // at this moment (steady).
    bool asking = false;
    std::vector<ModelList::Listed> waiting;
    Timer patience;
  };
  // What was said, where it still counts.
  const Result<ListedModels>* remembered(const Entry& entry) const;
  static void answer(Entry& entry, const Result<ListedModels>& listed);

  const ListOf list_of_;
  Timers& timers_;
  Clock& clock_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // By the agent's id.
  Alive alive_;
};

}  // namespace errand::serve
