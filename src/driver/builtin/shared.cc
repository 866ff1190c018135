#include "driver/builtin/shared.h"

#include <functional>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "model/place.h"

namespace errand::builtin {
namespace json = boost::json;

namespace {

constexpr int64_t list_bytes_max = 4 << 20;

http::Request list_request(const model::Endpoint& endpoint) {
  http::Request request;
  const bool anthropic = endpoint.api == model::Api::anthropic;
  request.url = model::api_url(endpoint, "models");
  if (anthropic) request.url += "?limit=1000";  // By itself it gives twenty at a time.
  if (!endpoint.key.empty()) {
    if (anthropic) {
      request.headers.emplace_back("x-api-key", endpoint.key);
    } else {
      request.headers.emplace_back("authorization", "Bearer " + endpoint.key);
    }
  }
  if (anthropic) request.headers.emplace_back("anthropic-version", "2023-06-01");
  for (const auto& [name, value] : endpoint.headers) request.headers.emplace_back(name, value);
  request.first_byte_ms = request.silence_ms = 20'000;
  request.body_max = list_bytes_max;
  return request;
}

std::string text_of(const json::object& fields, std::string_view name) {
  const json::value* const value = fields.if_contains(name);
  return value != nullptr && value->is_string() && value->get_string().size() <= listed_model_name_max
             ? std::string(value->get_string())
             : std::string();
}

// {"data":[{"id":"...","display_name":"..."}]}: what both families answer.
std::vector<ListedModel> read_models(std::string_view body) {
  std::vector<ListedModel> models;
  boost::system::error_code error;
  const json::value value = json::parse(body, error);
  const json::object* const object = error ? nullptr : value.if_object();
  const json::value* const data = object == nullptr ? nullptr : object->if_contains("data");
  if (data == nullptr || !data->is_array()) return models;
  for (const json::value& entry : data->get_array()) {
    const json::object* const fields = entry.if_object();
    if (fields == nullptr || models.size() >= listed_models_max) continue;
    ListedModel listed{.id = text_of(*fields, "id"), .name = text_of(*fields, "display_name")};
    if (!listed.id.empty()) models.push_back(std::move(listed));
  }
  return models;
}

}  // namespace

class ModelFinder::Lookup final : public http::Handler {
 public:
  Lookup(ModelFinder& owner, model::Endpoint endpoint) : owner_(owner), endpoint_(std::move(endpoint)) {}

  void start() { call_ = owner_.client_->start(list_request(endpoint_), *this); }
  void wait(Listed listed) { waiting_.push_back(std::move(listed)); }

  void head(const http::Head& head) override { status_ = head.status; }
  void body(std::string_view bytes) override { body_ += bytes; }
  void done(Status status) override {
    Result<std::vector<ListedModel>> listed = std::unexpected(why_not(status));
    if (status && status_ == 200)
      if (std::vector<ListedModel> models = read_models(body_); !models.empty()) listed = std::move(models);
    const std::shared_ptr<Lookup> self = owner_.running_.extract(account_of(endpoint_)).mapped();
    if (listed) owner_.known_.insert_or_assign(endpoint_.base_url, listed->front().id);
    for (Listed& waiting : waiting_) waiting(listed);
  }

 private:
  Error why_not(const Status& status) const {
    const std::string& place = endpoint_.base_url;
    if (!status)
      return {Code::unavailable,
              fmt::format("{} Check the address ({}), and that a server runs there.", status.error().message, place),
              "unreachable"};
    if (status_ == 401 || status_ == 403)
      return {Code::unavailable,
              fmt::format("The server at {} refuses {} (HTTP {}). Check the key.", place,
                          endpoint_.key.empty() ? "to answer without a key" : "the key", status_),
              "no_key"};
    return {Code::unavailable,
            fmt::format("The server at {} did not say which models it has (HTTP {}).", place, status_), "no_models"};
  }

  ModelFinder& owner_;
  const model::Endpoint endpoint_;
  std::vector<Listed> waiting_;
  std::unique_ptr<http::Call> call_;
  int status_ = 0;
  std::string body_;
};

ModelFinder::~ModelFinder() = default;

void ModelFinder::list(const model::Endpoint& endpoint, Listed listed) {
  if (client_ == nullptr)
    return listed(fail(Code::unavailable, "This server does not ask for models: name one.", "no_models"));
  const std::string account = account_of(endpoint);
  if (const auto running = running_.find(account); running != running_.end())
    return running->second->wait(std::move(listed));
  auto lookup = std::make_shared<Lookup>(*this, endpoint);
  lookup->wait(std::move(listed));
  running_.emplace(account, lookup);
  lookup->start();
}

void ModelFinder::find(const model::Endpoint& endpoint, Found found) {
  if (const auto known = known_.find(endpoint.base_url); known != known_.end()) return found(known->second);
  if (client_ == nullptr)
    return found(fail(Code::unavailable, "No model is named: set `model` of the launch or the agent.", "no_model"));
  list(endpoint, [found = std::move(found)](Result<std::vector<ListedModel>> listed) mutable {
    if (listed) return found(listed->front().id);
    std::string why = std::move(listed.error().message);
    if (listed.error().reason == "no_models")
      why +=
          " Check the address, or name a model: `model` of the launch or the agent, ERRAND_MODEL, or [model] model in "
          "errand.toml.";
    found(fail(listed.error().code, std::move(why), "no_model"));
  });
}

Time UsageLimits::until(const std::string& account) const {
  Time until;
  if (const auto limit = limits_.find(account); limit != limits_.end())
    for (const auto& [waiter, at] : limit->second.met) until = std::max(until, at);
  return until;
}

void UsageLimits::met(const std::string& account, Waiter& waiter, Time until) {
  Limit& limit = limits_[account];
  limit.followers.erase(&waiter);
  limit.met[&waiter] = until;
}

void UsageLimits::follow(const std::string& account, Waiter& waiter) {
  Limit& limit = limits_[account];
  if (!limit.met.contains(&waiter)) limit.followers.insert(&waiter);
}

void UsageLimits::leave(const std::string& account, Waiter& waiter, bool for_good) {
  const auto found = limits_.find(account);
  if (found == limits_.end()) return;
  Limit& limit = found->second;
  limit.followers.erase(&waiter);
  const bool had_met = limit.met.erase(&waiter) > 0;
  std::set<Waiter*> free;
  if (had_met && for_good && limit.met.empty()) free.swap(limit.followers);
  if (limit.met.empty() && limit.followers.empty()) limits_.erase(found);
  tell(std::move(free));
}

void UsageLimits::clear(const std::string& account) {
  const auto found = limits_.find(account);
  if (found == limits_.end()) return;
  std::set<Waiter*> free = std::move(found->second.followers);
  for (const auto& [waiter, at] : found->second.met) free.insert(waiter);
  limits_.erase(found);
  tell(std::move(free));
}

void UsageLimits::tell(std::set<Waiter*> waiters) {
  for (Waiter* const waiter : waiters) waiter->limit_gone();
}

std::string account_of(const model::Endpoint& endpoint) {
  return fmt::format("{} {:x}", endpoint.base_url, std::hash<std::string>()(endpoint.key));
}

}  // namespace errand::builtin
