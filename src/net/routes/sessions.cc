// Sessions: conversations, and the notices that errand owes them (R5.5).
#include "api/query.h"
#include "api/replies.h"
#include "api/requests.h"
#include "engine/find_session.h"
#include "net/routes/context.h"

namespace errand::net {

void create_session(Context& context, Call call) {
  Result<Session> session = api::parse_session(call.request().body);
  if (!session) return call.refuse(session.error());
  context.parts.engine.sessions().open_session(
      std::move(*session), [call = std::move(call)](const Result<Session>& opened) {
        if (!opened) return call.refuse(opened.error());
        Response response{.status = 201, .body = api::session_reply(*opened)};
        response.headers.emplace_back("Location", "/api/sessions/" + opened->id.value);
        call.exchange->reply(std::move(response));
      });
}

void get_session(Context& context, Call call) {
  const SessionId id(call.args[0]);
  read_then(
      context, std::move(call), [&store = context.parts.store, id] { return find_session(store, id); },
      [](const Call& found, const Session& session) { found.answer(200, api::session_reply(session)); });
}

void delete_session(Context& context, Call call) {
  if (const Status status = api::parse_nothing(call.request().body); !status) return call.refuse(status.error());
  const SessionId id(call.args[0]);
  context.parts.engine.sessions().end_session(id, answering<int64_t>(std::move(call), 200, [](int64_t removed) {
                                                return api::count_reply("removed", removed);
                                              }));
}

void session_messages(Context& context, Call call) {
  const Result<api::MessagesQuery> query = api::parse_messages(call.request().query);
  if (!query) return call.refuse(query.error());
  const SessionId id(call.args[0]);
  read_then(
      context, std::move(call),
      [&store = context.parts.store, query = *query, id]() -> Result<std::string> {
        if (const Result<Session> session = find_session(store, id); !session) return std::unexpected(session.error());
        const Result<MessagePage> page = store.messages(id, query.after, query.before, query.limit);
        if (!page) return std::unexpected(page.error());
        return api::messages_reply(*page);
      },
      [](const Call& found, std::string body) { found.answer(200, std::move(body)); });
}

void session_notices(Context& context, Call call) {
  const Result<api::NoticesQuery> query = api::parse_notices(call.request().query);
  if (!query) return call.refuse(query.error());
  const SessionId id(call.args[0]);
  // Asking for what comes after one takes those before it: who only looks is shown the same, at once, and takes none.
  if (query->after > 0 && call.request().who.only_looks())
    return read_then(
        context, std::move(call),
        [&store = context.parts.store, id, query = *query]() -> Result<std::vector<Notice>> {
          if (const Result<Session> session = find_session(store, id); !session)
            return std::unexpected(session.error());
          return store.notices(id, query.after, query.limit);
        },
        [after = query->after](const Call& found, const std::vector<Notice>& notices) {
          found.answer(200, api::notices_reply(notices, after));
        });
  context.parts.engine.sessions().notices(
      id, query->after, query->limit, query->block_ms,
      answering<std::vector<Notice>>(std::move(call), 200, [after = query->after](const std::vector<Notice>& notices) {
        return api::notices_reply(notices, after);
      }));
}

void take_notice(Context& context, Call call) {
  if (const Status status = api::parse_nothing(call.request().body); !status) return call.refuse(status.error());
  const SessionId session(call.args[0]);
  const NoticeId notice(call.args[1]);
  context.parts.engine.sessions().take_notice(session, notice,
                                              answering<Notice>(std::move(call), 200, api::notice_reply));
}

}  // namespace errand::net
