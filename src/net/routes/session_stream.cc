#include "net/routes/session_stream.h"

#include "base/json_out.h"
#include "task/json.h"

namespace errand::net {
namespace {

// A notice has up to 16,000 characters.
constexpr int store_page = 16;

std::string event_of(const Notice& notice) {
  std::string event = "id: " + std::to_string(notice.seq) + "\nevent: notice.created\ndata: ";
  JsonOut out(event);
  out.object().field("seq", notice.seq).field("task_id", notice.task_id).field("type", "notice.created");
  out.field("at", notice.created_at).key("data").object().field("notice_id", notice.id).key("notice");
  write_notice(out, notice);
  out.end().end();
  event += "\n\n";
  return event;
}

}  // namespace

SessionStream::SessionStream(Context& context, SessionId session, int64_t after)
    : EventStream(context.parts.heartbeats),
      context_(context),
      session_(std::move(session)),
      feed_(context.parts.engine.streams().session_feed(session_)),
      cursor_(after) {
  feed_->add(this);
}

SessionStream::~SessionStream() { feed_->remove(this); }

void SessionStream::wake() {
  stale_ = true;
  ready();
}

StreamSource::Pulled SessionStream::next(std::vector<Slice>& out, size_t) {
  if (!notices_.empty()) {
    std::string text;
    for (const Notice& notice : notices_) text += event_of(notice);
    cursor_ = notices_.back().seq;
    notices_.clear();
    out.push_back(to_slice(std::move(text)));
    return Pulled::some;
  }
  if (over_) {
    out.push_back(to_slice(unstored_event("end", R"({"status":"ended"})", context_.parts.clock.wall())));
    return Pulled::end;
  }
  if (stale_ && !reading_) read_store();
  return Pulled::none;
}

void SessionStream::read_store() {
  struct Page {
    std::vector<Notice> notices;
    bool over = false;
  };
  // What is made from here on wakes us again.
  stale_ = false;
  reading_ = true;
  const RouteParts& parts = context_.parts;
  read_then(
      parts.readers, parts.loop,
      [&store = parts.store, session = session_, after = cursor_] {
        Page page;
        Result<std::vector<Notice>> notices = store.notices(session, after, store_page);
        if (notices) page.notices = std::move(*notices);
        page.over = page.notices.empty() && !store.session(session);
        return page;
      },
      [this](Page page) {
        reading_ = false;
        over_ = page.over;
        stale_ = stale_ || page.notices.size() == store_page;
        notices_ = std::move(page.notices);
        ready();
      });
}

}  // namespace errand::net
