// What MCP clients send is hostile: any text is a message or is refused with a JSON-RPC error, and either way what is
// answered is JSON.
#include <cstdint>
#include <string_view>

#include <boost/json.hpp>

#include "base/check.h"
#include "mcp/jsonrpc.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mcp::RpcError error;
  std::string id;
  const Result<mcp::Incoming> message = mcp::parse_message(text, error, id);
  boost::json::error_code code;
  if (!message) {
    ERRAND_CHECK(error.code != 0 && !error.message.empty(), "a refusal has a code and a sentence");
    boost::json::parse(mcp::error_message(id, error), code);
  } else {
    const bool named = message->kind != mcp::Incoming::Kind::response;
    ERRAND_CHECK(named == !message->method.empty(), "a request and a notification have a method");
    ERRAND_CHECK((message->kind == mcp::Incoming::Kind::notification) == message->id.empty(), "a request has an id");
    (void)message->text("name");
    (void)message->text("_meta", "threadId");
    boost::json::parse(mcp::result_message(message->id.empty() ? "0" : message->id, "{}"), code);
  }
  ERRAND_CHECK(!code, "what is answered is JSON");
  return 0;
}
