#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/version.h"
#include "driver/builtin/model_choice.h"
#include "driver/builtin/shared.h"
#include "http/client.h"
#include "model/model.h"
#include "serve/environment.h"
#include "serve/ground.h"
#include "serve/part_settings.h"
#include "serve/serve.h"

namespace errand::serve {
namespace {

constexpr model::AskLimits limits{.retries = 1, .first_byte_ms = 60'000, .silence_ms = 20'000};
// A local server may load a model of many gigabytes before its first word.
constexpr Millis patience_ms = 90'000;

std::string_view advice(model::Failure::Kind kind) {
  switch (kind) {
    case model::Failure::Kind::auth:
      return " Check the key.";
    case model::Failure::Kind::network:
      return " Check the address and the network.";
    case model::Failure::Kind::quota:
      return " The key works; its account has reached a limit.";
    case model::Failure::Kind::invalid:
      return " Check the model's name and the address.";
    default:
      return "";
  }
}

// The loop runs until it is answered.
class Trial final : public model::Listener {
 public:
  Trial(Ground& ground, model::Models& models, builtin::ModelFinder& finder, builtin::ModelChoice choice)
      : ground_(ground), models_(models), finder_(finder), choice_(std::move(choice)) {}

  Result<ModelTrial> run() {
    begun_ = ground_.clock.steady();
    const auto timer = ground_.loop->timer();
    timer->set(begun_ + patience_ms, [this] {
      end(fail(Code::unavailable, fmt::format("The model at {} did not answer within 90 s. Check the address.",
                                              choice_.endpoint.base_url)));
    });
    ground_.loop->post([this] { begin(); });
    ground_.loop->run();
    ask_.reset();
    return std::move(*result_);
  }

  void answered(model::Answer answer) override {
    end(ModelTrial{.api = std::string(model::name(choice_.endpoint.api)),
                   .base_url = choice_.endpoint.base_url,
                   .model = answer.model.empty() ? choice_.model : answer.model,
                   .ms = ground_.clock.steady() - begun_});
  }
  void failed(model::Failure failure) override {
    end(fail(Code::unavailable, failure.message + std::string(advice(failure.kind)),
             "model_" + std::string(name(failure.kind))));
  }

 private:
  void begin() {
    if (!choice_.model.empty()) return ask(choice_.model);
    finder_.find(choice_.endpoint, [this](Result<std::string> found) {
      if (!found) return end(std::unexpected(found.error()));
      ask(std::move(*found));
    });
  }
  void ask(std::string model) {
    Result<builtin::ModelChoice> named = builtin::ModelDirectory::named(std::move(choice_), std::move(model));
    if (!named) return end(std::unexpected(named.error()));
    choice_ = std::move(*named);
    model::Entry question;
    question.blocks.push_back({.text = "Answer with the single word: ok"});
    ask_ = models_.ask(choice_.endpoint,
                       {.model = choice_.model, .conversation = {std::move(question)}, .info = choice_.info}, *this);
  }
  void end(Result<ModelTrial> result) {
    if (result_) return;
    result_ = std::move(result);
    ground_.loop->stop();
  }

  Ground& ground_;
  model::Models& models_;
  builtin::ModelFinder& finder_;
  builtin::ModelChoice choice_;
  Time begun_;
  std::unique_ptr<model::Ask> ask_;
  std::optional<Result<ModelTrial>> result_;
};

}  // namespace

Result<ModelTrial> try_model(const ModelSettings& settings) {
  const std::map<std::string, std::string> environment = Environment::get().map();
  Settings all;
  all.models[""] = settings;
  const Result<builtin::ModelDirectory> directory = builtin::ModelDirectory::make(model_setups(all), {});
  if (!directory) return std::unexpected(directory.error());
  Result<builtin::ModelChoice> choice = directory->choose("");
  if (!choice) return std::unexpected(choice.error());
  Ground ground;
  http::Options options = http::options_from_environment(environment);
  options.user_agent = fmt::format("errand/{}", version);
  Result<ModelTrial> result = fail(Code::internal, "");
  {
    const std::unique_ptr<http::Client> client = http::make_client(*ground.loop, std::move(options));
    const std::unique_ptr<model::Models> models =
        model::make_models(*client, ground.timers, ground.clock, ground.random, limits);
    builtin::ModelFinder finder(client.get());
    result = Trial(ground, *models, finder, std::move(*choice)).run();
  }
  ground.stop();
  return result;
}

}  // namespace errand::serve
