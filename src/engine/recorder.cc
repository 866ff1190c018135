#include "engine/recorder.h"

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "task/json.h"

namespace errand {
namespace {

// What is kept of a tool's output in the conversation and its events.
constexpr size_t tool_output_max = 64 * 1024;
// A part that grows without end is a driver gone wrong; the rest is dropped and said.
constexpr size_t message_text_max = 4 << 20;
constexpr size_t summary_characters_max = 120;
constexpr size_t opaque_max = 1 << 20;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

Part tool_result(const report::ToolCompleted& done) {
  Part part{.type = PartType::tool_result};
  part.call_id = done.call_id;
  part.size = static_cast<int64_t>(done.output.size());
  part.truncated = done.output.size() > tool_output_max;
  part.text = part.truncated ? done.output.substr(0, utf8_prefix(done.output, tool_output_max)) : done.output;
  part.is_error = done.is_error;
  part.ms = done.ms;
  return part;
}

UsageRow usage_row(const report::Used& used, const Task& task, Time now) {
  const Usage& usage = used.usage;
  UsageRow row{.at = now, .task_id = task.id, .turn = task.turn, .provider = used.provider};
  row.model = used.model.empty() ? task.launch.model : used.model;
  row.agent = agent_name(task.launch);
  row.folder = task.launch.work_dir;
  row.tokens = {.input = std::max<int64_t>(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens),
                .output = usage.output_tokens,
                .cache_read = usage.cache_read_tokens,
                .cache_write = usage.cache_write_tokens};
  row.source = used.source;
  if (used.source != PriceSource::unknown) row.cost_usd = usage.cost_usd;
  row.priced_at = used.priced_at;
  return row;
}

}  // namespace

void Recorder::start(int64_t last_message, std::optional<Message> open) {
  last_message_ = last_message;
  open_ = std::move(open);
  part_index_.clear();
  delta_.reset();
  // The driver numbers what it writes (text, reasoning, calls); results stand between them.
  if (open_)
    for (size_t i = 0; i < open_->parts.size(); ++i)
      if (open_->parts[i].type != PartType::tool_result) part_index_.emplace(static_cast<int>(part_index_.size()), i);
}

void Recorder::add_message(Message message, Recording& out, Time now) {
  message.seq = ++last_message_;
  out.events.push_back(message_event(EventType::message_created, message, now));
  out.messages.push_back(std::move(message));
}

void Recorder::take_message(Message message, Recording& out, Time now) {
  if (message.completed_at) return;  // Given again, by a retry.
  flush(out, now);
  message.completed_at = now;
  out.events.push_back(message_event(EventType::message_completed, message, now));
  out.messages.push_back(std::move(message));
}

Message& Recorder::open(Task& after, IdSource& ids, Recording& out, Time now, const MessageId& id) {
  if (!open_) {
    Message message;
    message.id = id ? id : ids.message();
    message.session_id = after.session_id;
    message.role = Role::assistant;
    message.turn = after.turn;
    message.created_at = now;
    add_message(message, out, now);
    message.seq = last_message_;
    open_ = std::move(message);
    part_index_.clear();
  }
  return *open_;
}

Part& Recorder::part(Message& message, int number, PartType type, Recording& out, Time now) {
  const auto known = part_index_.find(number);
  if (known != part_index_.end() && message.parts[known->second].type == type) return message.parts[known->second];
  flush(out, now);
  part_index_[number] = message.parts.size();
  return message.parts.emplace_back(Part{.type = type});
}

void Recorder::write(Part& into, std::string_view text, Recording& out, Time now) {
  if (into.text.size() + text.size() > message_text_max) return;
  into.text += text;
  const auto index = static_cast<size_t>(&into - open_->parts.data());
  if (delta_ && delta_->part != index) flush(out, now);
  if (!delta_) delta_ = Delta{index, into.type, {}};
  delta_->text += text;
}

// While the message is open its parts are in its events, and what is in no event is all that is stored of them.
void Recorder::keep_opaque(Recording& out) const {
  Message bare = *open_;
  bare.parts.clear();
  for (const Part& part : open_->parts) bare.parts.push_back({.type = part.type, .opaque = part.opaque});
  const auto stored = std::ranges::find(out.messages, bare.id, &Message::id);
  if (stored != out.messages.end())
    *stored = std::move(bare);
  else
    out.messages.push_back(std::move(bare));
}

void Recorder::flush(Recording& out, Time now) {
  if (!delta_) return;
  out.events.push_back(delta_event(open_->id, static_cast<int>(delta_->part), delta_->text, now, delta_->type));
  delta_.reset();
}

void Recorder::complete(bool interrupted, Recording& out, Time now) {
  if (!open_) return;
  flush(out, now);
  open_->completed_at = now;
  open_->interrupted = interrupted;
  if (std::string text = text_of(*open_); !text.empty()) last_text_ = std::move(text);
  out.events.push_back(message_event(EventType::message_completed, *open_, now));
  out.messages.push_back(std::move(*open_));
  open_.reset();
}

void Recorder::close(Recording& out, Time now) { complete(true, out, now); }

void Recorder::record(const Report& report, Task& after, IdSource& ids, Recording& out, Time now) {
  std::visit(Overloaded{
                 [&](const report::MessageBegan& began) {
                   complete(true, out, now);
                   open(after, ids, out, now, began.id);
                 },
                 [&](const report::Text& text) {
                   Message& message = open(after, ids, out, now);
                   const PartType type = text.reasoning ? PartType::reasoning : PartType::text;
                   write(part(message, text.part, type, out, now), text.text, out, now);
                 },
                 [&](const report::Opaque& opaque) {
                   Message& message = open(after, ids, out, now);
                   const auto known = part_index_.find(opaque.part);
                   if (known == part_index_.end())
                     write(part(message, opaque.part, PartType::reasoning, out, now), {}, out, now);
                   Part& into = message.parts[part_index_.at(opaque.part)];
                   if (opaque.data.size() > opaque_max) return;
                   into.opaque = opaque.data;
                   keep_opaque(out);
                 },
                 [&](const report::SystemMessage& system) {
                   complete(true, out, now);
                   Message message;
                   message.id = system.id ? system.id : ids.message();
                   message.session_id = after.session_id;
                   message.role = Role::system;
                   message.turn = after.turn;
                   message.created_at = message.completed_at = now;
                   message.parts = system.parts;
                   add_message(std::move(message), out, now);
                 },
                 [&](const report::ToolStarted& tool) {
                   Message& message = open(after, ids, out, now);
                   flush(out, now);
                   Part& call = part(message, tool.part, PartType::tool_call, out, now);
                   call.call_id = tool.call_id;
                   call.name = tool.name;
                   call.input = tool.input;
                   out.events.push_back(tool_started_event(message.id, call, now));
                   Progress& progress = after.progress;
                   progress.tool_calls += 1;
                   if (progress.recent_tools.size() >= recent_tools_max)
                     progress.recent_tools.erase(progress.recent_tools.begin());
                   progress.recent_tools.push_back(
                       {tool.name, std::string(first_characters(tool.summary, summary_characters_max)), now});
                   out.events.push_back(progress_event(after, now));
                 },
                 [&](const report::ToolCompleted& tool) {
                   Message& message = open(after, ids, out, now);
                   flush(out, now);
                   Part result = tool_result(tool);
                   out.events.push_back(tool_completed_event(result, now));
                   message.parts.push_back(std::move(result));
                 },
                 [&](const report::MessageEnded&) { complete(false, out, now); },
                 [&](const report::Output& output) {
                   out.texts.emplace(out.events.size(), output.text);
                   out.events.push_back(output_event(output.stream, after.run, output.offset, output.length, now));
                   after.progress.output_bytes = std::max(after.progress.output_bytes, output.offset + output.length);
                   after.progress.output_lines += output.lines;
                   if (output.log && std::ranges::find(out.sync_first, output.log) == out.sync_first.end())
                     out.sync_first.push_back(output.log);
                 },
                 [&](const report::Used& used) {
                   Usage& usage = after.progress.usage;
                   usage.input_tokens += used.usage.input_tokens;
                   usage.output_tokens += used.usage.output_tokens;
                   usage.cost_usd += used.usage.cost_usd;
                   usage.cache_read_tokens += used.usage.cache_read_tokens;
                   usage.cache_write_tokens += used.usage.cache_write_tokens;
                   usage.unpriced = usage.unpriced || used.source == PriceSource::unknown;
                   out.usage.push_back(usage_row(used, after, now));
                   flush(out, now);
                   out.events.push_back(progress_event(after, now));
                 },
                 [&](const report::Resources& resources) {
                   after.progress.cpu_s = resources.cpu_s;
                   after.progress.memory_bytes = resources.memory_bytes;
                 },
                 [&](const report::Warning& warning) {
                   flush(out, now);
                   if (warning.code == "output_truncated") after.progress.output_truncated = true;
                   out.events.push_back(warning_event(warning.code, warning.text, now));
                 },
                 [](const report::AgentSession&) {},
                 [](const report::Taken&) {},
                 [](const report::Asks&) {},
                 [](const report::Alive&) {},
                 [](const report::Still&) {},
                 [](const report::Match&) {},
                 [](const report::Waits&) {},
                 [](const report::GoesOn&) {},
                 [](const report::Isolated&) {},
             },
             report);
}

}  // namespace errand
