// What the turns of the built-in agent share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "driver/builtin/builtin_driver.h"

namespace errand::builtin {

// Finds out which model a server has, for those that say only where it is: the first of GET .../models.
class ModelFinder {
 public:
  using Found = std::move_only_function<void(Result<std::string>)>;
  explicit ModelFinder(http::Client* client) : client_(client) {}
  ~ModelFinder();
  // Answers later, or inside where it is known already. What it found is kept.
  void find(const model::Endpoint& endpoint, Found found);

 private:
  class Lookup;
  http::Client* client_;
  std::map<std::string, std::string> known_;  // By base URL.
  std::map<std::string, std::shared_ptr<Lookup>> running_;
};

struct Shared {
  Shared(ModelDirectory directory, BuiltinParts all)
      : models(std::move(directory)), parts(all), ids(all.clock, all.random), finder(all.http) {}

  ModelDirectory models;
  BuiltinParts parts;
  IdSource ids;
  ModelFinder finder;
  // R4.5: until when an account's usage limit holds (wall time). Others on it wait too, and do not ask.
  std::map<std::string, Time> quota_until;
};

// Names the account of an endpoint in `quota_until`.
std::string account_of(const model::Endpoint& endpoint);

}  // namespace errand::builtin
