// A server that is connected to the supervisor.
#pragma once

#include <string>
#include <string_view>

#include "process/event_loop.h"
#include "process/fd.h"
#include "process/wire.h"

namespace errand::process {

class Peer;

class PeerOwner {
 public:
  virtual ~PeerOwner() = default;
  virtual void frame(Peer& peer, const Fields& fields) = 0;
};

class Peer final : public Ready {
 public:
  Peer(Fd socket, EventLoop& loop, PeerOwner& owner);
  ~Peer() override;

  // Never blocks. The frames of one round of the loop are sent together, with flush(), so that they wake the server
  // once. A server that does not read what it is sent is disconnected.
  void send(std::string_view frame);
  void flush();
  // Disconnected, by either side. Its owner removes it when it is safe.
  bool closed() const { return closed_; }

  int64_t orphan_ms = 0;  // What it wishes for its runs while there is no server; 0: nothing, or it is heard already.

  void ready(int fd, uint32_t events) override;

 private:
  void receive();
  void close();

  Fd socket_;
  EventLoop& loop_;
  PeerOwner& owner_;
  FrameReader reader_;
  std::string waiting_;   // Not yet sent.
  bool blocked_ = false;  // The loop says when there is room again.
  bool closed_ = false;
};

}  // namespace errand::process
