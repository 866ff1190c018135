#include "serve/model_lists.h"

#include <utility>

#include <fmt/format.h>

namespace errand::serve {
namespace {

constexpr Millis patience_ms = 20'000;  // Of one who looks: the start of a program takes a few seconds.
constexpr Millis good_ms = 5 * 60'000;  // Providers rarely have a new model.
constexpr Millis failed_ms = 10'000;    // A failure may be over soon, and must not be asked for with every key.
constexpr size_t waiting_max = 100;     // For one agent.
constexpr size_t entries_max = 200;     // Then all are forgotten, and asked for anew.

// What the list depends on.
std::string key_of(const Agent& agent) {
  std::string key = agent.driver + "\n" + agent.model;
  for (const auto& [name, value] : agent.options) key.append("\n").append(name).append("=").append(value);
  return key;
}

}  // namespace

const Result<ListedModels>* ModelLists::remembered(const Entry& entry) const {
  if (!entry.last) return nullptr;
  const Millis age = clock_.steady() - entry.said_at;
  return age < (*entry.last ? good_ms : failed_ms) ? &*entry.last : nullptr;
}

void ModelLists::answer(Entry& entry, const Result<ListedModels>& listed) {
  for (ModelList::Listed& done : std::exchange(entry.waiting, {})) done(listed);
}

void ModelLists::list(const Agent& agent, ModelList::Listed done) {
  ModelList* const source = list_of_(agent);
  if (source == nullptr) return done(ListedModels());
  if (entries_.size() >= entries_max && !entries_.contains(agent.id))
    std::erase_if(entries_, [](const auto& each) { return each.second->waiting.empty(); });
  std::shared_ptr<Entry>& known = entries_[agent.id];
  // Who waits for the answer of how it was set up before still gets that one.
  if (!known || known->key != key_of(agent)) {
    known = std::make_shared<Entry>(timers_);
    known->key = key_of(agent);
  }
  const std::shared_ptr<Entry> entry = known;
  if (const Result<ListedModels>* last = remembered(*entry)) return done(*last);
  if (entry->waiting.size() >= waiting_max)
    return done(fail(Code::unavailable, "Too many ask for the models of this agent: try again later.", "busy"));
  entry->waiting.push_back(std::move(done));
  if (!entry->patience.pending())
    entry->patience.set(patience_ms, [raw = entry.get(), name = agent.name] {
      answer(*raw, fail(Code::unavailable,
                        fmt::format("{} did not say in time which models it has: try again, or name one.", name),
                        "no_models"));
    });
  if (std::exchange(entry->asking, true)) return;
  source->list_models(agent, [this, here = alive_.watch(), entry](Result<ListedModels> listed) {
    if (here.gone()) return;
    entry->asking = false;
    entry->patience.cancel();
    entry->said_at = clock_.steady();
    entry->last = std::move(listed);
    // A copy: one that is answered may ask again, and another answer come inside.
    answer(*entry, Result<ListedModels>(*entry->last));
  });
}

}  // namespace errand::serve
