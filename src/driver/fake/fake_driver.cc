#include "driver/fake/fake_driver.h"

#include <algorithm>
#include <utility>

#include "driver/agent_driver.h"
#include "driver/fake/fake_turn.h"
#include "driver/fake/place.h"
#include "driver/work_dir.h"

namespace errand::fake {
namespace {

const Message* find(const std::vector<Message>& messages, const std::string& id) {
  const auto it = std::ranges::find(messages, id, [](const Message& m) -> const std::string& { return m.id.value; });
  return it == messages.end() ? nullptr : &*it;
}

// What the messages `ids` ask for. Found wherever they stand: a turn that is taken up again (and a retry) has them in
// its history.
Result<Prompt> prompt_of(const TurnRequest& request, const std::vector<std::string>& ids) {
  Prompt prompt{.text = {}, .earlier = 0, .task = request.task};
  bool given_again = false;
  if (ids.empty()) prompt.text = request.task->launch.prompt;
  for (const std::string& id : ids) {
    const Message* message = find(request.messages, id);
    if (!message) message = find(request.history, id);
    if (!message) return fail(Code::not_found, "A message that began the turn is gone; start a new task.");
    if (!prompt.text.empty()) prompt.text += '\n';
    prompt.text += text_of(*message);
    // A retry is a turn of its own; what was sent with it is of that turn, what it gives again is of earlier ones.
    if (message->turn == request.task->turn)
      prompt.retried_with += (prompt.retried_with.empty() ? "" : "\n") + text_of(*message);
    else
      given_again = true;
  }
  if (!given_again || request.task->attempt == 1) prompt.retried_with.clear();
  for (const Message& message : request.history) {
    if (!ids.empty() && message.id.value == ids.front()) break;
    if (message.role == Role::user) ++prompt.earlier;
  }
  return prompt;
}

}  // namespace

Misbehaviour random_misbehaviour(SeededRandom& random, uint64_t one_in) {
  Misbehaviour m;
  for (bool* flag : {&m.refuse_open, &m.end_in_open, &m.silent, &m.late_report, &m.end_twice, &m.talk_after_stop,
                     &m.ignore_stop, &m.drop_messages, &m.ignore_answers, &m.garbage, &m.lost})
    *flag = random.one_in(one_in);
  return m;
}

Status FakeDriver::check(const Launch& launch) const { return check_prompt(launch); }

Driver::Look FakeDriver::look(const Launch& launch) const {
  if (!options_.checks_work_dir) return {};
  return [folder = launch.work_dir] { return check_folder("work_dir", folder); };
}

Result<std::unique_ptr<Turn>> FakeDriver::open(TurnRequest request, Sink& sink) {
  const Misbehaviour misbehaviour = options_.misbehave ? options_.misbehave(request) : Misbehaviour{};
  if (misbehaviour.refuse_open) return fail(Code::unavailable, "The agent does not start; try again later.");
  const bool taken_up = request.reattach && !request.task->checkpoint.empty();
  Place place;
  if (taken_up) {
    Result<Place> stored = decode_place(request.task->checkpoint);
    if (!stored) return std::unexpected(stored.error());
    place = *std::move(stored);
    if (!options_.capabilities.keeps_message) place.open = false;
  } else {
    for (const Message& message : request.messages) place.prompt.push_back(message.id.value);
  }
  const Result<Prompt> prompt = prompt_of(request, place.prompt);
  if (!prompt) return std::unexpected(prompt.error());
  FakeTurn::Setup setup{
      .script = options_.script(*prompt), .misbehaviour = misbehaviour, .stop_ms = options_.stop_ms, .live = live_};
  auto turn = std::make_unique<FakeTurn>(timers_, sink, std::move(setup), request, std::move(place));
  turn->begin(request, taken_up);
  return turn;
}

}  // namespace errand::fake
