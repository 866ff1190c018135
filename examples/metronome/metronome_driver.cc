#include "examples/metronome/metronome_driver.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace errand::example {
namespace {

constexpr int ticks_max = 1'000;
constexpr int interval_ms_max = 60'000;

// What a message asks for.
struct Beat {
  std::optional<int> ticks;  // Absent: until it is stopped.
  int interval_ms = 0;
};

std::optional<int> parse_number(std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) return std::nullopt;
  return number;
}

// Messages come from outside: everything that is not exactly right is refused.
std::optional<Beat> parse_beat(std::string_view text) {
  if (!text.starts_with("tick ")) return std::nullopt;
  text.remove_prefix(5);
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view ticks = text.substr(0, space);
  const std::optional<int> interval_ms = parse_number(text.substr(space + 1), 1, interval_ms_max);
  if (!interval_ms) return std::nullopt;
  if (ticks == "on") return Beat{.ticks = std::nullopt, .interval_ms = *interval_ms};
  const std::optional<int> count = parse_number(ticks, 1, ticks_max);
  if (!count) return std::nullopt;
  return Beat{.ticks = count, .interval_ms = *interval_ms};
}

class MetronomeTurn final : public Turn {
 public:
  // `said`: how many ticks of this turn are stored already.
  MetronomeTurn(Timers& timers, Sink& sink, std::optional<Beat> beat, int said)
      : sink_(sink), timer_(timers), beat_(beat), said_(said) {}
  // ~Timer cancels the next tick. Nothing else is at work, so nothing goes on without the server.

  // A turn begins inside Driver::open. It may report there; whatever can end it comes later, from the timer.
  void begin(const std::vector<Message>& messages) {
    std::vector<Report> taken;
    for (const Message& message : messages) taken.push_back(report::Taken{message.id});
    if (!taken.empty()) sink_.report(std::move(taken), checkpoint());
    wait();
  }

  Status send(const Message& /*message*/) override {
    if (ended_) return fail(Code::conflict, "The turn has ended.");
    return fail(Code::unsupported, "The metronome takes no messages while it ticks.");
  }
  void answer(const std::string& /*request_id*/, const std::string& /*decision*/,
              const std::string& /*message*/) override {}  // It asks nothing.
  void stop() override { end({.kind = Outcome::Kind::stopped}); }
  void drop() override {
    ended_ = true;
    timer_.cancel();
  }
  void probe() override {
    if (!ended_) sink_.report({report::Alive{}}, checkpoint());
  }

 private:
  // Where to go on after a restart. The engine stores it in the same commit as the reports that it comes with.
  std::string checkpoint() const { return std::to_string(said_); }

  void wait() {
    timer_.set(beat_ ? beat_->interval_ms : 0, [this] { tick(); });
  }

  void tick() {
    if (!beat_)
      return end({.kind = Outcome::Kind::failed,
                  .error = TaskError{.code = "bad_message",
                                     .message = "Send \"tick COUNT MILLISECONDS\" or \"tick on MILLISECONDS\"."}});
    if (said_ == beat_->ticks)
      return end({.kind = Outcome::Kind::completed, .result = fmt::format("{} ticks.", said_)});
    // A disk that is slower than this source makes it wait, so that nothing piles up in memory.
    if (!sink_.has_room()) return sink_.when_room([this] { tick(); });
    ++said_;
    // One report is one commit: a tick is stored whole or not at all.
    sink_.report({report::MessageBegan{}, report::Text{.text = fmt::format("♪ {}", said_)}, report::MessageEnded{}},
                 checkpoint());
    wait();
  }

  void end(Outcome outcome) {
    if (std::exchange(ended_, true)) return;
    timer_.cancel();
    sink_.ended(std::move(outcome));
  }

  Sink& sink_;
  Timer timer_;
  const std::optional<Beat> beat_;
  int said_;
  bool ended_ = false;
};

class MetronomeDriver final : public Driver {
 public:
  explicit MetronomeDriver(Timers& timers) : timers_(timers) {}

  Capabilities capabilities() const override { return {.resume = true, .reattach = true}; }

  Status check(const Launch& launch) const override {
    if (launch.kind != TaskKind::agent) return fail(Code::invalid_argument, "The metronome takes a message.");
    return {};
  }

  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    int said = 0;
    if (request.reattach && !request.task->checkpoint.empty()) {
      const std::optional<int> stored = parse_number(request.task->checkpoint, 0, ticks_max);
      if (!stored) return fail(Code::internal, "The metronome's place in this turn cannot be read.");
      said = *stored;
    }
    auto turn = std::make_unique<MetronomeTurn>(timers_, sink, parse_beat(asked(request)), said);
    turn->begin(request.messages);
    return turn;
  }

 private:
  // The last thing that a person said. A turn that is taken up again finds it in its history.
  static std::string asked(const TurnRequest& request) {
    if (!request.messages.empty()) return text_of(request.messages.back());
    for (auto message = request.history.rbegin(); message != request.history.rend(); ++message)
      if (message->role == Role::user) return text_of(*message);
    return request.task->launch.prompt;
  }

  Timers& timers_;
};

}  // namespace

std::unique_ptr<Driver> make_metronome_driver(Timers& timers) { return std::make_unique<MetronomeDriver>(timers); }

}  // namespace errand::example
