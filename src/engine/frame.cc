#include "engine/frame.h"

#include "base/json_out.h"
#include "task/event_state.h"

namespace errand {
namespace {

FramePtr finish(Frame frame, std::string_view type, Time at, std::string_view data) {
  std::string& body = frame.body;
  body.reserve(data.size() + 160);
  body.append("event: ").append(type).append("\ndata: ");
  JsonOut out(body);
  out.object();
  if (frame.seq > 0) out.field("seq", frame.seq);
  out.field("pos", frame.pos).field("task_id", frame.task_id).field("type", type).field("at", at);
  out.key("data").raw(data).end();
  body.append("\n\n");
  return std::make_shared<const Frame>(std::move(frame));
}

}  // namespace

std::string output_data(std::string_view stored, std::string_view text) {
  // The stored object is ours: the text goes in before its closing brace.
  std::string data(stored.substr(0, stored.size() - 1));
  data += ",\"text\":";
  append_json_string(data, text);
  data += '}';
  return data;
}

FramePtr make_frame(const Event& event, std::string_view text) {
  Frame frame{
      .seq = event.seq, .pos = event.pos, .task_id = event.task_id, .type = event.type, .state = state_told(event)};
  if (event.type == EventType::output)
    return finish(std::move(frame), name(event.type), event.at, output_data(event.data, text));
  return finish(std::move(frame), name(event.type), event.at, event.data);
}

FramePtr make_gone_frame(const Tombstone& gone) {
  std::string data;
  JsonOut(data).object().field("task_id", gone.task_id).field("why", name(gone.why)).end();
  Frame frame{.pos = gone.pos, .task_id = gone.task_id, .gone = true};
  return finish(std::move(frame), "task.deleted", gone.at, data);
}

}  // namespace errand
