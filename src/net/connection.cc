// A connection's life and its reading half; connection_write.cc has the other.
#include "net/connection.h"

#include <algorithm>

#include <sys/socket.h>

#include "base/check.h"
#include "net/problem.h"

namespace errand::net {
namespace {

constexpr uint64_t drained_max = 8u << 20;

// Keeps the connection while somebody owes it an answer.
class ServerExchange final : public Exchange {
 public:
  explicit ServerExchange(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~ServerExchange() override {
    if (connection_)
      connection_->reply(problem(500, "internal", "The request was dropped without an answer; try again."));
  }
  void reply(Response response) override {
    ERRAND_CHECK(connection_, "an exchange is answered once");
    std::exchange(connection_, nullptr)->reply(std::move(response));
  }
  void stream(Response response, std::unique_ptr<StreamSource> source) override {
    ERRAND_CHECK(connection_, "an exchange is answered once");
    std::exchange(connection_, nullptr)
        ->stream(std::move(response), while_good(std::move(source), request.still_good), request.still_good);
  }
  void on_gone(std::function<void()> gone) override {
    if (connection_) connection_->on_gone(std::move(gone));
  }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace

Connection::Connection(std::shared_ptr<ServerState> state, std::unique_ptr<Watch> watch,
                       std::unique_ptr<Transport> transport, Peer peer)
    : state_(std::move(state)), watch_(std::move(watch)), transport_(std::move(transport)), peer_(std::move(peer)) {
  since_ = state_->clock.steady();
}

Connection::~Connection() = default;

void Connection::join() {
  place_ = state_->connections.size();
  state_->connections.push_back(shared_from_this());
  ++state_->stats.connections;
}

void Connection::start() {
  join();
  arm_read();
}

void Connection::start_refusing() {
  join();
  refuse(problem(503, "exhausted", "The server has as many connections as it allows. Close some, or try again later."));
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::streaming) --state_->stats.streams;
  const bool was_answering = phase_ == Phase::answering;
  phase_ = Phase::closed;
  state_->bodies_bytes -= std::exchange(claimed_, 0);
  transport_.reset();
  watch_.reset();
  pending_.clear();
  // A source is not destroyed inside its own wake or pull.
  if (source_ && pumping_) state_->loop.post([source = std::move(source_)] {});
  source_.reset();

  auto& all = state_->connections;
  all.back()->place_ = place_;
  std::swap(all[place_], all.back());
  all.pop_back();
  --state_->stats.connections;
  if (was_answering) tell_gone();
  if (all.empty() && state_->on_empty) state_->loop.post(std::exchange(state_->on_empty, nullptr));
}

void Connection::close_if_stale() {
  std::function<bool()> good;
  if (phase_ == Phase::streaming) {
    good = still_good_;
  } else if (const auto exchange = exchange_.lock(); exchange && phase_ == Phase::answering) {
    good = exchange->request.still_good;
  }
  if (good && !good()) close();
}

void Connection::tell_gone() {
  // Posted: it comes from anywhere, also from inside the handler's own call.
  if (gone_) state_->loop.post(std::exchange(gone_, nullptr));
}

void Connection::on_gone(std::function<void()> gone) {
  gone_ = std::move(gone);
  if (phase_ == Phase::closed || input_ended_) tell_gone();
}

void Connection::sweep(Time now) {
  const auto self = shared_from_this();
  const ServerLimits& limits = state_->limits;
  const Millis spent = now - since_;
  switch (phase_) {
    case Phase::head:
      if (served_ && !parser_) {
        if (spent >= limits.idle_ms) close();
      } else if (spent >= limits.header_ms) {
        if (!parser_) return close();  // Not a byte of a request: nobody to answer.
        refuse(problem(408, "timeout", "The request's head took too long."));
      }
      return;
    case Phase::body:
      if (spent >= limits.header_ms && received_ * 1000 < static_cast<uint64_t>(spent) * limits.body_floor_bytes_per_s)
        refuse(problem(408, "timeout", "The request's body arrives too slowly."));
      return;
    case Phase::replying:
    case Phase::streaming:
      if (!pending_.empty() && spent >= limits.write_stall_ms) {
        // Reset, so that the kernel drops what the peer does not take.
        const linger now_gone{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(watch_->fd(), SOL_SOCKET, SO_LINGER, &now_gone, sizeof now_gone);
        close();
      }
      return;
    case Phase::draining:
      if (spent >= limits.drain_ms) close();
      return;
    case Phase::answering:
    case Phase::closed:
      return;
  }
}

void Connection::arm_read(Moved::Want want) {
  if (reading_ || phase_ == Phase::closed || input_ended_) return;
  reading_ = true;
  auto work = [self = shared_from_this()] { self->on_readable(); };
  if (transport_->buffered())
    state_->loop.post(std::move(work));
  else if (want == Moved::Want::write)
    watch_->when_writable(std::move(work));
  else
    watch_->when_readable(std::move(work));
}

void Connection::on_readable() {
  reading_ = false;
  if (phase_ == Phase::closed) return;
  std::vector<char>& buffer = state_->read_buffer;
  const Moved moved = transport_->read(buffer.data(), buffer.size());
  switch (moved.want) {
    case Moved::Want::nothing:
      return take({buffer.data(), moved.bytes});
    case Moved::Want::read:
    case Moved::Want::write:
      return arm_read(moved.want);
    case Moved::Want::end:
      return on_input_end();
    case Moved::Want::gone:
      return close();
  }
}

void Connection::on_input_end() {
  input_ended_ = true;
  switch (phase_) {
    case Phase::answering:
      return tell_gone();
    case Phase::replying:
      return;  // Closed when it is written.
    default:
      return close();
  }
}

void Connection::take(std::string_view bytes) {
  switch (phase_) {
    case Phase::head:
    case Phase::body:
      return advance(bytes);
    case Phase::draining:
      received_ += bytes.size();
      return received_ > drained_max ? close() : arm_read();
    case Phase::answering:
    case Phase::replying:
    case Phase::streaming:
      // The next requests, sent ahead. A little is kept, and reading on tells when the peer leaves; past that it waits.
      input_.append(bytes);
      if (input_.size() < state_->limits.header_bytes) arm_read();
      return;
    case Phase::closed:
      return;
  }
}

void Connection::advance(std::string_view fresh) {
  if (advancing_) return;
  const auto self = shared_from_this();
  advancing_ = true;
  const bool kept = !input_.empty();
  if (kept) input_.append(fresh);
  std::string_view bytes = kept ? std::string_view(input_) : fresh;
  bool hungry = false;  // The parser needs more than there is.
  while (!hungry && !bytes.empty() && (phase_ == Phase::head || phase_ == Phase::body)) {
    if (!parser_) {
      const ServerLimits& limits = state_->limits;
      parser_ = std::make_unique<RequestParser>(
          RequestParser::Limits{.header_bytes = limits.header_bytes, .body_bytes = limits.body_bytes});
      if (served_) since_ = state_->clock.steady();
    }
    const size_t used = parser_->put(bytes);
    bytes.remove_prefix(used);
    if (phase_ == Phase::body) received_ += used;
    switch (parser_->state()) {
      case RequestParser::State::failed:
        refuse(problem(parser_->status, parser_->status == 413 ? "too_large" : "bad_request", parser_->problem));
        break;
      case RequestParser::State::head_done:
        on_head(!bytes.empty());
        break;
      case RequestParser::State::done:
        if (phase_ == Phase::head) on_head(false);
        if (parser_) dispatch();  // It was not refused.
        break;
      case RequestParser::State::body:
        hungry = true;
        if (parser_->content_length == unknown_length) claim_body(parser_->request.body.capacity());
        break;
      case RequestParser::State::head:
        hungry = true;
        break;
    }
  }
  advancing_ = false;
  if (phase_ == Phase::closed) return;
  if (kept)
    input_.erase(0, input_.size() - bytes.size());
  else
    input_.assign(bytes);
  if (input_.empty()) std::string().swap(input_);
  if (phase_ != Phase::replying) arm_read();
}

void Connection::on_head(bool body_begun) {
  const ServerLimits& limits = state_->limits;
  Request& request = parser_->request;
  request.peer = peer_.address;
  request.over_unix = peer_.over_unix;
  request.secure = transport_->secure();
  http10_ = parser_->http10;
  head_only_ = request.method == Method::head;
  const uint64_t length = parser_->content_length;
  // What is refused before its body was read leaves the body on the wire: such a connection cannot go on.
  keep_alive_ = parser_->keep_alive && length == 0;
  if (std::optional<Response> refusal = state_->check(request, length)) return refuse(std::move(*refusal));
  if (request.method == Method::options || request.method == Method::other) {
    Response response = problem(405, "method_not_allowed", "The methods are GET, HEAD, POST, PUT, PATCH and DELETE.");
    response.headers.emplace_back("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE");
    return refuse(std::move(response));
  }
  if (length == 0) return;
  if (length != unknown_length) {
    if (length > limits.body_bytes)
      return refuse(
          problem(413, "too_large", "The body is larger than " + std::to_string(limits.body_bytes) + " bytes."));
    if (!claim_body(length)) return;
    request.body.reserve(length);
  }
  keep_alive_ = parser_->keep_alive;
  phase_ = Phase::body;
  since_ = state_->clock.steady();
  received_ = 0;
  if (parser_->expects_continue && !body_begun) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const iovec part{.iov_base = const_cast<char*>(go_on.data()), .iov_len = go_on.size()};
    // Nothing else is under way in this direction, so a socket that does not take these bytes is broken.
    if (transport_->write({&part, 1}).bytes != go_on.size()) close();
  }
}

bool Connection::claim_body(uint64_t bytes) {
  if (bytes <= claimed_) return true;
  const uint64_t more = bytes - claimed_;
  if (state_->bodies_bytes + more > state_->limits.bodies_bytes) {
    refuse(problem(503, "exhausted", "Too many large requests are being read at once; try again in a moment."));
    return false;
  }
  state_->bodies_bytes += more;
  claimed_ = bytes;
  return true;
}

void Connection::dispatch() {
  const auto exchange = std::make_shared<ServerExchange>(shared_from_this());
  exchange_ = exchange;
  exchange->request = std::move(parser_->request);
  reply_headers_ = exchange->request.reply_headers;
  parser_.reset();
  state_->bodies_bytes -= std::exchange(claimed_, 0);
  if (state_->stopping) keep_alive_ = false;
  phase_ = Phase::answering;
  ++state_->stats.requests;
  state_->handler(exchange);
}

void Connection::refuse(Response response) {
  if (parser_) {
    if (parser_->state() == RequestParser::State::done)
      reply_headers_ = std::move(parser_->request.reply_headers);
    else
      keep_alive_ = false;
  } else {
    keep_alive_ = false;
  }
  parser_.reset();
  state_->bodies_bytes -= std::exchange(claimed_, 0);
  send(std::move(response));
}

}  // namespace errand::net
