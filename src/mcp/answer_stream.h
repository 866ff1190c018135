// The answer to a request that may be long in coming, as a stream: how far it is every 15 s (notifications/progress,
// where the request has a progress token), then the answer, then the end.
#pragma once

#include <memory>
#include <string>

#include "mcp/rpc.h"
#include "net/http.h"
#include "net/sse.h"

namespace errand::mcp {

class AnswerStream final : public net::StreamSource {
 public:
  // `token` is JSON; empty: nobody wants to know how far it is, and the stream is only kept alive. A reader who leaves
  // gives up the wait.
  AnswerStream(net::Heartbeats& heartbeats, Clock& clock, std::string token,
               std::shared_ptr<tools::Cancellation> cancellation);
  ~AnswerStream() override;

  // Where the answer goes; does nothing once the stream is gone. `asks_again`: the client comes again where the server
  // stops, so that is not told as an answer.
  Answering answering(bool asks_again = false);

  Pulled pull(std::vector<net::Slice>& out, size_t bytes) override;
  void on_ready(std::function<void()> wake) override { wake_ = std::move(wake); }

 private:
  void silent();

  Clock& clock_;
  const std::string token_;
  const std::shared_ptr<tools::Cancellation> cancellation_;
  const Time began_;
  std::unique_ptr<net::Heartbeats::Member> heartbeat_;
  std::function<void()> wake_;
  std::string waiting_;  // To be written.
  Millis told_ = 0;      // The last progress that was told, strictly increasing.
  bool answered_ = false;
  std::shared_ptr<AnswerStream*> self_ = std::make_shared<AnswerStream*>(this);
};

// notifications/progress. `token` is JSON.
std::string progress_message(std::string_view token, Millis waited);

}  // namespace errand::mcp
