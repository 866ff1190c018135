#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/beside.h"
#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/mcp_client/messages.h"
#include "driver/builtin/mcp_client/transport.h"

namespace errand::builtin::mcp {
namespace {

constexpr int64_t read_chunk = 256 << 10;
constexpr size_t stderr_kept = 2'000;

std::string how_it_ended(const process::RunEnd& end, std::string_view last_words) {
  using How = process::RunEnd::How;
  std::string out = "It ended";
  if (end.how == How::spawn_failed)
    out = "It could not be started: " + one_line(end.text);
  else if (end.how == How::limit)
    out = "It went over its limit of " + end.limit;
  else if (end.signal > 0)
    out += fmt::format(" by signal {}", end.signal);
  else
    out += fmt::format(" with code {}", end.exit_code);
  const std::string words = one_line(last_words);
  return words.empty() ? out + "." : out + ": " + words.substr(words.size() - utf8_suffix(words, 500));
}

class Stdio final : public Transport, private process::RunListener {
  template <class F>
  auto guarded(F work) {
    return [here = std::weak_ptr(here_), work = std::move(work)](auto&&... answer) mutable {
      if (!here.expired()) work(std::forward<decltype(answer)>(answer)...);
    };
  }

 public:
  Stdio(StdioParts parts, process::SpawnRequest request, PrepareStdio prepare)
      : parts_(std::move(parts)), request_(std::move(request)), prepare_(std::move(prepare)) {
    request_.mode = process::JournalMode::protocol;
    request_.keep_stdin = true;
    request_.timeout_ms = 0;
  }
  ~Stdio() override {
    if (preparing_) return;  // There is nothing yet.
    if (!gone_) parts_.supervisor.forget(this);
    if (!left_) parts_.supervisor.release(request_.run);
  }

  void start(Listener& listener) override {
    listener_ = &listener;
    beside_.run(prepare_, [this](Result<std::vector<std::string>> words) { prepared(std::move(words)); });
  }

  void send(std::string message, int64_t id) override {
    if (preparing_) return unsent_.emplace_back(std::move(message), id), void();
    message += '\n';
    parts_.supervisor.input(request_.run, ++frames_, std::move(message), guarded([this, id](Status taken) {
                              if (!taken && id != 0 && listener_) listener_->lost(id, taken.error().message);
                            }));
  }

  void leave() override { left_ = true; }

  void close(std::move_only_function<void()> gone) override {
    listener_ = nullptr;
    if (preparing_) {  // There is nothing yet, and there will be nothing.
      beside_.clear();
      gone_ = left_ = true;
    }
    if (gone_) {
      parts_.engine.post(guarded_work(std::move(gone)));
      return;
    }
    closed_ = std::move(gone);
    parts_.supervisor.close_input(request_.run);
    parts_.supervisor.stop(request_.run);
  }

 private:
  Work guarded_work(std::move_only_function<void()> work) {
    return [here = std::weak_ptr(here_), work = std::move(work)]() mutable {
      if (!here.expired()) work();
    };
  }

  void prepared(Result<std::vector<std::string>> words) {
    preparing_ = false;
    if (!words) {
      gone_ = left_ = true;
      return end("It could not be started: " + words.error().message);
    }
    request_.argv = std::move(*words);
    parts_.supervisor.spawn(request_, this, guarded([this](Status started) {
                              if (!started) return not_started(started.error().message);
                              // Asked for before there was anything to stop.
                              if (closed_) parts_.supervisor.stop(request_.run);
                            }));
    for (auto& [message, id] : std::exchange(unsent_, {})) send(std::move(message), id);
  }

  // Nobody knows how far it came: nothing of it may be left.
  void not_started(const std::string& why) {
    gone_ = true;
    parts_.supervisor.forget(this);
    parts_.supervisor.stop(request_.run);
    if (auto closed = std::exchange(closed_, nullptr)) return closed();
    end("It could not be started: " + why);
  }
  void output(int64_t total) override {
    total_ = std::max(total_, total);
    read_on();
  }
  void ended(const process::RunEnd& end_of_run) override {
    gone_ = true;
    total_ = std::max(total_, end_of_run.output_bytes);
    end_ = end_of_run;
    if (auto closed = std::exchange(closed_, nullptr)) return parts_.engine.post(guarded_work(std::move(closed)));
    read_on();
    end_where_read();
  }

  // The journal is read beside the engine's thread, a bounded piece at a time, and let go behind it.
  void read_on() {
    if (reading_ || next_ >= total_ || !listener_) return;
    reading_ = true;
    parts_.background.post([this, here = std::weak_ptr(here_), journal = journal_, open = parts_.open_journal,
                            run = request_.run, next = next_, &engine = parts_.engine]() mutable {
      Result<process::JournalRead> read = fail(Code::unavailable, "");
      if (!journal)
        if (auto opened = open(run)) journal = *std::move(opened);
      if (journal) read = journal->read(next, read_chunk);
      engine.post([this, here = std::move(here), journal = std::move(journal), read = std::move(read)]() mutable {
        if (!here.expired()) take(std::move(journal), std::move(read));
      });
    });
  }

  void take(std::shared_ptr<process::Journal> journal, Result<process::JournalRead> read) {
    reading_ = false;
    if (!listener_) return;
    if (!read) return end("What it says cannot be read: " + read.error().message);
    journal_ = std::move(journal);
    // A message with a hole in it would be another message.
    if (read->damaged) return end("What it said is damaged on the disk.");
    if (read->next <= next_) return end_where_read();
    next_ = read->next;
    if (!gone_) parts_.supervisor.release_journal(request_.run, next_);
    for (const process::Piece& piece : read->pieces) {
      if (piece.stream == process::Stream::err) {
        last_words_ += piece.bytes;
        if (last_words_.size() > 2 * stderr_kept) last_words_.erase(0, last_words_.size() - stderr_kept);
      } else if (!take_bytes(piece.bytes)) {
        return;
      }
    }
    read_on();
    end_where_read();
  }

  // False: it is over.
  bool take_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t line_end = bytes.find('\n');
      line_ += bytes.substr(0, line_end);
      if (line_.size() > message_bytes_max) {
        end("It sent a message of more than 8 MiB.");
        return false;
      }
      if (line_end == std::string_view::npos) return true;
      bytes.remove_prefix(line_end + 1);
      const std::string line = std::exchange(line_, {});
      const std::weak_ptr here = here_;
      if (!trim(line).empty()) listener_->received(trim(line));
      if (here.expired() || !listener_) return false;
    }
    return true;
  }

  void end_where_read() {
    if (end_ && !reading_ && (next_ >= total_ || !journal_ || end_->output_bytes == 0))
      end(how_it_ended(*end_, last_words_));
  }
  void end(std::string why) {
    if (Listener* const listener = std::exchange(listener_, nullptr)) listener->ended(std::move(why));
  }

  StdioParts parts_;
  process::SpawnRequest request_;
  PrepareStdio prepare_;
  bool preparing_ = true;
  std::vector<std::pair<std::string, int64_t>> unsent_;  // The first words to it: there is nobody yet to hear them.
  Listener* listener_ = nullptr;
  std::shared_ptr<process::Journal> journal_;
  int64_t frames_ = 0;
  int64_t next_ = 0, total_ = 0;
  bool reading_ = false;
  bool gone_ = false;
  bool left_ = false;
  std::string line_;
  std::string last_words_;  // Of standard error.
  std::optional<process::RunEnd> end_;
  std::move_only_function<void()> closed_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
  Beside beside_{&parts_.background, &parts_.engine};
};

}  // namespace

std::unique_ptr<Transport> make_stdio_transport(StdioParts parts, process::SpawnRequest request, PrepareStdio prepare) {
  return std::make_unique<Stdio>(std::move(parts), std::move(request), std::move(prepare));
}

}  // namespace errand::builtin::mcp
