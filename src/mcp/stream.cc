#include "mcp/stream.h"

#include <charconv>

#include "base/json_out.h"
#include "mcp/jsonrpc.h"
#include "net/sse.h"
#include "task/json.h"

namespace errand::mcp {
namespace {

// A notice has up to 16,000 characters.
constexpr int store_page = 16;

std::string event_of(const Notice& notice) {
  std::string params;
  JsonOut out(params);
  out.object().field("level", "notice").field("logger", "errand").key("data");
  write_notice(out, notice);
  out.end();
  std::string event;
  net::append_sse_frame(event, std::to_string(notice.seq), "message",
                        notification_message("notifications/message", params));
  return event;
}

}  // namespace

NoticeStream::NoticeStream(NoticeStreamParts parts, SessionId session, std::string_view last_event_id)
    : EventStream(parts.heartbeats),
      parts_(parts),
      session_(std::move(session)),
      feed_(parts_.engine.session_feed(session_)) {
  std::from_chars(last_event_id.data(), last_event_id.data() + last_event_id.size(), cursor_);
  feed_->add(this);
}

NoticeStream::~NoticeStream() { feed_->remove(this); }

void NoticeStream::wake() {
  stale_ = true;
  ready();
}

net::StreamSource::Pulled NoticeStream::next(std::vector<net::Slice>& out, size_t) {
  if (!notices_.empty()) {
    std::string text;
    for (const Notice& notice : notices_) text += event_of(notice);
    cursor_ = notices_.back().seq;
    notices_.clear();
    out.push_back(net::to_slice(std::move(text)));
    return Pulled::some;
  }
  if (stale_ && !reading_) read_store();
  return Pulled::none;
}

void NoticeStream::read_store() {
  // What is made from here on wakes us again.
  stale_ = false;
  reading_ = true;
  read_then(
      parts_.readers, parts_.loop,
      [&store = parts_.store, session = session_, after = cursor_] {
        return store.notices(session, after, store_page).value_or(std::vector<Notice>());
      },
      [this](std::vector<Notice> notices) {
        reading_ = false;
        stale_ = stale_ || notices.size() == store_page;
        notices_ = std::move(notices);
        ready();
      });
}

}  // namespace errand::mcp
