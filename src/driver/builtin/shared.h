// What the turns of the built-in agent share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "driver/builtin/builtin_driver.h"
#include "driver/model_list.h"

namespace errand::builtin {

// Finds out which models a server has: GET .../models.
class ModelFinder {
 public:
  using Found = std::move_only_function<void(Result<std::string>)>;
  using Listed = std::move_only_function<void(Result<std::vector<ListedModel>>)>;
  explicit ModelFinder(http::Client* client) : client_(client) {}
  ~ModelFinder();
  // The first of them, for those that say only where it is. Answers later, or inside where it is known already. What it
  // found is kept.
  void find(const model::Endpoint& endpoint, Found found);
  // All of them, asked anew. Answers later, or inside where nobody can be asked.
  void list(const model::Endpoint& endpoint, Listed listed);

 private:
  class Lookup;
  http::Client* client_;
  std::map<std::string, std::string> known_;                // By base URL.
  std::map<std::string, std::shared_ptr<Lookup>> running_;  // By account.
};

// R4.5: the usage limits that turns have met, by account. Others on the account wait with them, and do not ask. A limit
// is known only through the turns that met it: with the last of these it is forgotten, and those who waited because
// of them ask for themselves.
class UsageLimits {
 public:
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void limit_gone() = 0;  // It may ask. It no longer waits here when this is called.
  };

  // Until when (wall time) the limit of this account holds; never: there is none.
  Time until(const std::string& account) const;
  void met(const std::string& account, Waiter& waiter, Time until);
  void follow(const std::string& account, Waiter& waiter);
  // It waits no longer, for whatever reason. `for_good`: nor will it ask, so that others have to.
  void leave(const std::string& account, Waiter& waiter, bool for_good);
  // There is none: all who wait are told.
  void clear(const std::string& account);

 private:
  struct Limit {
    std::map<Waiter*, Time> met;
    std::set<Waiter*> followers;
  };
  void tell(std::set<Waiter*> waiters);
  std::map<std::string, Limit> limits_;
};

struct Shared {
  Shared(ModelDirectory directory, BuiltinParts all)
      : models(std::move(directory)), parts(all), ids(all.clock, all.random), finder(all.http) {}

  ModelDirectory models;
  BuiltinParts parts;
  IdSource ids;
  ModelFinder finder;
  UsageLimits usage_limits;
};

// Names the account of an endpoint in `usage_limits`.
std::string account_of(const model::Endpoint& endpoint);

}  // namespace errand::builtin
