#include "driver/builtin/mcp_client/client.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace errand::builtin::mcp {
namespace {

constexpr int pages_max = 50;

}  // namespace

Client::Client(std::string name, Make make, Timers& timers, Executor& engine, Millis call_timeout_ms,
               std::string version)
    : name_(std::move(name)),
      make_(std::move(make)),
      timers_(timers),
      engine_(engine),
      call_timeout_ms_(call_timeout_ms),
      version_(std::move(version)),
      begin_timer_(timers) {}

Client::~Client() {
  const bool works = std::ranges::any_of(waiting_, [](const auto& entry) { return entry.second.request != 0; });
  if (works && state_ == State::ready && transport_) transport_->leave();
}

void Client::drop() { waiting_.clear(); }

void Client::leave(int64_t number) {
  if (const auto call = waiting_.find(number); call != waiting_.end()) call->second.called = [](auto&&) {};
}

std::string Client::prefixed(std::string_view why) const { return fmt::format("The MCP server {}: {}", name_, why); }

void Client::begin(Begun begun) {
  begun_ = std::move(begun);
  start();
}

void Client::start() {
  ++starts_;
  state_ = State::initializing;
  found_ = {};
  pages_ = 0;
  old_ = std::move(transport_);
  transport_ = make_();
  transport_->start(*this);
  handshake_ = ++last_id_;
  begin_timer_.set(begin_ms,
                   [this] { ended(fmt::format("It did not say within {} what it has.", format_duration(begin_ms))); });
  transport_->send(initialize_message(handshake_, version_), handshake_);
}

void Client::received(std::string_view text) {
  const Result<Received> message = parse_received(text);
  // A line that is no message (a greeting, a log line on the wrong stream) is passed by.
  if (!message) return;
  switch (message->kind) {
    case Received::Kind::notification:
      return;
    case Received::Kind::request:
      if (transport_) transport_->send(message->answer, 0);
      return;
    case Received::Kind::response:
      if (message->id == handshake_ && state_ == State::initializing) return initialized(message->body);
      if (message->id == handshake_ && state_ == State::listing) return listed(message->body);
      return settle(message->id, parse_call(message->body));
    case Received::Kind::error:
      if (message->id == handshake_ && (state_ == State::initializing || state_ == State::listing))
        return ended("It refused to begin: " + message->body);
      return settle(message->id, CallResult{.text = message->body, .is_error = true});
  }
}

void Client::initialized(const std::string& result) {
  const Result<std::string> version = parse_initialized(result);
  if (!version) return ended(version.error().message);
  transport_->agreed(*version);
  transport_->send(initialized_message(), 0);
  state_ = State::listing;
  handshake_ = ++last_id_;
  transport_->send(list_message(handshake_, {}), handshake_);
}

void Client::listed(const std::string& result) {
  Result<ToolPage> page = parse_tools(result);
  if (!page) return ended("Its tools cannot be read: " + page.error().message);
  for (ListedTool& tool : page->tools) {
    if (found_.tools.size() < tools_max)
      found_.tools.push_back(std::move(tool));
    else if (found_.left_out.size() < tools_max)
      found_.left_out.push_back(std::move(tool.name));
  }
  for (std::string& name : page->left_out)
    if (found_.left_out.size() < tools_max) found_.left_out.push_back(std::move(name));
  if (!page->next_cursor.empty() && ++pages_ < pages_max) {
    handshake_ = ++last_id_;
    return transport_->send(list_message(handshake_, page->next_cursor), handshake_);
  }
  ready();
}

void Client::ready() {
  begin_timer_.cancel();
  state_ = State::ready;
  handshake_ = 0;
  std::vector<int64_t> unsent;
  for (const auto& [number, call] : waiting_)
    if (call.request == 0) unsent.push_back(number);
  for (const int64_t number : unsent) send(number);
  if (auto begun = std::exchange(begun_, nullptr)) begun(std::move(found_));
}

int64_t Client::call(const std::string& tool, std::string arguments, Called called) {
  const int64_t number = ++last_id_;
  Waiting& waiting = waiting_[number];
  waiting.tool = tool;
  waiting.arguments = std::move(arguments);
  waiting.called = std::move(called);
  waiting.timer = std::make_unique<Timer>(timers_);
  waiting.timer->set(call_timeout_ms_, [this, number] {
    const auto late = waiting_.find(number);
    if (late == waiting_.end()) return;
    Called tell = std::move(late->second.called);
    give_up(number);
    tell(fail(Code::unavailable, prefixed(fmt::format("It did not answer within {}; it is not known how far it got.",
                                                      format_duration(call_timeout_ms_)))));
  });
  if (state_ == State::ready) {
    send(number);
  } else if (state_ == State::dead) {
    if (starts_ <= restarts_max) {
      start();
    } else {
      engine_.post([this, here = std::weak_ptr(here_), number] {
        if (here.expired()) return;
        const auto waits = waiting_.find(number);
        if (waits == waiting_.end()) return;
        Called tell = std::move(waits->second.called);
        waiting_.erase(waits);
        tell(fail(Code::conflict, prefixed("It has died too often and is not started again in this turn.")));
      });
    }
  }
  return number;
}

void Client::send(int64_t number) {
  const auto call = waiting_.find(number);
  if (call == waiting_.end()) return;
  call->second.request = ++last_id_;
  transport_->send(call_message(call->second.request, call->second.tool, call->second.arguments), call->second.request);
}

void Client::give_up(int64_t number) {
  const auto call = waiting_.find(number);
  if (call == waiting_.end()) return;
  const int64_t request = call->second.request;
  waiting_.erase(call);
  if (request != 0 && state_ == State::ready && transport_) transport_->send(cancelled_message(request), 0);
}

void Client::settle(int64_t request, Result<CallResult> result) {
  const auto call = std::ranges::find_if(waiting_, [&](const auto& entry) { return entry.second.request == request; });
  if (request == 0 || call == waiting_.end()) return;
  Called called = std::move(call->second.called);
  waiting_.erase(call);
  if (!result) result = fail(Code::unavailable, prefixed(result.error().message));
  called(std::move(result));
}

void Client::lost(int64_t id, std::string why) {
  if (id == handshake_ && (state_ == State::initializing || state_ == State::listing)) return ended(std::move(why));
  settle(id, fail(Code::unavailable, why));
}

void Client::ended(std::string why) {
  if (state_ == State::dead) return;
  state_ = State::dead;
  begin_timer_.cancel();
  fail_all(why);
}

void Client::fail_all(const std::string& why) {
  std::vector<Called> calls;
  calls.reserve(waiting_.size());
  for (auto& [number, call] : waiting_) calls.push_back(std::move(call.called));
  waiting_.clear();
  const std::weak_ptr here = here_;
  if (auto begun = std::exchange(begun_, nullptr)) begun(fail(Code::unavailable, prefixed(why)));
  for (Called& called : calls) {
    if (here.expired()) return;
    called(fail(Code::unavailable, prefixed(why)));
  }
}

void Client::close(std::move_only_function<void()> gone) {
  waiting_.clear();
  begin_timer_.cancel();
  state_ = State::dead;
  starts_ = restarts_max + 1;
  if (transport_) return transport_->close(std::move(gone));
  engine_.post([here = std::weak_ptr(here_), gone = std::move(gone)]() mutable {
    if (!here.expired()) gone();
  });
}

}  // namespace errand::builtin::mcp
