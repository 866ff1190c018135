#include "cli/top_state.h"

#include <utility>

#include "base/text.h"
#include "cli/short_id.h"

namespace errand::cli {
namespace {

using Mode = TopState::Mode;
using Kind = TopAction::Kind;

void ask_for(TopState& state, Mode mode, std::string target, std::string_view text = {}) {
  state.mode = mode;
  state.target = std::move(target);
  state.said.clear();
  state.line.clear();
  state.line.set(text);
}

TopAction typed(TopState& state, TopModel& model, const Key& key) {
  // Ctrl-C is a signal; Ctrl-D and Ctrl-G leave a line as Escape does.
  const bool leaves = key.kind == Key::Kind::control && (key.character == U'g' || key.character == U'd') &&
                      (key.character == U'g' || state.line.empty());
  const LineEditor::Did did = leaves ? LineEditor::Did::left : state.line.take(key);
  if (did == LineEditor::Did::left) {
    if (state.mode == Mode::find) model.find({});
    state.line.clear();
    state.mode = Mode::list;
    return {};
  }
  if (state.mode == Mode::find) {
    model.find(state.line.text());
    if (did == LineEditor::Did::entered) {
      state.line.clear();
      state.mode = Mode::list;
    }
    return {};
  }
  if (did != LineEditor::Did::entered) return {};
  const Kind kind = state.mode == Mode::answer ? Kind::answer : Kind::send;
  std::string text = state.line.finish();
  state.mode = Mode::list;
  if (trim(text).empty()) return {};
  return {kind, state.target, std::move(text)};
}

TopAction confirmed(TopState& state, const Key& key) {
  state.mode = Mode::list;
  if (key.kind == Key::Kind::character && (key.character == U'y' || key.character == U'Y'))
    return {Kind::cancel, state.target, {}};
  state.say("not cancelled");
  return {};
}

TopAction on_task(TopState& state, const TopTask& task, char32_t c) {
  switch (c) {
    case U'a':
      if (task.question) {
        ask_for(state, Mode::answer, task.id);
        state.asked = *task.question;
      } else {
        state.say(short_id(task.id) + " asks nothing", true);
      }
      return {};
    case U's':
      if (task.command) {
        state.say("a command takes no messages", true);
      } else {
        ask_for(state, Mode::send, task.id);
      }
      return {};
    case U'c':
      if (task.at_work) {
        ask_for(state, Mode::confirm, task.id);
      } else {
        state.say(short_id(task.id) + " has ended already", true);
      }
      return {};
    case U'r':
      if (task.retryable) return {Kind::retry, task.id, {}};
      state.say("only a failed or cancelled task can be started again", true);
      return {};
    case U'l':
      return {Kind::logs, task.id, {}};
    default:
      return {};
  }
}

void next_show(TopState& state, TopModel& model) {
  const auto next = (static_cast<size_t>(model.shown()) + 1) % (static_cast<size_t>(TopModel::Show::failed) + 1);
  model.show(static_cast<TopModel::Show>(next));
  state.said.clear();
}

// A step of the selection; 0 where the key is none.
int64_t step(const Key& key, int rows) {
  const bool letter = key.kind == Key::Kind::character, ctrl = key.kind == Key::Kind::control;
  if (key.kind == Key::Kind::down || (letter && key.character == U'j') || (ctrl && key.character == U'n')) return 1;
  if (key.kind == Key::Kind::up || (letter && key.character == U'k') || (ctrl && key.character == U'p')) return -1;
  if (key.kind == Key::Kind::page_down || (ctrl && key.character == U'f')) return rows;
  if (key.kind == Key::Kind::page_up || (ctrl && key.character == U'b')) return -rows;
  if (key.kind == Key::Kind::home || (letter && key.character == U'g')) return INT32_MIN;
  if (key.kind == Key::Kind::end || (letter && key.character == U'G')) return INT32_MAX;
  return 0;
}

TopAction listed(TopState& state, TopModel& model, const Key& key, int rows) {
  if (const int64_t steps = step(key, rows); steps != 0) {
    model.select_by(steps);
    state.said.clear();
    return {};
  }
  const TopTask* task = model.selected();
  if (key.kind == Key::Kind::enter) return task ? TopAction{Kind::open, task->id, {}} : TopAction{};
  if (key.kind == Key::Kind::escape) {
    // Back, one thing at a time.
    if (state.peek) {
      state.peek = false;
    } else {
      model.find({});
      model.show(TopModel::Show::all);
    }
    state.said.clear();
    return {};
  }
  if (key.kind == Key::Kind::control && key.character == U'd') return {Kind::quit, {}, {}};
  if (key.kind != Key::Kind::character) return {};
  switch (key.character) {
    case U'q':
      return {Kind::quit, {}, {}};
    case U'?':
    case U'h':
      state.mode = Mode::help;
      return {};
    case U'/':
      ask_for(state, Mode::find, {}, model.found());
      return {};
    case U'f':
      next_show(state, model);
      return {};
    case U' ':
      state.peek = !state.peek;
      return {};
    default:
      return task ? on_task(state, *task, key.character) : TopAction{};
  }
}

}  // namespace

TopAction on_key(TopState& state, TopModel& model, const Key& key, int rows) {
  switch (state.mode) {
    case Mode::help:
      state.mode = Mode::list;
      return {};
    case Mode::confirm:
      return confirmed(state, key);
    case Mode::find:
    case Mode::answer:
    case Mode::send:
      return typed(state, model, key);
    case Mode::list:
      break;
  }
  return listed(state, model, key, rows);
}

}  // namespace errand::cli
