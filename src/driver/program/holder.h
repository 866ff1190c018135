// Programs that wait between two turns of their task: the next turn goes on in the same process. A program is one
// turn's or the holder's, never both's; what waits here is at work for nobody, holds no slot, and is ended when it has
// waited for too long, when there are too many, when it says too much, and when the server leaves. What a server that
// was killed left waiting is ended by the next one, as all that no task at work owns (Driver::end_run).
//
// One that begins to work by itself asks for a turn (beginning.h), and is ended where it gets none in time: the turn
// then goes on in a new program.
//
// A program changes hands by being attached to anew (line_child.h), as after a restart of the server: so there is one
// way to take up a program, and not two.
//
// Threads: the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/alive.h"
#include "base/id.h"
#include "driver/line_child/line_child.h"
#include "driver/program/beginning.h"
#include "task/task.h"

namespace errand::program {

struct Kept {
  std::string run;   // Its name at the supervisor.
  int64_t next = 0;  // In its journal.
  // With what it was started, as one text: a turn that wants anything else gets another program.
  std::string key;
  std::string state;  // The driver's own.
  double cpu_s = 0;   // What it had used before.
  // Something of its own runs in the background: it is worth a longer wait, for the agent goes on when that ends.
  bool busy = false;
  bool began = false;  // It works by itself, and `next` is before its first word.
  int begun = 0;       // Turns in a row that it began, and nobody else.
};

// What a line of a program that waits means.
struct Heard {
  bool begins = false;       // It goes on by itself.
  bool leads = false;        // It is a part of what it goes on with, if it does.
  std::string why = {};      // What it will go on for: one line. It may come before the beginning.
  std::optional<bool> busy;  // As Kept::busy, from now on.
};

class Holder {
 public:
  struct Bounds {
    Millis idle_ms = 0;  // 0: nothing is kept.
    int64_t most = 0;
    Millis busy_ms = 0;  // Of one that is busy, where that is longer.
  };
  using Hear = std::function<Heard(std::string_view line)>;
  struct Habits {
    Hear hear;             // Absent: it says nothing that matters.
    AskForTurn ask;        // Absent: what begins by itself is ended.
    Millis settle_ms = 0;  // What it says so soon after its turn is the rest of that.
  };

  // `parts` and what they name outlive this. `driver`: whose programs they are. `bounds` is asked each time.
  Holder(lines::Parts parts, std::string driver, std::function<Bounds()> bounds, Habits habits);
  // The programs go on: end_all() is for a server that leaves in good order.
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  bool keeps() const;
  // The program of the run with this name, for a turn of this task that holds it itself: nothing happens before its
  // spawn() or attach(). `listener` outlives it.
  std::unique_ptr<lines::LineChild> child(const Task& task, std::string run, lines::Listener& listener) const;
  // Nobody else may be attached to it. Where there are too many, the one that has waited longest is ended, and those
  // that are busy last.
  void keep(const Task& task, Kept kept);
  // The program of this task, now the caller's; nothing where there is none that was started with this key. What it
  // said while nobody listened is left out, unless it has begun to work.
  std::optional<Kept> take(const TaskId& task, std::string_view key);
  void end(const TaskId& task);
  void end_all();
  // As end(), of each: somebody needs the room.
  void end_each();
  size_t size() const { return entries_.size(); }  // Those that are being ended, too.
  bool has(std::string_view run) const;            // It waits here, or is being ended here.

 private:
  struct Entry;
  lines::Options options_for(const Task& task, bool waits) const;
  void wait(Entry& entry);
  void begin(Entry& entry);
  void end_surplus(int64_t most);
  void leave(Entry& entry);
  void gone(const Entry* entry);

  const lines::Parts parts_;
  const std::string driver_;
  const std::function<Bounds()> bounds_;
  const Habits habits_;
  std::vector<std::unique_ptr<Entry>> entries_;  // The oldest first.
  Alive alive_;
};

}  // namespace errand::program
