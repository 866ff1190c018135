#include "net/loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

namespace errand::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// The concrete executor everywhere: any_io_executor costs a third of the requests per second.
using LoopExecutor = asio::io_context::executor_type;
using Descriptor = asio::posix::basic_stream_descriptor<LoopExecutor>;
using AsioTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

class LoopWatch final : public Watch {
 public:
  LoopWatch(asio::io_context& context, int fd)
      : descriptor_(context.get_executor(), fd), open_(std::make_shared<bool>(true)) {}
  ~LoopWatch() override { *open_ = false; }
  int fd() const override { return const_cast<Descriptor&>(descriptor_).native_handle(); }
  void when_readable(Work work) override { wait(Descriptor::wait_read, std::move(work)); }
  void when_writable(Work work) override { wait(Descriptor::wait_write, std::move(work)); }

 private:
  void wait(Descriptor::wait_type what, Work work) {
    // `open` covers the wait that was over before the watch was destroyed and had not been told yet.
    descriptor_.async_wait(what, [open = open_, work = std::move(work)](error_code ec) mutable {
      if (*open && ec != asio::error::operation_aborted) work();
    });
  }

  Descriptor descriptor_;
  std::shared_ptr<bool> open_;
};

// Our steady time goes on while the machine sleeps, Asio's does not: a long wait is made of short ones, so that a
// deadline that passed during sleep is met soon after it.
constexpr Millis nap_ms = 30'000;

class LoopTimer final : public Timer {
 public:
  explicit LoopTimer(asio::io_context& context) : timer_(context.get_executor()), state_(std::make_shared<State>()) {}
  ~LoopTimer() override { ++state_->turn; }
  void set(Time at, Work work) override {
    ++state_->turn;
    state_->at = at;
    state_->work = std::move(work);
    nap();
  }
  void cancel() override {
    ++state_->turn;
    state_->work = nullptr;
    timer_.cancel();
  }

 private:
  struct State {
    uint64_t turn = 0;  // Counts what replaces or cancels: an expiry already on its way finds itself outdated.
    Time at;
    Work work;
  };

  void nap() {
    const Millis left = std::clamp<Millis>(state_->at - SystemClock().steady(), 0, nap_ms);
    timer_.expires_after(std::chrono::milliseconds(left));
    timer_.async_wait([this, state = state_, turn = state_->turn](error_code ec) {
      if (state->turn != turn || ec == asio::error::operation_aborted) return;
      if (SystemClock().steady() < state->at) return nap();
      Work work = std::exchange(state->work, nullptr);  // It may set the timer again, or destroy it.
      work();
    });
  }

  AsioTimer timer_;
  std::shared_ptr<State> state_;
};

class AsioLoop final : public Loop {
 public:
  AsioLoop() : guard_(context_.get_executor()), tick_(context_), signals_(context_.get_executor()) {}

  void run() override {
    context_.restart();
    context_.run();
  }
  void stop() override { context_.stop(); }
  void post(Work work) override { asio::post(context_.get_executor(), std::move(work)); }
  void set_timer(Time at, std::function<void()> work) override { tick_.set(at, std::move(work)); }
  void on_signal(std::vector<int> signals, std::function<void(int)> work) override {
    for (const int signal : signals) signals_.add(signal);
    on_signal_ = std::move(work);
    wait_signal();
  }
  std::unique_ptr<Watch> watch(int fd) override { return std::make_unique<LoopWatch>(context_, fd); }
  std::unique_ptr<Timer> timer() override { return std::make_unique<LoopTimer>(context_); }
  void* context() override { return &context_; }

 private:
  void wait_signal() {
    signals_.async_wait([this](error_code ec, int signal) {
      if (ec) return;
      wait_signal();
      on_signal_(signal);
    });
  }

  asio::io_context context_{1};  // One thread runs it; others may post.
  asio::executor_work_guard<LoopExecutor> guard_;
  LoopTimer tick_;
  asio::basic_signal_set<LoopExecutor> signals_;
  std::function<void(int)> on_signal_;
};

}  // namespace

std::unique_ptr<Loop> Loop::make() { return std::make_unique<AsioLoop>(); }

}  // namespace errand::net
