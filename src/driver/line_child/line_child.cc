#include "driver/line_child/line_child.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"

namespace errand::lines {
namespace {

constexpr int64_t read_chunk = 256 << 10;
constexpr int64_t errors_max = 1 << 20;  // Of standard error, read and kept in the journal.
constexpr Millis write_again_ms = 200;   // To a child that does not read.
constexpr size_t words_told = 500;

std::string how_it_went(const process::RunEnd& end) {
  using How = process::RunEnd::How;
  if (end.how == How::lost) return "It was lost: " + one_line(end.text);
  if (end.how == How::limit) return "It went over its limit of " + end.limit;
  if (end.signal > 0) return fmt::format("It was ended by signal {}", end.signal);
  return fmt::format("It ended with code {}", end.exit_code);
}

}  // namespace

std::string describe(const End& end) {
  std::string out;
  switch (end.how) {
    case End::How::not_started:
      out = "It could not be started: " + one_line(end.error.message);
      break;
    case End::How::broken:
      out = one_line(end.error.message);
      break;
    case End::How::ended:
      out = how_it_went(end.run);
      break;
  }
  const std::string words = one_line(end.last_words);
  if (words.empty()) return out.ends_with('.') ? out : out + ".";
  if (out.ends_with('.')) out.pop_back();
  return out + ": " + words.substr(words.size() - utf8_suffix(words, words_told));
}

template <class F>
auto LineChild::guarded(F work) {
  return [here = std::weak_ptr(here_), work = std::move(work)](auto&&... answer) mutable {
    if (!here.expired()) work(std::forward<decltype(answer)>(answer)...);
  };
}

LineChild::LineChild(Parts parts, Options options, std::string run, Listener& listener)
    : parts_(std::move(parts)),
      options_(options),
      run_(std::move(run)),
      listener_(listener),
      files_(parts_.files, parts_.engine),
      again_(parts_.timers) {}

LineChild::~LineChild() {
  if (state_ == State::starting || state_ == State::running) parts_.supervisor.forget(this);
}

// ---- Its beginning

void LineChild::spawn(process::SpawnRequest request) {
  state_ = State::starting;
  if (parts_.programs != nullptr) parts_.programs->starts(run_, options_.owner);
  numbered_ = true;
  request.run = run_;
  request.mode = process::JournalMode::protocol;
  request.keep_stdin = true;
  parts_.supervisor.spawn(std::move(request), this, guarded([this](const Status& started) {
                            if (over_) return;
                            started ? is_running(0) : fail_start(started.error());
                          }));
}

void LineChild::attach(int64_t next, std::optional<process::SpawnRequest> otherwise) {
  state_ = State::starting;
  if (parts_.programs != nullptr) parts_.programs->runs(run_, options_.owner);
  next_ = told_to_ = released_to_ = next;
  parts_.supervisor.attach(
      run_, this, guarded([this, otherwise = std::move(otherwise)](const Result<process::Attached>& attached) mutable {
        if (over_) return;
        if (!attached) {
          // The folder is made before the child: where there is none, nothing was ever started. One that has spoken did
          // start, whatever became of its folder, and is not started twice.
          if (attached.error().code == Code::not_found && otherwise && next_ == 0 && !stopping_)
            return spawn(std::move(*otherwise));
          return fail_start(attached.error());
        }
        if (attached->input_taken) return is_running(*attached->input_taken);
        // An older supervisor says it where it is asked, one whose run has ended not at all.
        parts_.supervisor.input(run_, 0, {}, guarded([this](const Result<int64_t>& taken) {
                                  is_running(taken ? std::optional(*taken) : std::nullopt);
                                }));
      }));
}

// Nobody knows how far it came: nothing of it may be left.
void LineChild::fail_start(const Error& error) {
  parts_.supervisor.forget(this);
  if (error.code != Code::not_found) parts_.supervisor.stop(run_);
  state_ = State::ended;
  Error told = error;
  if (error.code == Code::not_found && told.reason.empty()) told.reason = "not_found";
  finish({.how = End::How::not_started, .error = std::move(told), .run = {}, .last_words = {}});
}

void LineChild::is_running(std::optional<int64_t> taken) {
  if (over_ || (state_ != State::starting && !end_)) return;
  if (state_ == State::starting) state_ = State::running;
  if (taken) {
    numbered_ = true;
    last_number_ = std::max(last_number_, *taken);
  }
  // Asked for before there was anything to stop.
  if (stopping_ && !end_) parts_.supervisor.stop(run_);
  const std::weak_ptr here = here_;
  if (!std::exchange(begun_, true)) listener_.started(taken.value_or(all_taken));
  if (here.expired() || over_) return;
  write_on();
  read_to_end();
}

// ---- Standard input

Result<int64_t> LineChild::put(std::string line) {
  if (!numbered_) return fail(Code::unavailable, "It has not started yet.");
  if (over_ || end_ || closing_) return fail(Code::conflict, "It takes no more input.");
  // One line is always taken, however long: the supervisor's bound is its bound.
  if (!frames_.empty() && unwritten_ + line.size() > options_.unwritten_max)
    return fail(Code::exhausted, "It does not read what it is sent; try again later.");
  line += '\n';
  unwritten_ += line.size();
  frames_.push_back({.number = ++last_number_, .bytes = std::move(line), .held = true});
  return last_number_;
}

void LineChild::let_go(int64_t number) {
  const auto frame = std::ranges::find(frames_, number, &Frame::number);
  if (frame == frames_.end()) return;
  frame->held = false;
  write_on();
}

Result<int64_t> LineChild::write(std::string line) {
  Result<int64_t> number = put(std::move(line));
  if (number) let_go(*number);
  return number;
}

void LineChild::close_input() {
  closing_ = true;
  write_on();
}

// One frame at a time, so that one that must be sent again has nothing behind it.
void LineChild::write_on() {
  if (over_ || end_ || writing_ || !begun_ || again_.pending()) return;
  if (frames_.empty()) {
    if (closing_ && !std::exchange(closed_, true)) parts_.supervisor.close_input(run_);
    return;
  }
  if (frames_.front().held) return;
  writing_ = true;
  parts_.supervisor.input(run_, frames_.front().number, frames_.front().bytes,
                          guarded([this](Result<int64_t> taken) { written(std::move(taken)); }));
}

void LineChild::written(Result<int64_t> taken) {
  writing_ = false;
  if (over_) return;
  if (!taken && taken.error().code == Code::exhausted) return again_.set(write_again_ms, [this] { write_on(); });
  const int64_t number = frames_.front().number;
  unwritten_ -= frames_.front().bytes.size();
  frames_.pop_front();
  const std::weak_ptr here = here_;
  taken ? listener_.taken(number) : listener_.refused(number, taken.error());
  if (!here.expired()) write_on();
}

// ---- What it says

void LineChild::output(int64_t total) {
  total_ = std::max(total_, total);
  read_on();
}

void LineChild::used(const process::RunUsage& usage) {
  if (!over_ && parts_.programs != nullptr) parts_.programs->uses(run_, usage.memory_bytes);
  if (!over_ && !end_ && begun_) listener_.used(usage);
}

void LineChild::go_on() {
  held_ = false;
  if (over_ || !begun_) return;
  read_to_end();
}

// Where reading answers at once, its owner may have let go of it.
void LineChild::read_to_end() {
  const std::weak_ptr here = here_;
  read_on();
  if (!here.expired()) end_where_read();
}

// Beside the engine's thread, a bounded piece at a time.
void LineChild::read_on() {
  if (reading_ || held_ || over_ || broken_ || !begun_ || next_ >= total_) return;
  reading_ = true;
  files_.run(
      [open = parts_.open_journal, run = run_, journal = journal_, next = next_]() mutable {
        ReadSome some{.journal = std::move(journal), .read = fail(Code::unavailable, "")};
        if (!some.journal) {
          auto opened = open(run);
          if (!opened) {
            some.read = std::unexpected(opened.error());
            return some;
          }
          some.journal = *std::move(opened);
        }
        some.read = some.journal->read(next, read_chunk);
        return some;
      },
      [this](ReadSome some) {
        reading_ = false;
        if (!over_) take(std::move(some));
      });
}

void LineChild::take(ReadSome some) {
  journal_ = std::move(some.journal);
  if (!some.read) return give_up({Code::internal, "What it says cannot be read: " + some.read.error().message, {}});
  const process::JournalRead& read = *some.read;
  // A line with a hole in it would be another line. But what it wrote to standard error behind the last line that was
  // stored may have gone.
  if (read.damaged || (read.cut > 0 && !fresh_))
    return give_up({Code::internal, "A part of what it said is damaged on the disk.", {}});
  if (read.next <= next_) {
    if (end_) total_ = next_;
    return end_where_read();
  }
  fresh_ = false;
  next_ = read.next;
  std::vector<Line> lines;
  const std::string wrong = split(read, lines);
  if (!lines.empty()) {
    told_to_ = lines.back().next;
    const std::weak_ptr here = here_;
    listener_.lines(lines);
    if (here.expired() || over_) return;
  }
  if (!wrong.empty()) return give_up({Code::internal, wrong, {}});
  release_errors();
  read_to_end();
}

// Answers what is wrong with it.
std::string LineChild::split(const process::JournalRead& read, std::vector<Line>& lines) {
  for (const process::Piece& piece : read.pieces) {
    if (piece.stream == process::Stream::err) {
      last_words_ += piece.bytes;
      if (last_words_.size() > 2 * options_.last_words_max)
        last_words_.erase(0, last_words_.size() - options_.last_words_max);
      continue;
    }
    std::string_view bytes = piece.bytes;
    int64_t at = piece.offset;
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      if (line_.empty()) line_from_ = at;
      line_ += bytes.substr(0, end);
      if (line_.size() > options_.line_max)
        return fmt::format("It sent a line of more than {} bytes.", options_.line_max);
      if (end == std::string_view::npos) break;
      bytes.remove_prefix(end + 1);
      at += static_cast<int64_t>(end) + 1;
      std::string text = std::exchange(line_, {});
      if (text.ends_with('\r')) text.pop_back();
      if (!trim(text).empty()) lines.push_back({.text = std::move(text), .next = at});
    }
  }
  return {};
}

void LineChild::release(int64_t next) {
  if (next <= released_to_) return;
  released_to_ = next;
  if (!end_ && !over_) parts_.supervisor.release_journal(run_, next);
}

// Nobody stores what stands on standard error: a child that writes there alone must not come to a halt. It goes where
// all lines before it are stored, so that whoever takes the child up misses none.
void LineChild::release_errors() {
  const int64_t to = line_.empty() ? next_ : line_from_;
  if (released_to_ >= told_to_ && to - released_to_ > errors_max) release(to);
}

// ---- Its end

void LineChild::stop(std::optional<Millis> grace_ms) {
  if (over_ || end_) return;
  stopping_ = true;
  parts_.supervisor.stop(run_, grace_ms);
}

void LineChild::drop() {
  if (std::exchange(over_, true)) return;
  again_.cancel();
  if (parts_.programs != nullptr) parts_.programs->gone(run_);
  if (state_ == State::starting || state_ == State::running) {
    parts_.supervisor.forget(this);
    parts_.supervisor.stop(run_);
  }
  state_ = State::ended;
}

void LineChild::is_ready(const std::string& version) {
  if (parts_.programs != nullptr) parts_.programs->ready(run_, version);
}

void LineChild::usage(std::move_only_function<void(Result<process::RunUsage>)> done) {
  parts_.supervisor.usage(run_, guarded(std::move(done)));
}

void LineChild::ended(const process::RunEnd& end) {
  state_ = State::ended;
  end_ = end;
  // A short one was not measured before.
  if (!over_ && parts_.programs != nullptr) parts_.programs->uses(run_, end.max_memory_bytes);
  total_ = std::max(total_, end.output_bytes);
  again_.cancel();
  if (over_) return;
  // Its end can come before the answer that it was taken up.
  const std::weak_ptr here = here_;
  if (!begun_) is_running(std::nullopt);
  if (here.expired() || over_) return;
  read_to_end();
}

// What cannot be heard may not go on unheard.
void LineChild::give_up(Error why) {
  if (broken_) return;
  broken_ = std::move(why);
  if (end_) return end_where_read();
  parts_.supervisor.stop(run_);
}

void LineChild::end_where_read() {
  if (over_ || !end_ || !begun_ || reading_) return;
  if (!broken_ && (held_ || next_ < total_)) return;
  End end{.how = End::How::ended, .error = {}, .run = *end_, .last_words = {}};
  if (broken_) {
    end.how = End::How::broken;
    end.error = *broken_;
  } else if (end_->how == process::RunEnd::How::spawn_failed) {
    end.how = End::How::not_started;
    end.error = {Code::unavailable, end_->text, "spawn_failed"};
  }
  end.last_words = without_escapes(last_words_, EscapeFilter::Colours::drop);
  end.last_words = end.last_words.substr(end.last_words.size() - utf8_suffix(end.last_words, options_.last_words_max));
  finish(std::move(end));
}

void LineChild::finish(End end) {
  if (std::exchange(over_, true)) return;
  again_.cancel();
  if (parts_.programs != nullptr) parts_.programs->gone(run_);
  listener_.ended(end);
}

}  // namespace errand::lines
