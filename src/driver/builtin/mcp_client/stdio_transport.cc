#include <map>
#include <utility>

#include "driver/builtin/mcp_client/messages.h"
#include "driver/builtin/mcp_client/transport.h"
#include "driver/line_child/line_child.h"

namespace errand::builtin::mcp {
namespace {

constexpr Millis refused_ms = 1'000;

class Stdio final : public Transport, private lines::Listener {
 public:
  Stdio(const StdioParts& parts, process::SpawnRequest request)
      : supervisor_(parts.supervisor),
        engine_(parts.engine),
        request_(std::move(request)),
        late_(parts.timers),
        child_({.supervisor = parts.supervisor,
                .timers = parts.timers,
                .files = &parts.background,
                .engine = &parts.engine,
                .open_journal = parts.open_journal},
               {.line_max = message_bytes_max}, request_.run, *this) {
    request_.timeout_ms = 0;
  }
  ~Stdio() override {
    if (!left_) supervisor_.release(request_.run);
  }

  void start(Transport::Listener& listener) override {
    listener_ = &listener;
    child_.spawn(request_);
  }

  void send(std::string message, int64_t id) override {
    const Result<int64_t> number = child_.write(std::move(message));
    if (number) {
      sent_.emplace(*number, id);
    } else {
      engine_.post(guarded([this, id, why = number.error().message] { lose(id, why); }));
    }
  }

  void leave() override { left_ = true; }

  void close(std::move_only_function<void()> gone) override {
    listener_ = nullptr;
    if (child_.is_over()) return engine_.post(guarded(std::move(gone)));
    closed_ = std::move(gone);
    child_.close_input();
    child_.stop();
    child_.go_on();  // What it still says is read, and told to nobody: its end is behind it.
  }

 private:
  template <class F>
  Work guarded(F work) {
    return [here = std::weak_ptr(here_), work = std::move(work)]() mutable {
      if (!here.expired()) work();
    };
  }
  void lose(int64_t id, const std::string& why) {
    if (id != 0 && listener_) listener_->lost(id, why);
  }

  void started(int64_t) override {}
  void taken(int64_t number) override { sent_.erase(number); }
  // It has closed its input: mostly it is about to end, and its end says more.
  void refused(int64_t number, const Error& error) override {
    const auto sent = sent_.find(number);
    if (sent == sent_.end()) return;
    refused_.emplace_back(sent->second, error.message);
    sent_.erase(sent);
    late_.set(refused_ms, [this] {
      const std::weak_ptr here = here_;
      for (const auto& [id, why] : std::exchange(refused_, {})) {
        lose(id, why);
        if (here.expired()) return;
      }
    });
  }
  // Nothing of it is stored: whoever waits for an answer when the server dies asks again.
  void lines(std::span<const lines::Line> lines) override {
    const std::weak_ptr here = here_;
    for (const lines::Line& line : lines) {
      if (listener_) listener_->received(line.text);
      if (here.expired()) return;
    }
    child_.release(lines.back().next);
  }
  void ended(const lines::End& end) override {
    if (closed_) return std::exchange(closed_, nullptr)();
    if (Transport::Listener* const listener = std::exchange(listener_, nullptr)) listener->ended(describe(end));
  }

  process::SupervisorClient& supervisor_;
  Executor& engine_;
  process::SpawnRequest request_;
  Transport::Listener* listener_ = nullptr;
  std::map<int64_t, int64_t> sent_;                       // Frames that are on their way, and the requests in them.
  std::vector<std::pair<int64_t, std::string>> refused_;  // Requests that it did not take, and why.
  Timer late_;
  bool left_ = false;
  std::move_only_function<void()> closed_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
  lines::LineChild child_;
};

}  // namespace

std::unique_ptr<Transport> make_stdio_transport(const StdioParts& parts, process::SpawnRequest request) {
  return std::make_unique<Stdio>(parts, std::move(request));
}

}  // namespace errand::builtin::mcp
