#include "cli/line_editor.h"

#include <gtest/gtest.h>

#include "cli/width.h"

namespace errand::cli {
namespace {

void type(LineEditor& line, std::string_view bytes) {
  KeyParser parser;
  for (const Key& key : parser.feed(bytes)) line.take(key);
}

TEST(LineEditor, EditsWhereTheCursorIs) {
  LineEditor line;
  type(line, "helo\x1b[Dl\x1b[H>\x05!");
  EXPECT_EQ(line.text(), ">hello!");
  type(line, "\x17");
  EXPECT_EQ(line.text(), "");
  type(line, "one two\x17");
  EXPECT_EQ(line.text(), "one ");
  type(line, "日本\x7f");
  EXPECT_EQ(line.text(), "one 日");
  type(line, "\x01\x0b");
  EXPECT_TRUE(line.empty());
}

TEST(LineEditor, GoesThroughTheHistoryAndBackToTheDraft) {
  LineEditor line;
  type(line, "first");
  EXPECT_EQ(line.finish(), "first");
  type(line, "second");
  EXPECT_EQ(line.finish(), "second");
  type(line, "draft\x1b[A");
  EXPECT_EQ(line.text(), "second");
  type(line, "\x1b[A\x1b[A\x1b[A");
  EXPECT_EQ(line.text(), "first");
  type(line, "\x1b[B\x1b[B\x1b[B");
  EXPECT_EQ(line.text(), "draft");
}

TEST(LineEditor, PastedTextKeepsItsLinesAndLosesItsEscapes) {
  LineEditor line;
  line.take({Key::Kind::paste, 0, "a\r\nb\x1b[2Jc\rd"});
  EXPECT_EQ(line.text(), "a\nb[2Jc\nd");
  EXPECT_EQ(line.shown(80).text, "a⏎b[2Jc⏎d");
}

TEST(LineEditor, ShowsThePartAroundTheCursorAndNeverMoreThanFits) {
  LineEditor line;
  for (int i = 0; i < 50; ++i) line.take({Key::Kind::character, i % 2 ? U'日' : U'a', {}});
  for (int columns = 4; columns < 90; ++columns)
    for (const char* move : {"\x1b[H", "\x1b[C\x1b[C\x1b[C", "\x1b[F"}) {
      type(line, move);
      const LineEditor::Shown shown = line.shown(columns);
      EXPECT_LT(shown.cursor, columns);
      EXPECT_LE(width_of(shown.text), columns) << columns;
    }
}

}  // namespace
}  // namespace errand::cli
