#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "base/escape_filter.h"
#include "cli/painter.h"
#include "cli/top_layout.h"
#include "cli/top_log.h"
#include "cli/top_model.h"
#include "cli/top_state.h"
#include "cli/width.h"

namespace errand::cli {
namespace {

constexpr int64_t start = 1'763'200'000'000;

TaskInfo task(int n, std::string status, std::string title = {}) {
  TaskInfo info;
  info.id = "task_01jcq5x7k2" + std::to_string(1'000'000 + n) + "abcdefghi";
  info.kind = "agent";
  info.status = std::move(status);
  info.title = title.empty() ? "title " + std::to_string(n) : std::move(title);
  info.agent = "demo";
  info.created_at = {start + n};
  if (info.status != "pending") info.started_at = {start + n};
  if (!info.at_work()) info.completed_at = {start + n + 5'000};
  return info;
}

TaskInfo asking(int n) {
  TaskInfo info = task(n, "running");
  info.waiting_for =
      WaitingInfo{"permission", "req_" + std::to_string(n), "May I?", {"allow", "allow_always", "deny"}, {}};
  return info;
}

std::vector<std::string> titles(TopModel& model) {
  std::vector<std::string> out;
  for (const TopModel::Entry& entry : model.entries())
    out.push_back(entry.task ? entry.task->title : "# " + std::string(title_of(entry.group)));
  return out;
}

TopAction press(TopState& state, TopModel& model, std::string_view bytes) {
  KeyParser parser;
  TopAction last;
  std::vector<Key> keys = parser.feed(bytes);
  for (const Key& key : parser.settle()) keys.push_back(key);
  for (const Key& key : keys) last = on_key(state, model, key, 10);
  return last;
}

using Titles = std::vector<std::string>;

TEST(TopModel, GroupsAndOrdersTasks) {
  TopModel model;
  model.put(task(1, "completed"));
  model.put(task(2, "failed"));
  model.put(task(3, "running"));
  model.put(task(4, "pending"));
  model.put(asking(5));
  model.put(task(6, "resumed"));
  TaskInfo quota = task(7, "running");
  quota.waiting_for = WaitingInfo{"quota", "", "", {}, {}};
  model.put(quota);
  EXPECT_EQ(titles(model), (Titles{"# Needs you", "title 5", "# Running", "title 6", "title 3", "# Waiting", "title 4",
                                   "title 7", "# Done", "title 2", "title 1"}));
  EXPECT_EQ(model.count(Group::done), 2u);
  model.put(task(5, "completed"));
  EXPECT_EQ(model.count(Group::needs_you), 0u);
  EXPECT_EQ(titles(model)[0], "# Running");
}

TEST(TopModel, TheSelectionStaysWithItsTask) {
  TopModel model;
  for (int i = 1; i <= 5; ++i) model.put(task(i, "running"));
  model.select_by(2);
  EXPECT_EQ(model.selected()->title, "title 3");
  model.put(task(9, "running"));
  EXPECT_EQ(model.selected()->title, "title 3");
  model.put(task(3, "completed"));
  EXPECT_EQ(model.selected()->title, "title 3");
  EXPECT_EQ(model.selected()->group, Group::done);
  const size_t at = model.selected_at();
  model.remove(task(3, "completed").id);
  ASSERT_TRUE(model.selected());
  EXPECT_LT(model.selected_at(), at);
  model.find("nothing has this");
  EXPECT_EQ(model.selected(), nullptr);
  model.select_by(1);
  model.find("");
  EXPECT_TRUE(model.selected());
}

TEST(TopModel, FiltersByTextAndByGroup) {
  TopModel model;
  model.put(task(1, "completed", "Build the page"));
  model.put(task(2, "failed", "run tests"));
  model.put(task(3, "running", "BUILD again"));
  model.find("build");
  EXPECT_EQ(titles(model), (Titles{"# Running", "BUILD again", "# Done", "Build the page"}));
  model.find("");
  model.show(TopModel::Show::failed);
  EXPECT_EQ(titles(model), (Titles{"# Done", "run tests"}));
  model.show(TopModel::Show::running);
  EXPECT_EQ(titles(model), (Titles{"# Running", "BUILD again"}));
}

TEST(TopModel, AReadingDropsWhatIsGone) {
  TopModel model;
  model.put(task(1, "completed"));
  model.put(task(2, "completed"));
  model.begin_load();
  model.put(task(2, "completed"));
  model.end_load();
  EXPECT_EQ(titles(model), (Titles{"# Done", "title 2"}));
  EXPECT_EQ(model.count(Group::done), 1u);
}

TEST(TopModel, KeepsTheNewestOfThoseThatEnded) {
  TopModel model;
  model.put(task(0, "running"));
  for (int i = 1; i <= 12'000; ++i) model.put(task(i, "completed"));
  EXPECT_LE(model.count(Group::done), TopModel::done_max * 11 / 10);
  EXPECT_TRUE(model.cut());
  EXPECT_EQ(model.entries()[3].task->title, "title 12000");
  EXPECT_EQ(model.count(Group::running), 1u);
}

TEST(TopKeys, MoveAndAct) {
  TopModel model;
  TopState state;
  for (int i = 1; i <= 30; ++i) model.put(task(i, "failed"));
  model.put(asking(40));
  model.put(task(41, "running"));
  press(state, model, "g");
  EXPECT_EQ(model.selected()->title, "title 40");
  press(state, model, "j");
  EXPECT_EQ(model.selected()->title, "title 41");
  press(state, model, "G");
  EXPECT_EQ(model.selected()->title, "title 1");
  press(state, model, "kk\x1b[B");
  EXPECT_EQ(model.selected()->title, "title 2");
  EXPECT_EQ(press(state, model, "r").kind, TopAction::Kind::retry);
  EXPECT_EQ(press(state, model, "a").kind, TopAction::Kind::none);
  EXPECT_TRUE(state.said_error);
  press(state, model, "g");
  EXPECT_EQ(press(state, model, "\r").kind, TopAction::Kind::open);
  EXPECT_EQ(press(state, model, "l").kind, TopAction::Kind::logs);
  EXPECT_EQ(press(state, model, "q").kind, TopAction::Kind::quit);
}

TEST(TopKeys, AnAnswerGoesToTheQuestionThatWasSeen) {
  TopModel model;
  TopState state;
  model.put(asking(1));
  press(state, model, "aall");
  EXPECT_EQ(state.mode, TopState::Mode::answer);
  TaskInfo other = asking(1);
  other.waiting_for->request_id = "req_later";
  model.put(other);
  const TopAction action = press(state, model, "ow\r");
  EXPECT_EQ(action.kind, TopAction::Kind::answer);
  EXPECT_EQ(action.text, "allow");
  EXPECT_EQ(state.asked.request_id, "req_1");
}

TEST(TopKeys, CancelAsksAndOnlyYesDoesIt) {
  TopModel model;
  TopState state;
  model.put(task(1, "running"));
  EXPECT_EQ(press(state, model, "c").kind, TopAction::Kind::none);
  EXPECT_EQ(press(state, model, "\r").kind, TopAction::Kind::none);
  EXPECT_EQ(state.mode, TopState::Mode::list);
  EXPECT_EQ(press(state, model, "c\x1b[200~y\x1b[201~").kind, TopAction::Kind::none) << "pasted";
  press(state, model, "c");
  model.put(task(2, "running"));  // Another one comes in its place on the screen.
  const TopAction action = press(state, model, "y");
  EXPECT_EQ(action.kind, TopAction::Kind::cancel);
  EXPECT_EQ(action.id, task(1, "running").id);
}

TEST(TopKeys, FindFiltersWhileItIsTypedAndEscapeTakesItBack) {
  TopModel model;
  TopState state;
  model.put(task(1, "running", "apples"));
  model.put(task(2, "running", "pears"));
  press(state, model, "/pea");
  EXPECT_EQ(titles(model), (Titles{"# Running", "pears"}));
  press(state, model, "\r");
  EXPECT_EQ(state.mode, TopState::Mode::list);
  EXPECT_EQ(titles(model).size(), 2u);
  press(state, model, "\x1b");
  EXPECT_EQ(titles(model).size(), 3u);
  EXPECT_EQ(press(state, model, "/q\x1b").kind, TopAction::Kind::none);
  EXPECT_EQ(titles(model).size(), 3u);
  press(state, model, "f");
  EXPECT_EQ(model.shown(), TopModel::Show::needs_you);
}

// Whatever the tasks say: as many lines as rows, none wider than the screen, no escape that is not a colour of ours.
void check(const Frame& frame, const TopLook& look) {
  ASSERT_EQ(std::ssize(frame.lines), look.height);
  for (const std::string& line : frame.lines) {
    const std::string bare = without_escapes(line, EscapeFilter::Colours::drop);
    EXPECT_LE(width_of(bare), look.width) << bare;
    if (!look.colours) EXPECT_EQ(line, bare);
    EXPECT_EQ(without_escapes(line, EscapeFilter::Colours::keep), line);
  }
}

TEST(TopLayout, HostileTextsAreHarmlessInEverySize) {
  const std::string hostile = "\x1b]0;owned\x07\x1b[2J\x1b[1;1H\x1b]52;c;AAAA\x07 evil\r\n\u202egnp.exe\xff\x9b[31m" +
                              std::string(500, 'x') + "日本";
  for (const bool colours : {false, true})
    for (const auto& [width, height] : {std::pair{80, 24}, {120, 40}, {40, 8}, {20, 4}, {200, 60}}) {
      TopModel model;
      for (int i = 0; i < 100; ++i) {
        TaskInfo info = i % 3 ? task(i, "failed", hostile) : asking(i);
        info.agent = info.work_dir = info.error_message = hostile;
        if (info.waiting_for) info.waiting_for->text = hostile;
        model.put(info);
      }
      const TopLook look{width, height, colours, {start + 60'000}};
      TopState state;
      for (const char* keys : {"", "G", "a", "\x1b", " ", "c", "n", "?", "?", "/\x1b[200~\x1b]0;x\x07\x1b[201~"}) {
        press(state, model, keys);
        const TopTask* selected = model.selected();
        check(draw_top(model, state,
                       selected && selected->question ? question_lines(*selected->question, width) : Titles{}, look),
              look);
      }
    }
}

TEST(TopLayout, TheSelectionIsAlwaysSeen) {
  TopModel model;
  for (int i = 0; i < 200; ++i) model.put(task(i, i % 2 ? "running" : "completed"));
  TopState state;
  const TopLook look{80, 24, false, {start}};
  for (const char* keys : {"", "j", "G", "k", "\x1b[5~", "g", "\x1b[6~\x1b[6~", " ", "j", "G"}) {
    press(state, model, keys);
    const Frame frame = draw_top(model, state, {}, look);
    EXPECT_EQ(std::ranges::count_if(frame.lines, [](const auto& line) { return line.starts_with("▸ "); }), 1) << keys;
  }
  press(state, model, "g");
  EXPECT_EQ(draw_top(model, state, {}, look).lines[1], "Running") << "with its heading";
}

TEST(TopLayout, AnEmptyListSaysWhatToDo) {
  TopModel model;
  TopState state;
  state.loading = false;
  const Frame frame = draw_top(model, state, {}, {80, 24, false, {start}});
  EXPECT_NE(frame.lines[2].find("errand ask"), std::string::npos);
}

TEST(Painter, WritesOnlyWhatChanged) {
  Frame one{{"a", "b"}, -1, 0};
  Frame two{{"a", "c"}, -1, 0};
  EXPECT_EQ(paint(one, one), "");
  const std::string bytes = paint(one, two);
  EXPECT_EQ(bytes.find("\x1b[1;1H"), std::string::npos);
  EXPECT_NE(bytes.find("\x1b[2;1H\x1b[2Kc"), std::string::npos);
  EXPECT_NE(paint({}, one).find("\x1b[2J"), std::string::npos);
}

TEST(LogText, KeepsTheLastLinesHarmless) {
  LogText text;
  text.add({Span::What::output, "one\x1b[2J\ntw"});
  text.add({Span::What::output, "o\tx\n\x1b[31mred\x1b[0m"});
  EXPECT_EQ(text.wrapped(80), (Titles{"one", "two  x", "red"}));
  for (int i = 0; i < 6'000; ++i) text.add({Span::What::output, "\nline " + std::to_string(i)});
  EXPECT_EQ(text.wrapped(80).size(), LogText::lines_max + 1);
  EXPECT_EQ(text.wrapped(80).back(), "line 5999");
  LogText endless;
  for (int i = 0; i < 100; ++i) endless.add({Span::What::output, std::string(1'000, 'x')});
  for (const std::string& line : endless.wrapped(80)) EXPECT_LE(width_of(line), 80);
}

// 10,000 tasks: the work of a key, and of a picture after an event. The bound for the whole is 50 ms.
TEST(TopLayout, TenThousandTasksAreDrawnWithinAFrame) {
  TopModel model;
  for (int i = 0; i < 10'000; ++i) model.put(i % 100 ? task(i, i % 3 ? "completed" : "failed") : asking(i));
  TopState state;
  const TopLook look{120, 40, true, {start + 60'000}};
  draw_top(model, state, {}, look);
  const auto from = std::chrono::steady_clock::now();
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    model.put(task(i, "running"));
    press(state, model, i % 2 ? "G" : "j");
    draw_top(model, state, {}, look);
  }
  const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - from);
  RecordProperty("us_per_frame", static_cast<int>(spent.count() / rounds));
  std::printf("%lld us a frame\n", static_cast<long long>(spent.count() / rounds));
}

}  // namespace
}  // namespace errand::cli
