// What a server that is not ours may answer: the readers of replies, streams and JSON never do more than refuse it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/sse.h"
#include "cli/http_reader.h"
#include "cli/transcript.h"
#include "cli/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand::cli;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  std::string_view rest = text.substr(1);
  switch (text[0] % 3) {
    case 0: {
      HttpReader reader;
      while (!rest.empty() && reader.feed(rest.substr(0, 7))) rest.remove_prefix(std::min<size_t>(7, rest.size()));
      if (reader.done() && !reader.eof()) std::abort();
      break;
    }
    case 1: {
      errand::SseParser parser;
      Transcript transcript;
      parser.feed(rest, [&](const errand::SseEvent& event) {
        if (auto info = parse_event(event.data)) transcript.take(*info);
        return true;
      });
      break;
    }
    default:
      static_cast<void>(parse_task_reply(rest));
      static_cast<void>(parse_tasks(rest));
      static_cast<void>(parse_events(rest));
      static_cast<void>(parse_agents(rest));
      static_cast<void>(parse_quotas(rest));
      static_cast<void>(parse_tools(rest));
      static_cast<void>(parse_tool_reply(rest));
      static_cast<void>(check_json(rest));
      static_cast<void>(parse_mcp_message(rest));
      static_cast<void>(offers_roots(rest));
      static_cast<void>(first_root(rest, "a"));
      static_cast<void>(parse_batch(rest));
      static_cast<void>(parse_server(rest));
      static_cast<void>(parse_problem(404, rest));
      static_cast<void>(elements(rest, "tasks"));
  }
  return 0;
}
