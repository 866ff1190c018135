// errand hook claude: what the hook of `errand claude install` runs. Claude Code gives it the conversation's id; it
// prints the notices of that conversation for Claude Code to put into it, and takes them. It starts no server, and
// whatever goes wrong it prints nothing: a hook must not be in anybody's way.
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr size_t input_max = 4u << 20;
constexpr int notices_max = 20;  // At once; what is left comes with the next message.

bool is_plain(std::string_view id) {
  return !id.empty() && id.size() <= 200 &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") ==
             std::string_view::npos;
}

std::string answer(const std::string& event, const std::string& text) {
  std::string out;
  JsonOut json(out);
  json.object();
  if (event == "Stop") {
    json.field("decision", "block").field("reason", text);
  } else {
    json.key("hookSpecificOutput").object().field("hookEventName", event).field("additionalContext", text).end();
  }
  json.end();
  return out;
}

}  // namespace

int hook(Context& context, const HookArgs&) {
  const Result<std::string> input = read_stdin(input_max);
  if (!input) return code(Exit::ok);
  const std::string session = member(*input, "session_id"), event = member(*input, "hook_event_name");
  if (!is_plain(session) || event.empty()) return code(Exit::ok);
  context.client.set_start(Start::never);
  const std::string path = fmt::format("/api/sessions/{}/notices", session);
  const Result<std::string> body = context.client.get(fmt::format("{}?limit={}", path, notices_max));
  auto notices = body ? parse_notices(*body).value_or(std::vector<NoticeInfo>()) : std::vector<NoticeInfo>();
  const auto take = [&](const NoticeInfo& notice) {
    return context.client.call("POST", fmt::format("{}/{}/taken", path, notice.id)).has_value();
  };
  // It goes on because of this hook already. What cannot be taken (a token that may only read) would be there at every
  // end, and it would go on for ever: so it is told only what was taken.
  const bool goes_on = member(*input, "stop_hook_active") == "true";
  if (goes_on) std::erase_if(notices, [&](const NoticeInfo& notice) { return !take(notice); });
  if (notices.empty()) return code(Exit::ok);
  std::string text;
  for (const NoticeInfo& notice : notices) text += (text.empty() ? "" : "\n\n") + notice.text;
  std::cout << answer(event, text) << '\n' << std::flush;
  if (!std::cout || goes_on) return code(Exit::ok);
  // Only now: who dies before it finds them there the next time.
  for (const NoticeInfo& notice : notices)
    if (!take(notice)) break;
  return code(Exit::ok);
}

}  // namespace errand::cli
