#include "mcp/answer_stream.h"

#include <algorithm>

#include "base/json_out.h"
#include "base/time.h"
#include "net/routes/event_stream.h"

namespace errand::mcp {

std::string progress_message(std::string_view token, Millis waited) {
  std::string params;
  JsonOut(params)
      .object()
      .key("progressToken")
      .raw(token)
      .field("progress", static_cast<double>(waited) / 1'000)
      .field("message", "Still at work after " + format_duration(waited) + " of waiting.")
      .end();
  return notification_message("notifications/progress", params);
}

AnswerStream::AnswerStream(net::Heartbeats& heartbeats, Clock& clock, std::string token,
                           std::shared_ptr<tools::Cancellation> cancellation)
    : clock_(clock),
      token_(std::move(token)),
      cancellation_(std::move(cancellation)),
      began_(clock.steady()),
      heartbeat_(heartbeats.join([this] { silent(); })) {}

AnswerStream::~AnswerStream() {
  *self_ = nullptr;
  if (!answered_ && cancellation_) cancellation_->cancel();
}

Answering AnswerStream::answering(bool asks_again) {
  return [self = self_, asks_again](const Answer& answer) {
    AnswerStream* const stream = *self;
    if (!stream) return;
    if (!answer.stopping || !asks_again) net::append_sse_frame(stream->waiting_, {}, "message", answer.text);
    stream->answered_ = true;
    if (stream->wake_) stream->wake_();
  };
}

void AnswerStream::silent() {
  if (answered_) return;
  if (token_.empty()) {
    waiting_ += net::sse_heartbeat().bytes;
  } else {
    told_ = std::max(told_ + 1, clock_.steady() - began_);
    net::append_sse_frame(waiting_, {}, "message", progress_message(token_, told_));
  }
  if (wake_) wake_();
}

net::StreamSource::Pulled AnswerStream::pull(std::vector<net::Slice>& out, size_t) {
  if (!waiting_.empty()) out.push_back(net::to_slice(std::exchange(waiting_, {})));
  if (answered_) return Pulled::end;
  if (out.empty()) return Pulled::none;
  heartbeat_->spoke();
  return Pulled::some;
}

}  // namespace errand::mcp
