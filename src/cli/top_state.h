// What the keys of `errand top` do. Pure: it says what is to be done, and does none of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/keys.h"
#include "cli/line_editor.h"
#include "cli/top_model.h"

namespace errand::cli {

struct TopState {
  enum class Mode : uint8_t {
    list,
    help,
    find,     // The line at the bottom is typed: a filter,
    answer,   // the answer to `target`,
    send,     // a message to it,
    confirm,  // or whether to cancel it.
  };
  Mode mode = Mode::list;
  LineEditor line;
  std::string target;       // The task that the line is about, however the selection moves.
  WaitingInfo asked;        // The question that is being answered, though another may come meanwhile.
  std::string said;         // The last thing that happened, for the bottom line.
  bool said_error = false;  // It went wrong.
  bool peek = false;        // The pane about the selected task is open.
  size_t scroll = 0;        // The first entry on the screen.
  bool lost = false;        // The server is away.
  bool loading = true;

  void say(std::string text, bool error = false) {
    said = std::move(text);
    said_error = error;
  }
};

struct TopAction {
  enum class Kind : uint8_t { none, quit, open, logs, answer, send, cancel, retry };
  Kind kind = Kind::none;
  std::string id;
  std::string text;
};

// `rows`: of the list, for a page.
TopAction on_key(TopState& state, TopModel& model, const Key& key, int rows);

}  // namespace errand::cli
