// A server that is connected to the supervisor.
#pragma once

#include <string>

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

  // Never blocks. One that does not read what it is sent is hung up on.
  void send(std::string frame);
  // Hung up, by either side. Its owner removes it when it is safe.
  bool closed() const { return closed_; }

  void ready(int fd, uint32_t events) override;

 private:
  void receive();
  void flush();
  void close();

  Fd socket_;
  EventLoop& loop_;
  PeerOwner& owner_;
  FrameReader reader_;
  std::string waiting_;  // Not yet sent.
  bool closed_ = false;
};

}  // namespace errand::process
