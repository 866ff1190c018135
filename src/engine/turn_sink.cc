#include "engine/turn_sink.h"

#include <utility>

#include "engine/reports.h"
#include "engine/turns.h"

namespace errand {

void TurnSink::report(std::vector<Report> reports, std::string checkpoint) {
  if (!ended_) reports_.reported(*this, std::move(reports), std::move(checkpoint));
}

void TurnSink::when_stored(Work then) {
  if (!ended_) reports_.when_stored(*this, std::move(then));
}

bool TurnSink::has_room() const { return reports_.has_room(*this); }

void TurnSink::when_room(Work then) {
  if (!ended_) reports_.when_room(*this, std::move(then));
}

void TurnSink::ended(Outcome outcome) {
  if (std::exchange(ended_, true)) return;
  turns_.ended(*this, std::move(outcome));
}

void Turns::ended(TurnSink& sink, Outcome outcome) {
  const LivePtr live = sink.live();
  if (!live) return;
  live->finished_run = sink.run();
  deadlines_.disarm(*live);
  if (live->removed) {
    bury(*live);
    ghost_gone(live);
    return;
  }
  if (outcome.kind == Outcome::Kind::lost) {
    lives_.submit(
        live, {.input = input::Lost{sink.run(), outcome.error
                                                    ? outcome.error->message
                                                    : "The server or the supervisor stopped while it ran, so it is not "
                                                      "known how far it got. Retry starts it again."}});
    bury(*live);
    return;
  }
  input::TurnEnded ended{.run = sink.run(),
                         .result = std::move(outcome.result),
                         .error = std::move(outcome.error),
                         .exit_code = outcome.exit_code,
                         .signal = outcome.signal,
                         .artifacts = std::move(outcome.artifacts)};
  switch (outcome.kind) {
    case Outcome::Kind::completed:
      ended.outcome = input::TurnEnded::Outcome::completed;
      break;
    case Outcome::Kind::failed:
      ended.outcome = input::TurnEnded::Outcome::failed;
      break;
    default:
      ended.outcome = input::TurnEnded::Outcome::stopped;
      break;
  }
  lives_.submit(live, {.input = std::move(ended)});
  bury(*live);
}

}  // namespace errand
