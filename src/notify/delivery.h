// One try to deliver a notification. The head of the answer decides: nothing of its body is read or kept.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "http/client.h"

namespace errand::notify {

struct Outcome {
  int status = 0;             // Of the answer; 0: there was none.
  std::string error;          // What went wrong, as a sentence; empty: delivered.
  Millis retry_after_ms = 0;  // What the receiver asked for; 0: nothing.

  bool delivered() const { return error.empty(); }
};

inline constexpr Millis answer_ms = 15'000;  // From the start of a try to the head of the answer.
inline constexpr Millis connect_ms = 10'000;

// Loop thread. Destroyed, it ends the call and reports nothing.
class Delivery final : private http::Handler {
 public:
  // Reports once, later, never inside the constructor; it may be destroyed inside the report.
  Delivery(http::Client& client, http::Request request, std::move_only_function<void(Outcome)> report);
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

 private:
  void head(const http::Head& head) override;
  void body(std::string_view) override {}
  void done(Status status) override;
  void finish(Outcome outcome);

  std::move_only_function<void(Outcome)> report_;
  std::unique_ptr<http::Call> call_;
};

}  // namespace errand::notify
