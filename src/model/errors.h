// What a refusal means, and whether it is worth another try: the rules of the official clients, and what tells a usage
// limit from a busy server and a conversation that is too long from a wrong request. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/client.h"
#include "model/decode.h"
#include "model/model.h"

namespace errand::model {

struct Refusal {
  Failure failure;
  bool try_again = false;          // Now, after a wait: retries are left for this.
  std::optional<Millis> asked_ms;  // The wait that the provider asked for.
};

// An answer whose status is not 200. `now`: wall time.
Refusal judge_status(const http::Head& head, std::string_view body, const AskLimits& limits, Time now);
// An error inside a stream. `began`: a block was told already, so it is not tried again here.
Refusal judge_stream(const ProviderError& error, bool began);
// The connection failed, or ended without the end of the answer.
Refusal judge_network(const Error& error, bool began);

// Takes every secret of the endpoint, and what looks like a key, out of what somebody else wrote.
std::string redact(std::string text, const Endpoint& endpoint);

// The n-th wait (from 0) of the official clients: doubling, bounded, less up to a quarter. `chance`: 0 <= chance < 1.
Millis backoff(const AskLimits& limits, int tries, double chance);

// "120", "1.5", or an HTTP date: a wait from `now`.
std::optional<Millis> parse_retry_after(std::string_view text, Time now);

}  // namespace errand::model
