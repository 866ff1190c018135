#include "cli/top_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "cli/duration.h"
#include "cli/reply_words.h"
#include "cli/short_id.h"
#include "cli/table.h"
#include "cli/width.h"
#include "cli/wrap.h"

namespace errand::cli {
namespace {

using Mode = TopState::Mode;

constexpr int least_width = 60, least_height = 8;
constexpr const char* hints =
    "↑↓ move  Enter open  Space peek  a answer  s send  c cancel  r retry  l log  / find  f filter  ? help  q quit";
constexpr const char* short_hints = "Enter open  Space peek  a answer  s send  c cancel  r retry  l log  ? help  q";

constexpr std::string_view help[] = {
    "j k ↑ ↓        the next task, the one before",
    "g G            the first, the last; Page Up and Page Down a page",
    "Enter          talk with an agent's task (errand attach); a command's log",
    "Space          peek: where it works, what it asks, what it said last",
    "a              answer what it asks",
    "s              send it a message; a completed task goes on with it",
    "c              cancel it: stops it and all its processes; asks first",
    "r              start a failed or cancelled task again",
    "l              its log or conversation, live",
    "/              only tasks with this text in title, agent, id, status or folder",
    "f              only one group, then the next; only the failed; all",
    "Esc            close the pane; all tasks again",
    "Ctrl-Z         stop errand top; fg brings it back",
    "q              leave; the tasks go on",
};

std::string filled(std::string_view text, const TopLook& look, std::string_view style) {
  return styled(pad(text, look.width), style, look.colours);
}

std::string_view show_name(TopModel::Show show) {
  constexpr std::string_view names[] = {"all", "needs you", "running", "waiting", "done", "failed"};
  return names[static_cast<size_t>(show)];
}

std::string head_of(const TopModel& model, const TopState& state, const TopLook& look) {
  std::string left =
      fmt::format(" errand  {} need{} you · {} running · {} waiting · {}{} done", model.count(Group::needs_you),
                  model.count(Group::needs_you) == 1 ? "s" : "", model.count(Group::running),
                  model.count(Group::waiting), model.count(Group::done), model.cut() ? "+" : "");
  std::string right;
  if (model.shown() != TopModel::Show::all) right += fmt::format("only {} ", show_name(model.shown()));
  if (!model.found().empty()) right += fmt::format("/{} ", shown_line(model.found()));
  if (state.loading) right += "reading… ";
  if (state.lost) right = "waiting for the server to come back ";
  right = fit(right, look.width / 2);
  return pad(left, look.width - width_of(right)) + right;
}

struct Widths {
  int id = 10, status = 11, title, agent, time = 8, now;
};

Widths widths_of(int width) {
  Widths w;
  w.agent = width >= 100 ? 12 : 8;
  const int rest = std::max(10, width - 2 - w.id - w.status - w.agent - w.time - 5);
  w.now = width >= 70 ? rest * 45 / 100 : 0;
  w.title = rest - w.now;
  return w;
}

// How long it has worked or worked; of one that has not begun, how long it has waited.
std::string time_of(const TopTask& task, Time now) {
  const Time from = task.started_at ? task.started_at : task.created_at;
  const Time to = task.at_work ? now : task.completed_at;
  return from && to && to >= from ? clock_duration(to - from) : std::string();
}

std::string row_of(const TopTask& task, const Widths& w, bool selected, const TopLook& look) {
  const std::string cells[] = {pad(short_id(task.id), w.id),
                               pad(task.status, w.status),
                               pad(task.title, w.title),
                               pad(task.agent, w.agent),
                               pad_left(time_of(task, look.now), w.time),
                               pad(task.now, w.now)};
  const std::string_view styles[] = {"1", task.style, "", "2", "", "2"};
  std::string line = selected ? "▸ " : "  ";
  for (size_t i = 0; i < std::size(cells); ++i) {
    if (i) line += ' ';
    line += selected ? cells[i] : styled(cells[i], styles[i], look.colours);
  }
  return selected ? filled(line, look, "7") : line;
}

int pane_rows(const TopState& state, const TopLook& look) {
  const bool open = state.peek || state.mode == Mode::answer;
  return open ? std::clamp(look.height / 3, 5, 16) : 0;
}

void put_prompt(Frame& frame, const TopState& state, const std::string& prompt, const TopLook& look) {
  const std::string before = fit(prompt, look.width / 2);
  const LineEditor::Shown shown = state.line.shown(look.width - width_of(before));
  frame.lines.push_back(styled(before, "1", look.colours) + shown.text);
  frame.cursor_row = look.height - 1;
  frame.cursor_column = width_of(before) + shown.cursor;
}

void put_bottom(Frame& frame, TopModel& model, const TopState& state, const TopLook& look) {
  const TopTask* target = model.get(state.target);
  const std::string id = short_id(state.target);
  switch (state.mode) {
    case Mode::find:
      return put_prompt(frame, state, "find: ", look);
    case Mode::answer:
      return put_prompt(frame, state, fmt::format("answer {}: ", id), look);
    case Mode::send:
      return put_prompt(frame, state, fmt::format("send {}: ", id), look);
    case Mode::confirm:
      frame.lines.push_back(
          filled(fit(fmt::format("Cancel {} and stop all its processes? y/n  {}", id, target ? target->title : ""),
                     look.width),
                 look, "1;31"));
      return;
    default:
      break;
  }
  if (!state.said.empty()) {
    frame.lines.push_back(
        styled(fit(shown_line(state.said), look.width), state.said_error ? "31" : "32", look.colours));
  } else {
    frame.lines.push_back(
        styled(fit(look.width >= width_of(hints) ? hints : short_hints, look.width), "2", look.colours));
  }
}

}  // namespace

int list_rows(const TopState& state, const TopLook& look) {
  return std::max(1, look.height - 2 - pane_rows(state, look));
}

std::vector<std::string> question_lines(const WaitingInfo& question, int width) {
  std::vector<std::string> lines;
  const std::string text = without_escapes(question.text, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show);
  for (std::string& line : wrap(text, width)) lines.push_back(std::move(line));
  for (const std::string& option : numbered_options(question)) lines.push_back(fit("  " + shown_line(option), width));
  return lines;
}

Frame draw_text(const std::string& head, const std::vector<std::string>& lines, const std::string& foot,
                const TopLook& look) {
  Frame frame;
  frame.lines.push_back(filled(head, look, "7"));
  for (int i = 0; i < look.height - 2; ++i)
    frame.lines.push_back(i < std::ssize(lines) ? lines[static_cast<size_t>(i)] : std::string());
  frame.lines.push_back(styled(fit(foot, look.width), "2", look.colours));
  return frame;
}

Frame draw_top(TopModel& model, TopState& state, const std::vector<std::string>& about, const TopLook& look) {
  Frame frame;
  if (look.width < least_width || look.height < least_height) {
    frame.lines.assign(static_cast<size_t>(std::max(1, look.height)), "");
    frame.lines[0] = fit("The window is too small.", look.width);
    return frame;
  }
  if (state.mode == Mode::help) {
    std::vector<std::string> lines = {""};
    for (const std::string_view line : help) lines.push_back(fit(fmt::format("  {}", line), look.width));
    return draw_text(" errand top: the keys", lines, "any key goes back", look);
  }
  frame.lines.push_back(filled(head_of(model, state, look), look, "7"));
  const std::vector<TopModel::Entry>& entries = model.entries();
  const auto rows = static_cast<size_t>(list_rows(state, look));
  const size_t at = model.selected_at();
  // The heading above the first task of a group is seen with it.
  const size_t first = at > 0 && !entries[at - 1].task ? at - 1 : at;
  if (state.scroll > first) state.scroll = first;
  if (at >= state.scroll + rows) state.scroll = at - rows + 1;
  if (entries.size() <= rows) state.scroll = 0;
  state.scroll = std::min(state.scroll, entries.size() > rows ? entries.size() - rows : 0);

  const Widths widths = widths_of(look.width);
  for (size_t i = state.scroll; i < state.scroll + rows; ++i) {
    if (i >= entries.size()) {
      frame.lines.emplace_back();
    } else if (!entries[i].task) {
      frame.lines.push_back(styled(std::string(title_of(entries[i].group)), "1", look.colours));
    } else {
      frame.lines.push_back(row_of(*entries[i].task, widths, i == at, look));
    }
  }
  if (entries.empty() && !state.loading)
    frame.lines[std::min<size_t>(2, frame.lines.size() - 1)] =
        fit(model.size() > 0 ? "  No task matches. Esc shows all tasks."
                             : "  No tasks yet. Start one with: errand run -- COMMAND, or: errand ask \"PROMPT\"",
            look.width);
  if (const int pane = pane_rows(state, look); pane > 0) {
    std::string rule;
    for (int i = 0; i < look.width; ++i) rule += "─";
    frame.lines.push_back(styled(rule, "2", look.colours));
    for (int i = 0; i < pane - 1; ++i)
      frame.lines.push_back(i < std::ssize(about) ? fit(about[static_cast<size_t>(i)], look.width) : std::string());
  }
  put_bottom(frame, model, state, look);
  return frame;
}

}  // namespace errand::cli
