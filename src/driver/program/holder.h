// Programs that wait between two turns of their task: the next turn goes on in the same process. A program is one
// turn's or the holder's, never both's; what waits here is at work for nobody, holds no slot, and is ended when it has
// waited for too long, when there are too many, when it begins something by itself or says too much, and when the
// server leaves. What a server that was killed left waiting is ended by the next one, as all that no task at work owns
// (Driver::end_run).
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

#include "base/id.h"
#include "driver/line_child/line_child.h"
#include "task/task.h"

namespace errand::program {

struct Kept {
  std::string run;   // Its name at the supervisor.
  int64_t next = 0;  // In its journal.
  // With what it was started, as one text: a turn that wants anything else gets another program.
  std::string key;
  std::string state;  // The driver's own.
  double cpu_s = 0;   // What it had used before.
};

class Holder {
 public:
  struct Bounds {
    Millis idle_ms = 0;  // 0: nothing is kept.
    int64_t most = 0;
  };
  // Whether a line means that it goes on by itself.
  using Wakes = std::function<bool(std::string_view line)>;

  // `parts` and what they name outlive this. `driver`: whose programs they are. `bounds` is asked each time.
  Holder(lines::Parts parts, std::string driver, std::function<Bounds()> bounds, Wakes wakes);
  // The programs go on: end_all() is for a server that leaves in good order.
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  bool keeps() const;
  // The program of the run with this name, for a turn of this task that holds it itself: nothing happens before its
  // spawn() or attach(). `listener` outlives it.
  std::unique_ptr<lines::LineChild> child(const Task& task, std::string run, lines::Listener& listener) const;
  // Nobody else may be attached to it. Where there are too many, the one that has waited longest is ended.
  void keep(const Task& task, Kept kept);
  // The program of this task, now the caller's; nothing where there is none that was started with this key. What it
  // said while nobody listened is left out.
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
  void leave(Entry& entry);
  void gone(const Entry* entry);

  const lines::Parts parts_;
  const std::string driver_;
  const std::function<Bounds()> bounds_;
  const Wakes wakes_;
  std::vector<std::unique_ptr<Entry>> entries_;  // The oldest first.
};

}  // namespace errand::program
