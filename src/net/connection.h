// One accepted connection: reads requests, hands them to the handler one after the other, writes the answers.
//
//   head -> [body ->] answering -> replying -> head ...        keep-alive
//                              \-> streaming -> head ...
//   any -> draining -> closed                                  after "Connection: close"
//
// Reading and writing are independent halves driven by readiness, not one coroutine: while a handler thinks or a stream
// is idle the reading half listens for the peer's leaving, and a stream's wake writes at once from wherever it comes.
// What a connection needs only now and then (parse buffers, the list of slices) is shared by all or freed: an idle
// stream costs its object and one pending wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/reply.h"
#include "net/request_parser.h"
#include "net/server.h"
#include "net/transport.h"

namespace errand::net {

class Connection;

// What all connections of a server share. Loop thread only.
struct ServerState {
  ServerState(Loop& l, ServerLimits limits_, HeadCheck check_, Handler handler_)
      : loop(l), limits(limits_), check(std::move(check_)), handler(std::move(handler_)), read_buffer(64 << 10) {}

  Loop& loop;
  const ServerLimits limits;
  const HeadCheck check;
  const Handler handler;
  SystemClock clock;

  std::vector<std::shared_ptr<Connection>> connections;
  ServerStats stats;
  uint64_t bodies_bytes = 0;  // Claimed by bodies being read.
  bool stopping = false;
  std::function<void()> on_empty;  // Called when the last connection goes.

  std::vector<char> read_buffer;
  std::vector<Slice> batch;  // For streams whose socket takes all of it at once; capacity is kept.
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Peer {
    std::string address;
    bool over_unix = false;
  };
  Connection(std::shared_ptr<ServerState> state, std::unique_ptr<Watch> watch, std::unique_ptr<Transport> transport,
             Peer peer);
  ~Connection();

  // Puts itself on the state's list and begins to read.
  void start();
  // In place of start(): answers 503 and closes.
  void start_refusing();
  // Acts on a deadline that has passed.
  void sweep(Time now);
  // The server stops: idle connections close, streams say `farewell`, the rest is answered and then closed.
  void stop(std::string_view farewell);
  void close();
  // Closes it where whom it answers, or streams to, has no good credentials any more.
  void close_if_stale();

  // The exchange's side.
  void reply(Response response);
  void stream(Response response, std::unique_ptr<StreamSource> source, std::function<bool()> still_good);
  void on_gone(std::function<void()> gone);

 private:
  enum class Phase : uint8_t { head, body, answering, replying, streaming, draining, closed };

  void join();
  void arm_read(Moved::Want want = Moved::Want::read);
  void on_readable();
  void on_input_end();
  void take(std::string_view bytes);
  void advance(std::string_view fresh);
  void on_head(bool body_begun);
  bool claim_body(uint64_t bytes);
  void dispatch();
  void refuse(Response response);

  void send(Response response, Framing framing = Framing::length);
  bool write(std::vector<Slice>& slices);
  void wait_to_write(Moved::Want want);
  void on_writable();
  void written();
  void finish_reply();
  void drain();

  void pump();
  void frame(std::vector<Slice>& batch, size_t bytes);
  void end_stream();
  void tell_gone();

  const std::shared_ptr<ServerState> state_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Transport> transport_;
  const Peer peer_;
  size_t place_ = SIZE_MAX;  // In state_->connections.

  Phase phase_ = Phase::head;
  bool keep_alive_ = true;
  bool http10_ = false;
  bool head_only_ = false;    // The request was HEAD.
  bool reading_ = false;      // A wait for input is pending.
  bool input_ended_ = false;  // The peer has finished sending.
  bool advancing_ = false;    // advance() is running: who is called from it leaves the rest of the input to it.
  bool served_ = false;       // At least one request was answered: waiting for the next is idling.
  bool pumping_ = false, woken_ = false, ending_ = false, chunked_ = false;
  Time since_;             // When the phase began; while writing, of the last progress.
  uint64_t received_ = 0;  // Bytes of the body, or drained.
  uint64_t claimed_ = 0;   // Of state_->bodies_bytes.

  std::unique_ptr<RequestParser> parser_;  // While a head or body is being read.
  std::string input_;                      // Read, not yet parsed.
  std::vector<std::pair<std::string, std::string>> reply_headers_;
  std::function<void()> gone_;
  std::weak_ptr<Exchange> exchange_;  // While it is answered.
  std::function<bool()> still_good_;  // Of a stream, see Request.
  std::unique_ptr<StreamSource> source_;

  std::vector<Slice> pending_;  // What the socket did not take; its first slice is cut to what is left.
  char chunk_head_[20];         // "SIZE\r\n" of the one chunk under way.
};

}  // namespace errand::net
