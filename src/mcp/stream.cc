#include "mcp/stream.h"

#include <charconv>

#include "base/json_out.h"
#include "mcp/jsonrpc.h"
#include "mcp/task_uri.h"
#include "mcp/tasks.h"
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

TellingStream::TellingStream(NoticeStreamParts parts, SessionId session, std::string_view last_event_id,
                             std::shared_ptr<Subjects> subjects)
    : EventStream(parts.heartbeats),
      parts_(parts),
      session_(std::move(session)),
      subjects_(std::move(subjects)),
      watching_(parts.engine.streams(),
                [this] {
                  changed_ = true;
                  ready();
                }),
      feed_(parts_.engine.streams().session_feed(session_)) {
  std::from_chars(last_event_id.data(), last_event_id.data() + last_event_id.size(), cursor_);
  feed_->add(this);
  subjects_->streams.push_back(this);
  subjects_changed();
}

TellingStream::TellingStream(NoticeStreamParts parts, RpcPtr rpc, std::shared_ptr<Subjects> subjects,
                             std::string acknowledged)
    : TellingStream(parts, rpc->peer.session, {}, std::move(subjects)) {
  rpc_ = std::move(rpc);
  net::append_sse_frame(messages_, {}, "message", acknowledged);
}

TellingStream::~TellingStream() {
  std::erase(subjects_->streams, this);
  feed_->remove(this);
}

void TellingStream::subjects_changed() {
  std::set<TaskId> wanted;
  for (const std::string& uri : subjects_->uris)
    if (const auto parsed = parse_task_uri(uri)) wanted.insert(parsed->task);
  for (const std::string& handle : subjects_->handles)
    wanted.insert(TaskId(std::string_view(handle).substr(0, handle.find('.'))));
  watching_.keep(wanted);
}

void TellingStream::list_changed() {
  list_changed_ = subjects_->list;
  if (list_changed_) ready();
}

// A notice was made: a task of the session ended, or asks something.
void TellingStream::wake() {
  stale_ = true;
  list_changed_ = subjects_->list;
  ready();
}

void TellingStream::tell(std::string_view method, std::string params) {
  if (rpc_) {
    std::string meta = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + rpc_->message.id + "}";
    if (params != "{}") meta += ",";
    params = meta + params.substr(1);
  }
  net::append_sse_frame(messages_, {}, "message", notification_message(method, params));
}

void TellingStream::tell_changes() {
  changed_ = false;
  if (std::exchange(list_changed_, false)) tell("notifications/resources/list_changed", "{}");
  for (const TaskId& id : watching_.take()) {
    tell_resources(id);
    for (const std::string& handle : subjects_->handles)
      if (handle.starts_with(id.value + ".")) tell_task(handle);
  }
}

// Who may not read a resource does not hear of it either.
void TellingStream::tell_resources(const TaskId& id) {
  parts_.engine.tasks().get(id, while_here([this, id](const Result<TaskView>& view) {
                              const bool others =
                                  view && !session_.empty() && view->task.launch.parent_session_id != session_;
                              if (others) return;
                              for (const std::string& uri : subjects_->uris) {
                                const auto parsed = parse_task_uri(uri);
                                if (!parsed || parsed->task != id) continue;
                                std::string params;
                                JsonOut(params).object().field("uri", uri).end();
                                tell("notifications/resources/updated", std::move(params));
                              }
                              ready();
                            }));
}

// Only what a client would act on: its status.
void TellingStream::tell_task(const std::string& handle) {
  if (!rpc_) return;
  parts_.engine.tasks().get(TaskId(std::string_view(handle).substr(0, handle.find('.'))),
                            while_here([this, handle](const Result<TaskView>& view) {
                              const auto parsed = parse_handle(*rpc_, handle);
                              if (!view || !parsed) return;
                              const std::string status(task_status(*rpc_, view->task, *parsed));
                              if (std::exchange(told_[handle], status) == status) return;
                              describe_task(rpc_, handle, while_here([this](const std::string& members) {
                                              if (members.empty()) return;
                                              tell("notifications/tasks", "{" + members + "}");
                                              ready();
                                            }));
                            }));
}

net::StreamSource::Pulled TellingStream::next(std::vector<net::Slice>& out, size_t) {
  if (changed_ || list_changed_) tell_changes();
  if (!messages_.empty()) {
    out.push_back(net::to_slice(std::exchange(messages_, {})));
    return Pulled::some;
  }
  if (rpc_) return Pulled::none;
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

void TellingStream::read_store() {
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
