// The models that an agent can be asked for, as its provider or its program lists them now. A driver that can say so is
// one of these beside being a Driver; what no list has can be named all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/agent.h"

namespace errand {

struct ListedModel {
  std::string id;    // As a launch's `model` names it.
  std::string name;  // For people; empty: the id says it.
  bool operator==(const ListedModel&) const = default;
};

// Who says so: the model's provider, the agent's program, or nobody was asked and these are the names that the program
// is documented to take.
enum class ListedBy : uint8_t { provider, program, documentation };
constexpr std::string_view name(ListedBy by) {
  return by == ListedBy::provider ? "provider" : by == ListedBy::program ? "program" : "documentation";
}

struct ListedModels {
  std::vector<ListedModel> models;  // In the order of who lists them.
  ListedBy by = ListedBy::provider;
};

// What is longer is left out: a name for nobody, and more models than anybody reads.
inline constexpr size_t listed_model_name_max = 200, listed_models_max = 2'000;

class ModelList {
 public:
  virtual ~ModelList() = default;
  // Later or inside, on the engine's thread, once; never after the driver is destroyed. May take as long as the network
  // or the start of a program does: the caller bounds its own patience.
  using Listed = std::move_only_function<void(Result<ListedModels>)>;
  virtual void list_models(const Agent& agent, Listed done) = 0;
};

}  // namespace errand
