#include "notify/delivery.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace errand::notify {
namespace {

Millis seconds_in(std::string_view header) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  const bool whole = error == std::errc() && end == header.data() + header.size();
  return whole && seconds > 0 && seconds < 1'000'000 ? seconds * 1'000 : 0;
}

}  // namespace

Delivery::Delivery(http::Client& client, http::Request request, std::move_only_function<void(Outcome)> report)
    : report_(std::move(report)) {
  request.connect_ms = connect_ms;
  request.first_byte_ms = answer_ms;
  request.silence_ms = answer_ms;
  request.body_max = 64 << 10;
  request.follow_redirects = false;
  call_ = client.start(std::move(request), *this);
}

void Delivery::head(const http::Head& head) {
  Outcome outcome{.status = head.status};
  if (head.status >= 300 && head.status < 400) {
    outcome.error = fmt::format("The receiver answered {}: errand follows no redirects.", head.status);
  } else if (head.status < 200 || head.status >= 300) {
    outcome.error = fmt::format("The receiver answered {}.", head.status);
    if (head.status == 429 || head.status == 503) outcome.retry_after_ms = seconds_in(head.header("retry-after"));
  }
  finish(std::move(outcome));
}

// Only where no head came.
void Delivery::done(Status status) {
  finish({.error = status ? "The receiver closed the connection without an answer." : status.error().message});
}

void Delivery::finish(Outcome outcome) {
  if (!report_) return;
  call_.reset();  // Of what is left of the answer nothing is needed.
  auto report = std::exchange(report_, {});
  report(std::move(outcome));
}

}  // namespace errand::notify
