#include "engine/find_session.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_out.h"

namespace errand {
namespace {
std::string mark_name(const SessionId& id) { return "ended_session/" + id.value; }
}  // namespace

Commit::Setting ended_mark(const SessionId& id, Time now) {
  Commit::Setting mark{.name = mark_name(id), .json = {}};
  JsonOut(mark.json).object().field("at", now).end();
  return mark;
}

Commit::Setting no_ended_mark(const SessionId& id) { return {.name = mark_name(id), .json = {}}; }

std::unexpected<Error> session_ended(const SessionId& id) {
  return fail(Code::not_found,
              fmt::format("Session {} has ended, and its tasks went with it; open another one.", id.value),
              "session_ended");
}

Result<Session> find_session(Store& store, const SessionId& id) {
  Result<Session> session = store.session(id);
  if (session || session.error().code != Code::not_found) return session;
  const std::string name = mark_name(id);
  const Result<std::vector<Commit::Setting>> marks = store.settings(name);
  if (!marks) return std::unexpected(marks.error());
  if (std::ranges::find(*marks, name, &Commit::Setting::name) == marks->end()) return session;
  return session_ended(id);
}

}  // namespace errand
