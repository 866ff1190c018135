// Asking: one question, its tries and its end.
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/alive.h"
#include "model/decode.h"
#include "model/encode.h"
#include "model/errors.h"
#include "model/model.h"
#include "model/secrets.h"

namespace errand::model {
namespace {

constexpr size_t error_body_max = 64 << 10;
// A server that has said all and keeps the connection open is not waited for longer than this.
constexpr Millis linger_ms = 2'000;

struct World {
  http::Client& client;
  Timers& timers;
  Clock& clock;
  Random& random;
  AskLimits limits;
};

class AskImpl final : public Ask, private http::Handler {
 public:
  AskImpl(World& world, const Endpoint& endpoint, Request request, Listener& listener)
      : world_(world), endpoint_(endpoint), listener_(listener), timer_(world.timers) {
    secrets_ = secrets_of(endpoint_);
    info_ = request.info.value_or(model_info(request.model));
    wire_ = encode(endpoint_, request);
    wire_.connect_ms = world_.limits.connect_ms;
    wire_.first_byte_ms = world_.limits.first_byte_ms;
    wire_.silence_ms = world_.limits.silence_ms;
    wire_.body_max = world_.limits.answer_bytes_max;
    begin_try();
  }
  AskImpl(const AskImpl&) = delete;
  AskImpl& operator=(const AskImpl&) = delete;
  ~AskImpl() override = default;
  void hold() override {
    if (call_) call_->hold();
  }
  void go_on() override {
    if (call_) call_->go_on();
  }

 private:
  void begin_try() {
    head_.reset();
    body_.clear();
    filters_.clear();
    decoder_ = Decoder::make(endpoint_.api, fmt::format("call_{:016x}_", world_.random.next()));
    call_ = world_.client.start(wire_, *this);
  }

  bool is_good() const { return head_ && head_->status == 200; }
  bool is_stream() const { return !head_->header("content-type").starts_with("application/json"); }

  void head(const http::Head& head) override { head_ = head; }

  void body(std::string_view bytes) override {
    if (!is_good() || !is_stream()) {
      const size_t room = is_good() ? static_cast<size_t>(world_.limits.answer_bytes_max) : error_body_max;
      if (body_.size() < room) body_.append(bytes.substr(0, room - body_.size()));
      return;
    }
    std::vector<Delta> deltas;
    const bool more = decoder_->feed(bytes, deltas);
    if (!tell(deltas)) return;
    if (more) return;
    if (decoder_->error()) return over();
    // The connection is worth keeping for the next question: its end is near.
    timer_.set(linger_ms, [this] { over(); });
  }

  void done(Status status) override {
    timer_.cancel();
    if (is_good() && decoder_->complete()) return over();
    if (!status) return refused(judge_network(status.error(), decoder_->began()));
    if (!is_good()) return refused(judge_status(*head_, body_, world_.limits, world_.clock.wall()));
    if (!is_stream()) {
      std::vector<Delta> deltas;
      decoder_->document(body_, deltas);
      if (!tell(deltas)) return;
    }
    over();
  }

  // The stream is over, well or not.
  void over() {
    timer_.cancel();
    call_.reset();
    const bool began = decoder_->began();
    if (!tell_held()) return;
    std::optional<Answer> answer = decoder_->finish();
    if (!answer) {
      const ProviderError cut{.message = "The model's answer ended in the middle.", .malformed = true};
      return refused(judge_stream(decoder_->error().value_or(cut), began));
    }
    for (Block& block : answer->blocks) hide(block);
    if (answer->cost_usd > 0) {
      answer->cost_from = CostFrom::provider;
    } else if (answer->use_known && info_.priced()) {
      answer->cost_usd = cost_usd(info_, answer->use);
      answer->cost_from = info_.set ? CostFrom::setting : CostFrom::table;
    }
    listener_.answered(std::move(*answer));  // May destroy this.
  }

  void refused(Refusal refusal) {
    call_.reset();
    if (!tell_held()) return;
    Failure& failure = refusal.failure;
    failure.message = redact(std::move(failure.message), endpoint_);
    if (!refusal.try_again || tries_ >= world_.limits.retries) {
      listener_.failed(std::move(failure));  // May destroy this.
      return;
    }
    const double chance = static_cast<double>(world_.random.next() >> 11) * 0x1p-53;
    const Millis wait = refusal.asked_ms.value_or(backoff(world_.limits, tries_, chance));
    ++tries_;
    const Alive::Watch here = alive_.watch();
    listener_.retrying(tries_, wait, failure);
    if (here.gone()) return;
    timer_.set(wait, [this] { begin_try(); });
  }

  // False: the listener has ended the question, and this is gone.
  bool tell(std::vector<Delta>& deltas) {
    const Alive::Watch here = alive_.watch();
    for (Delta& delta : deltas) {
      switch (delta.kind) {
        case Delta::Kind::began:
          hide(delta.block);
          listener_.block_began(delta.index, delta.block);
          break;
        case Delta::Kind::text:
        case Delta::Kind::input:
          tell_piece(delta.kind, delta.index, filter(delta.kind, delta.index).feed(delta.text));
          break;
      }
      if (here.gone()) return false;
    }
    return true;
  }

  void tell_piece(Delta::Kind kind, size_t index, const std::string& text) {
    if (text.empty()) return;
    if (kind == Delta::Kind::text)
      listener_.text(index, text);
    else
      listener_.input(index, text);
  }

  // What was held back because a secret might have begun there. False as above.
  bool tell_held() {
    const Alive::Watch here = alive_.watch();
    for (auto& [of, filter] : std::exchange(filters_, {})) {
      tell_piece(of.second, of.first, filter.end());
      if (here.gone()) return false;
    }
    return true;
  }

  // A server that quotes our key: nobody who hears of the answer hears of it.
  void hide(Block& block) const {
    for (std::string* text : {&block.text, &block.input, &block.call_id, &block.name, &block.opaque})
      *text = without_secrets(std::move(*text), secrets_);
  }

  SecretFilter& filter(Delta::Kind kind, size_t index) {
    return filters_.try_emplace({index, kind}, secrets_).first->second;
  }

  World& world_;
  const Endpoint endpoint_;
  Listener& listener_;
  std::vector<std::string> secrets_;
  std::map<std::pair<size_t, Delta::Kind>, SecretFilter> filters_;  // Of the texts that are coming.
  ModelInfo info_;
  http::Request wire_;
  int tries_ = 0;
  std::optional<http::Head> head_;
  std::string body_;  // Of a refusal, or of a server that does not stream.
  std::unique_ptr<Decoder> decoder_;
  Timer timer_;
  std::unique_ptr<http::Call> call_;
  Alive alive_;
};

class ModelsImpl final : public Models {
 public:
  explicit ModelsImpl(World world) : world_(world) {}
  std::unique_ptr<Ask> ask(const Endpoint& endpoint, Request request, Listener& listener) override {
    return std::make_unique<AskImpl>(world_, endpoint, std::move(request), listener);
  }

 private:
  World world_;
};

}  // namespace

std::unique_ptr<Models> make_models(http::Client& client, Timers& timers, Clock& clock, Random& random,
                                    const AskLimits& limits) {
  return std::make_unique<ModelsImpl>(World{client, timers, clock, random, limits});
}

}  // namespace errand::model
