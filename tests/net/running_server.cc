#include "tests/net/running_server.h"

#include <chrono>

#include "base/check.h"

namespace errand::net {

RunningServer::RunningServer(ServerLimits limits, HeadCheck check, Handler handler) : loop_(Loop::make()) {
  if (!check) check = [](Request&, uint64_t) -> std::optional<Response> { return std::nullopt; };
  server_ = make_server(*loop_, limits, std::move(check), std::move(handler));
  const Result<int> port = server_->listen("127.0.0.1", 0);
  server_->accept();
  ERRAND_CHECK(port, "a free port of the loopback");
  port_ = *port;
  thread_ = std::thread([this] { loop_->run(); });
}

RunningServer::~RunningServer() {
  on_loop([this] { server_.reset(); });
  loop_->stop();
  thread_.join();
}

void RunningServer::on_loop(std::function<void()> work) {
  std::promise<void> done;
  loop_->post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

ServerStats RunningServer::stats() {
  ServerStats stats;
  on_loop([&] { stats = server_->stats(); });
  return stats;
}

bool RunningServer::eventually(std::function<bool()> condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    bool holds = false;
    on_loop([&] { holds = condition(); });
    if (holds) return true;
    std::this_thread::yield();
  }
  return false;
}

void echo(ExchangePtr exchange) {
  const Request& request = exchange->request;
  Response response{.status = 200, .content_type = "text/plain", .body = {}, .headers = {}};
  response.body = std::string(name(request.method)) + " " + request.path + " " + request.body;
  exchange->reply(std::move(response));
}

}  // namespace errand::net
