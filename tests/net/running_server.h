// A server with its loop on a thread of its own, for tests that talk to it through sockets.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "net/server.h"
#include "tests/net/raw_client.h"

namespace errand::net {

class RunningServer {
 public:
  // `check` may be empty: everything passes.
  RunningServer(ServerLimits limits, HeadCheck check, Handler handler);
  ~RunningServer();

  int port() const { return port_; }
  Loop& loop() { return *loop_; }
  Server& server() { return *server_; }
  RawClient connect() const { return RawClient::tcp(port_); }
  // Runs `work` on the loop and waits for it.
  void on_loop(std::function<void()> work);
  ServerStats stats();
  // Waits (up to 20 s) until `condition`, asked on the loop, holds.
  bool eventually(std::function<bool()> condition);

 private:
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
  std::thread thread_;
};

// Answers with what it saw: "METHOD PATH BODY".
void echo(ExchangePtr exchange);

}  // namespace errand::net
