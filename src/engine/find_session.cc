#include "engine/find_session.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fields.h"
#include "base/json_out.h"

namespace errand {
namespace {
std::string mark_name(const SessionId& id) { return ended_mark_prefix + id.value; }

// One that cannot be read is as old as can be.
Time marked_at(const std::string& json) {
  std::string text;
  const Result<Document> document = Document::parse(json);
  if (!document) return {};
  Fields(document->value()).text("at", text, {});
  return parse_time(text).value_or(Time{});
}
}  // namespace

Commit::Setting ended_mark(const SessionId& id, Time now) {
  Commit::Setting mark{.name = mark_name(id), .json = {}};
  JsonOut(mark.json).object().field("at", now).end();
  return mark;
}

Commit::Setting no_ended_mark(const SessionId& id) { return {.name = mark_name(id), .json = {}}; }

OldMarks old_marks(const std::vector<Commit::Setting>& marks, Time before, size_t most, size_t rows) {
  std::vector<std::pair<Time, const std::string*>> by_age;
  by_age.reserve(marks.size());
  for (const Commit::Setting& mark : marks) by_age.emplace_back(marked_at(mark.json), &mark.name);
  std::ranges::sort(by_age, {}, &std::pair<Time, const std::string*>::first);
  OldMarks out;
  for (size_t i = 0; i < by_age.size(); ++i) {
    const bool too_many = by_age.size() - i > most;
    if ((by_age[i].first >= before && !too_many) || out.gone.size() == rows) {
      out.oldest = by_age[i].first;
      break;
    }
    out.gone.push_back({.name = *by_age[i].second, .json = {}});
  }
  return out;
}

std::unexpected<Error> session_ended(const SessionId& id) {
  return fail(Code::not_found,
              fmt::format("Session {} has ended, and its tasks were removed. Open another session.", id.value),
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
