// A child that speaks lines over pipes, under the supervisor: an agent, or an MCP server. The supervisor holds both
// ends, so the child and what was said on the way to it and back outlive this object, the server and its upgrade.
//
// What is written is numbered frames, one line each. Whoever must know after a restart whether a line was written puts
// it, stores its number, and lets it go: the number that the child has taken (started()) says on which side of the
// kill it was. What is read is lines with their place in the journal: the owner stores what a line said together with
// Line::next, and then calls release(). So a line is acted upon once, however often the server dies.
//
// Everything is bounded: a line (Options::line_max), what waits to be written (Options::unwritten_max), and what waits
// to be read, which stays in the journal while the owner holds; there the supervisor stops reading at 64 MiB, and the
// child waits.
//
// Threads: the engine's. Callbacks never come inside a call; in each of them the owner may destroy this.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/beside.h"
#include "base/result.h"
#include "base/timers.h"
#include "driver/programs.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::lines {

struct Line {
  std::string text;  // Without its end; bytes as they came. Never empty, for empty lines are left out.
  int64_t next = 0;  // The place in the journal behind it: where to take up what follows.
};

// How it ended. Told when all its lines were told, and no process of it is left.
struct End {
  enum class How : uint8_t {
    not_started,  // Nothing ran: `error` says why.
    ended,        // By itself or by stop(): `run` says how.
    broken,       // What it says cannot be understood or had any more, so it was stopped: `error` says why.
  } how = How::ended;
  Error error;
  process::RunEnd run;
  std::string last_words;  // The end of what it wrote to standard error: readable text, or empty.
};
// All of it as a sentence or two, for people: "It ended with code 1: cannot open …".
std::string describe(const End& end);

inline constexpr int64_t all_taken = std::numeric_limits<int64_t>::max();

class Listener {
 public:
  virtual ~Listener() = default;
  // It runs, or was taken up; `taken` is the number of the last frame that it was given before, or all_taken where it
  // has ended meanwhile: nobody knows, and nothing can be put any more. Once, first, unless it could not be asked for.
  // A program that turns out not to be one ends as not_started behind it.
  virtual void started(int64_t taken) = 0;
  // What came, at most about 20 times a second, a bounded piece of the journal at a time. Half a line waits for the
  // rest of it; what it ends with is no line.
  virtual void lines(std::span<const Line> lines) = 0;
  // Once, last.
  virtual void ended(const End& end) = 0;
  // The supervisor has this frame: the child gets it as soon as it reads.
  virtual void taken(int64_t /*number*/) {}
  // This frame will never reach the child: it has closed its standard input or ended.
  virtual void refused(int64_t /*number*/, const Error& /*error*/) {}
  // What it and all below it used so far, where it has changed.
  virtual void used(const process::RunUsage& /*usage*/) {}
};

struct Options {
  size_t line_max = 16u << 20;
  size_t unwritten_max = 16u << 20;
  size_t last_words_max = 2'000;
  Programs::Program owner = {};  // Of an agent's program: as Parts::programs knows it.
};

// All outlive the child.
struct Parts {
  process::SupervisorClient& supervisor;
  Timers& timers;
  Executor* files = nullptr;  // Journals are read there; null, as `engine` then is: in the call.
  Executor* engine = nullptr;
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal;
  Programs* programs = nullptr;  // Told of the child, where it is an agent's program.
};

class LineChild final : private process::RunListener {
 public:
  // Nothing happens before spawn() or attach(). `listener` outlives this.
  LineChild(Parts parts, Options options, std::string run, Listener& listener);
  // The child goes on, to be attached to by whoever comes next.
  ~LineChild() override;
  LineChild(const LineChild&) = delete;
  LineChild& operator=(const LineChild&) = delete;

  // `request` is complete but for the run's name, the mode and the input.
  void spawn(process::SpawnRequest request);
  // Takes it up, alive or ended, and reads on at `next`: the last Line::next that was stored, 0 where none was.
  // Where it was never started, `otherwise` is spawned if it is given; else it ends as not_started, reason `not_found`.
  void attach(int64_t next, std::optional<process::SpawnRequest> otherwise = {});

  // Puts `line` (which has no line end) into the row of what is written, and answers its number. It stays there until
  // let_go(number), and so do those behind it. exhausted: the child does not read, and too much waits. unavailable: it
  // was attached to and has not started(), so that no number is known yet.
  Result<int64_t> put(std::string line);
  void let_go(int64_t number);
  // Both at once.
  Result<int64_t> write(std::string line);
  // Its standard input ends behind what was put so far.
  void close_input();

  // What is in the journal before `next` (a Line::next) is stored elsewhere, and may go.
  void release(int64_t next);
  // No lines are told until go_on(): there is no room for what they say.
  void hold() { held_ = true; }
  void go_on();

  // Ends it with its whole process tree; ended() follows. May be repeated.
  void stop(std::optional<Millis> grace_ms = {});
  // The same without waiting and without a word: the listener hears nothing more.
  void drop();
  // What it uses now; not at all once this is gone.
  void usage(std::move_only_function<void(Result<process::RunUsage>)> done);

  // It can work, and this is what it says of its version; empty: nothing. For Parts::programs.
  void is_ready(const std::string& version);

  const std::string& run() const { return run_; }
  bool is_over() const { return over_; }

 private:
  struct Frame {
    int64_t number = 0;
    std::string bytes;
    bool held = true;
  };
  enum class State : uint8_t { idle, starting, running, ended };

  void output(int64_t total) override;
  void ended(const process::RunEnd& end) override;
  void used(const process::RunUsage& usage) override;

  template <class F>
  auto guarded(F work);
  void is_running(std::optional<int64_t> taken);
  void write_on();
  void written(Result<int64_t> taken);
  struct ReadSome {
    std::shared_ptr<process::Journal> journal;
    Result<process::JournalRead> read;
  };
  void read_on();
  void read_to_end();  // May be its end: nothing of it is touched after.
  void take(ReadSome some);
  std::string split(const process::JournalRead& read, std::vector<Line>& lines);
  void release_errors();
  void fail_start(const Error& error);
  void give_up(Error why);
  void end_where_read();
  void finish(End end);

  const Parts parts_;
  const Options options_;
  const std::string run_;
  Listener& listener_;
  Beside files_;
  Timer again_;
  State state_ = State::idle;
  bool begun_ = false;  // started() was told.
  bool over_ = false;   // ended() was told, or it was dropped.
  bool stopping_ = false;
  std::optional<Error> broken_;
  std::optional<process::RunEnd> end_;

  // Standard input.
  std::deque<Frame> frames_;
  int64_t last_number_ = 0;
  bool numbered_ = false;  // last_number_ is known.
  size_t unwritten_ = 0;
  bool writing_ = false;
  bool closing_ = false, closed_ = false;

  // The journal.
  std::shared_ptr<process::Journal> journal_;
  int64_t next_ = 0, total_ = 0;
  bool reading_ = false, held_ = false;
  bool fresh_ = true;        // Nothing was read yet.
  std::string line_;         // Half a line,
  int64_t line_from_ = 0;    // which begins here.
  int64_t told_to_ = 0;      // Behind the last line that was told.
  int64_t released_to_ = 0;  // As the owner said, and what was written to standard error behind it.
  std::string last_words_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace errand::lines
