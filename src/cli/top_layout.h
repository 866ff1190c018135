// What `errand top` puts on the screen. Pure: a picture of the model and the state, line by line.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/top_model.h"
#include "cli/top_state.h"

namespace errand::cli {

struct TopLook {
  int width = 80, height = 24;
  bool colours = false;
  Time now;  // Wall.
};

struct Frame {
  std::vector<std::string> lines;  // As many as the screen has rows, none wider than it, with our own colours only.
  int cursor_row = -1;             // Where something is typed; -1: nowhere.
  int cursor_column = 0;
};

// `about`: lines about the selected task, for the pane (harmless). Moves state.scroll so that the selection is seen.
Frame draw_top(TopModel& model, TopState& state, const std::vector<std::string>& about, const TopLook& look);
// The rows of the list in that picture.
int list_rows(const TopState& state, const TopLook& look);

// A whole screen of text: a head, lines, a foot.
Frame draw_text(const std::string& head, const std::vector<std::string>& lines, const std::string& foot,
                const TopLook& look);

// The texts of a question, in lines that fit.
std::vector<std::string> question_lines(const WaitingInfo& question, int width);

}  // namespace errand::cli
