// Everything that reads JSON or a query from outside, and everything that reads back what it stored: no input may
// crash, hang or be read in two ways. The first byte chooses what is read.
#include <cstdint>
#include <string>
#include <string_view>

#include "api/launch.h"
#include "api/query.h"
#include "api/requests.h"
#include "base/check.h"
#include "task/json.h"
#include "task/json_in.h"

namespace errand {
namespace {

void read_launch(std::string_view text) {
  const Result<Launch> launch = api::parse_launch(text);
  if (!launch) {
    ERRAND_CHECK(!launch.error().message.empty(), "an error says what is wrong");
    return;
  }
  // What was let in can be stored and read back.
  const Result<Launch> stored = decode_launch(encode_launch(*launch));
  ERRAND_CHECK(stored && *stored == *launch, "a launch comes back as it was stored");
  ERRAND_CHECK(api::fingerprint(*stored) == api::fingerprint(*launch), "the same launch has the same fingerprint");
  ERRAND_CHECK(!title_of(*launch).empty(), "every task has a title");
  if (!launch->content.empty()) ERRAND_CHECK(decode_parts(launch->content).has_value(), "content can be read back");
}

void read_request(std::string_view text) {
  (void)api::parse_message(text);
  (void)api::parse_resume(text);
  (void)api::parse_retry(text);
  (void)api::parse_answer(text);
  (void)api::parse_clear(text);
  (void)api::parse_session(text);
  (void)api::parse_nothing(text);
}

// "name=value&...", not decoded.
void read_query(std::string_view text) {
  api::Query query;
  while (!text.empty() && query.size() < 64) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = std::min(pair.find('='), pair.size());
    query.emplace_back(pair.substr(0, equals), pair.substr(std::min(pair.size(), equals + 1)));
  }
  (void)api::parse_list(query);
  (void)api::parse_result(query);
  (void)api::parse_batch(query);
  (void)api::parse_messages(query);
  (void)api::parse_events(query);
  (void)api::parse_log(query);
  (void)api::parse_notices(query);
  (void)api::parse_shared_stream(query, query.empty() ? "" : query.front().second);
}

void read_stored(std::string_view text) {
  if (const auto launch = decode_launch(text)) {
    ERRAND_CHECK(decode_launch(encode_launch(*launch)) == *launch, "stored twice is the same");
  }
  if (const auto parts = decode_parts(text)) {
    ERRAND_CHECK(decode_parts(encode_parts(*parts)) == *parts, "stored twice is the same");
  }
  Task task;
  (void)decode_progress(text, task);
  (void)decode_asks(text);
  (void)decode_waiting(text);
  (void)decode_error(text);
  (void)decode_output(text);
  Message open;
  Event event;
  event.data = text;
  for (const EventType type : {EventType::message_delta, EventType::tool_started, EventType::tool_completed}) {
    event.type = type;
    apply_event(open, event);
  }
}

}  // namespace
}  // namespace errand

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      errand::read_launch(text);
      break;
    case 1:
      errand::read_request(text);
      break;
    case 2:
      errand::read_query(text);
      break;
    default:
      errand::read_stored(text);
      break;
  }
  return 0;
}
