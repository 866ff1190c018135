#include "driver/opencode/translate.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::opencode {

namespace {

constexpr size_t summary_max = 120;
constexpr std::string_view interrupted = "[The call was interrupted.]";

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::string summary_of(std::string_view input) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(input, error);
  const boost::json::object* object = error ? nullptr : value.if_object();
  if (!object) return {};
  std::string found;
  for (const char* name : {"command", "filePath", "path", "pattern", "url", "description", "prompt"})
    if (const auto* member = object->if_contains(name); member && member->is_string() && found.empty())
      found = std::string(member->get_string());
  for (const auto& member : *object)
    if (found.empty() && member.value().is_string()) found = std::string(member.value().get_string());
  found = found.substr(0, found.find('\n'));
  if (found.size() > summary_max) found = found.substr(0, utf8_prefix(found, summary_max)) + "…";
  return found;
}

Translator::PartSeen* Translator::find(std::string_view id) {
  const auto found = std::ranges::find(parts_, id, &PartSeen::id);
  return found == parts_.end() ? nullptr : &*found;
}

void Translator::take_info(const Info& info, std::vector<Report>& out) {
  if (info.role != "assistant" || info.id.empty() || info.id <= done_) return;
  if (open_ != info.id) {
    close(out);
    open_ = info.id;
    out.emplace_back(report::MessageBegan{});
  }
  if (!info.completed) return;
  if (info.input_tokens > 0 || info.output_tokens > 0 || info.cost_usd > 0)
    // It says 0 where it knows no price.
    out.emplace_back(report::Used{.usage = {.input_tokens = info.input_tokens,
                                            .output_tokens = info.output_tokens,
                                            .cost_usd = info.cost_usd,
                                            .cache_read_tokens = info.cache_read_tokens,
                                            .cache_write_tokens = info.cache_write_tokens},
                                  .source = info.cost_usd > 0 ? PriceSource::agent : PriceSource::unknown,
                                  .provider = info.provider,
                                  .model = info.model});
  close(out);
}

void Translator::take_part(const Part& part, bool live, std::vector<Report>& out) {
  if (part.message_id != open_ || open_.empty() || part.id.empty()) return;
  if (part.type == "tool") return take_tool(part, out);
  if (part.type != "text" && part.type != "reasoning") return;
  PartSeen* seen = find(part.id);
  if (!seen) {
    parts_.push_back({.id = part.id, .reasoning = part.type == "reasoning", .whole = live});
    seen = &parts_.back();
  }
  if (!live) seen->whole = false;
  // What was said already may be trimmed in the end: that is no change.
  if (part.text.size() <= seen->bytes || is_continuation(part.text[seen->bytes])) return;
  if (seen->index < 0) seen->index = next_++;
  out.emplace_back(
      report::Text{.part = seen->index, .reasoning = seen->reasoning, .text = part.text.substr(seen->bytes)});
  seen->bytes = part.text.size();
}

void Translator::take_delta(const Part& delta, std::vector<Report>& out) {
  PartSeen* seen = delta.message_id == open_ ? find(delta.id) : nullptr;
  if (!seen || !seen->whole || delta.text.empty()) return;
  if (seen->index < 0) seen->index = next_++;
  seen->bytes += delta.text.size();
  out.emplace_back(report::Text{.part = seen->index, .reasoning = seen->reasoning, .text = delta.text});
}

void Translator::take_tool(const Part& part, std::vector<Report>& out) {
  if (part.status != "running" && part.status != "completed" && part.status != "error") return;
  PartSeen* seen = find(part.id);
  if (!seen) {
    parts_.push_back({.id = part.id, .index = next_++, .call_id = part.call_id});
    seen = &parts_.back();
  }
  if (seen->state == 0) {
    seen->state = 1;
    out.emplace_back(report::ToolStarted{.part = seen->index,
                                         .call_id = part.call_id,
                                         .name = part.tool,
                                         .input = part.input,
                                         .summary = summary_of(part.input)});
  } else if (part.status == "running") {
    out.emplace_back(report::Alive{});  // It has printed something.
  }
  if (part.status == "running" || std::exchange(seen->state, 2) == 2) return;
  out.emplace_back(report::ToolCompleted{
      .call_id = part.call_id, .output = part.output, .is_error = part.status == "error", .ms = part.ms});
}

void Translator::missed() {
  for (PartSeen& part : parts_) part.whole = false;
}

void Translator::take(const Event& event, std::vector<Report>& out) {
  if (event.type == Event::Type::message) take_info(event.info, out);
  if (event.type == Event::Type::part) take_part(event.part, true, out);
  if (event.type == Event::Type::delta) take_delta(event.part, out);
}

void Translator::take(const std::vector<MessageSeen>& messages, std::vector<Report>& out) {
  for (const MessageSeen& message : messages) {
    Info info = message.info;
    const bool completed = static_cast<bool>(std::exchange(info.completed, {}));
    take_info(info, out);
    for (const Part& part : message.parts) take_part(part, false, out);
    if (completed) take_info(message.info, out);
  }
}

void Translator::close(std::vector<Report>& out) {
  if (open_.empty()) return;
  for (const PartSeen& part : parts_)
    if (part.state == 1)
      out.emplace_back(
          report::ToolCompleted{.call_id = part.call_id, .output = std::string(interrupted), .is_error = true});
  out.emplace_back(report::MessageEnded{});
  done_ = std::exchange(open_, {});
  parts_.clear();
  next_ = 0;
}

std::string Translator::mark() const {
  std::string text;
  JsonOut out(text);
  out.array().value(done_).value(open_);
  for (const PartSeen& part : parts_) {
    out.array().value(part.id).value(part.index).value(part.reasoning).value(static_cast<int64_t>(part.bytes));
    out.value(part.state).value(part.call_id).end();
  }
  out.end();
  return text;
}

Translator Translator::from(std::string_view mark) {
  Translator out;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(mark, error);
  const boost::json::array* list = error ? nullptr : value.if_array();
  if (!list || list->size() < 2 || !(*list)[0].is_string() || !(*list)[1].is_string()) return out;
  out.done_ = (*list)[0].get_string();
  out.open_ = (*list)[1].get_string();
  for (size_t i = 2; i < list->size(); ++i) {
    const boost::json::array* part = (*list)[i].if_array();
    if (!part || part->size() != 6 || !(*part)[0].is_string() || !(*part)[1].is_int64() || !(*part)[2].is_bool() ||
        !(*part)[3].is_int64() || !(*part)[4].is_int64() || !(*part)[5].is_string())
      return Translator();
    out.parts_.push_back({.id = std::string((*part)[0].get_string()),
                          .index = static_cast<int>((*part)[1].get_int64()),
                          .reasoning = (*part)[2].get_bool(),
                          .bytes = static_cast<size_t>((*part)[3].get_int64()),
                          .state = static_cast<int>((*part)[4].get_int64()),
                          .call_id = std::string((*part)[5].get_string())});
    out.next_ = std::max(out.next_, out.parts_.back().index + 1);
  }
  return out;
}

Outcome outcome_of(const std::vector<MessageSeen>& messages, std::string_view before, bool stopped) {
  const MessageSeen* last = nullptr;
  for (const MessageSeen& message : messages)
    if (message.info.role == "assistant" && message.info.id > before) last = &message;
  if (stopped) return {.kind = Outcome::Kind::stopped};
  if (!last || (!last->info.completed && last->info.error_name.empty()))
    return {.kind = Outcome::Kind::lost,
            .error = TaskError{"interrupted", "OpenCode stopped in the middle of its answer.", {}}};
  Outcome outcome;
  std::string said;
  for (const Part& part : last->parts)
    if (part.type == "text" && !part.text.empty()) said += (said.empty() ? "" : "\n\n") + part.text;
  if (last->info.error_name.empty()) {
    outcome.result = std::move(said);
    return outcome;
  }
  outcome.kind = Outcome::Kind::failed;
  std::string details;
  JsonOut out(details);
  out.object().field("error", last->info.error_name);
  if (last->info.error_status > 0) out.field("http_status", last->info.error_status);
  out.end();
  outcome.error = TaskError{
      "agent_error", last->info.error_text.empty() ? last->info.error_name : last->info.error_text, std::move(details)};
  return outcome;
}

}  // namespace errand::opencode
