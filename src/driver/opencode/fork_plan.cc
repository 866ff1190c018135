#include "driver/opencode/fork_plan.h"

#include <algorithm>
#include <unordered_map>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace errand::opencode {

namespace {

bool has_result(const Part& part) { return part.status == "completed" || part.status == "error"; }
bool launches(const Part& part) { return part.type == "tool" && part.tool.ends_with("_task"); }
bool is_carried(const Part& part) {
  return part.type == "text" || part.type == "reasoning" || part.type == "file" || part.type == "tool";
}

// Null where it is none.
boost::json::value parsed(const std::string& json) {
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(json, error);
  return error ? boost::json::value() : value;
}

bool asks_for(const Part& call, std::string_view prompt) {
  const boost::json::value input = parsed(call.input);
  const boost::json::object* object = input.if_object();
  const boost::json::value* given = object ? object->if_contains("prompt") : nullptr;
  return given && given->is_string() && given->get_string() == prompt;
}

// The call that launched the fork; empty where there is none: it was launched from elsewhere.
std::string launching_call(const MessageSeen& last, const Launched& launched) {
  std::string open;
  for (const Part& part : last.parts)
    if (launches(part) && part.output.contains(launched.task.value)) return part.call_id;
  for (const Part& part : last.parts) {
    if (!launches(part) || has_result(part)) continue;
    if (asks_for(part, launched.prompt)) return part.call_id;
    open = part.call_id;
  }
  return open;
}

boost::json::object object_of(boost::json::object& in, const char* name) {
  boost::json::value& value = in[name];
  return value.is_object() ? value.get_object() : boost::json::object();
}

std::string with_text(const Part& part, const std::string& text) {
  boost::json::value value = parsed(part.json);
  if (boost::json::object* whole = value.if_object()) (*whole)["text"] = text;
  return boost::json::serialize(value);
}

// A file that was left out is a text that says so.
std::string as_text(const Part& part, const std::string& text) {
  return boost::json::serialize(boost::json::value{{"id", part.id},
                                                   {"sessionID", part.session_id},
                                                   {"messageID", part.message_id},
                                                   {"type", "text"},
                                                   {"text", text},
                                                   {"synthetic", true}});
}

std::string with_result(const Part& part, const std::string& input, const std::string& output) {
  boost::json::value value = parsed(part.json);
  if (!value.is_object()) value.emplace_object();
  boost::json::object& whole = value.get_object();
  boost::json::object state = object_of(whole, "state");
  if (input != part.input) state["input"] = parsed(input);
  if (!state["input"].is_object()) state["input"] = boost::json::object();
  boost::json::object time = object_of(state, "time");
  if (!time.contains("start")) time["start"] = 0;
  if (!time.contains("end")) time["end"] = time["start"];
  state["time"] = std::move(time);
  if (part.status == "error") {
    state["error"] = output;
  } else {
    state["status"] = "completed";
    state["output"] = output;
    // What a tool keeps of its output beside it is of no use here, and may be as long.
    boost::json::object metadata = object_of(state, "metadata");
    metadata.erase("output");
    state["metadata"] = std::move(metadata);
    if (!state["title"].is_string()) state["title"] = "";
    state.erase("raw");
  }
  whole["state"] = std::move(state);
  return boost::json::serialize(value);
}

// The parts of `wanted` but for results are the last ones of those that were carried over, in order: what is cut away
// goes from the front.
void edit_parts(const MessageSeen& seen, const Message& wanted, std::vector<Edit>& edits) {
  std::vector<const Part*> had;
  for (const Part& part : seen.parts)
    if (is_carried(part)) had.push_back(&part);
  if (had.empty()) return;
  std::vector<const errand::Part*> kept;
  std::unordered_map<std::string, const errand::Part*> results;
  for (const errand::Part& part : wanted.parts) {
    if (part.type == PartType::tool_result)
      results[part.call_id] = &part;
    else
      kept.push_back(&part);
  }
  const size_t gone = had.size() - std::min(had.size(), kept.size());
  for (size_t i = 0; i < had.size(); ++i) {
    const Part& part = *had[i];
    const std::string path = fmt::format("{}/part/{}", seen.info.id, part.id);
    if (i < gone) {
      edits.push_back({"DELETE", path, {}});
      continue;
    }
    const errand::Part& now = *kept[i - gone];
    if (part.type == "tool") {
      const auto result = results.find(part.call_id);
      if (result == results.end())
        edits.push_back({"DELETE", path, {}});  // Call and result go together.
      else if (!has_result(part) || result->second->text != part.output || now.input != part.input)
        edits.push_back({"PATCH", path, with_result(part, now.input, result->second->text)});
    } else if (part.type == "file") {
      if (now.type != PartType::file) edits.push_back({"PATCH", path, as_text(part, now.text)});
    } else if (now.text != part.text) {
      edits.push_back({"PATCH", path, with_text(part, now.text)});
    }
  }
}

}  // namespace

Message as_message(const MessageSeen& seen) {
  Message message;
  message.id = MessageId(seen.info.id);
  message.role = seen.info.role == "assistant" ? Role::assistant : Role::user;
  message.created_at = seen.info.created;
  message.completed_at = seen.info.completed ? seen.info.completed : seen.info.created;
  for (const Part& part : seen.parts) {
    if (part.type == "text" || part.type == "reasoning")
      message.parts.push_back({.type = part.type == "text" ? PartType::text : PartType::reasoning, .text = part.text});
    if (part.type == "file")
      message.parts.push_back(
          {.type = PartType::file, .name = part.name, .media_type = part.media_type, .url = part.url});
    if (part.type != "tool") continue;
    message.parts.push_back(
        {.type = PartType::tool_call, .call_id = part.call_id, .name = part.tool, .input = part.input});
    if (has_result(part))
      message.parts.push_back({.type = PartType::tool_result,
                               .text = part.output,
                               .call_id = part.call_id,
                               .is_error = part.status == "error",
                               .ms = part.ms});
  }
  if (message.parts.empty()) message.parts.push_back({.type = PartType::text});
  return message;
}

Result<ForkPlan> plan_fork(const std::vector<MessageSeen>& copy, size_t keep, const Launched& launched,
                           const fork::Limits& limits) {
  ForkPlan plan;
  keep = std::min(keep, copy.size());
  for (size_t i = keep; i < copy.size(); ++i) plan.edits.push_back({"DELETE", copy[i].info.id, {}});
  std::vector<MessageSeen> kept(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(keep));
  std::string launched_by;
  if (!kept.empty()) {
    launched_by = launching_call(kept.back(), launched);
    // What the parent was told of the launch is not for the one that was launched.
    for (Part& part : kept.back().parts)
      if (part.type == "tool" && part.call_id == launched_by && !launched_by.empty()) part.status = "running";
  }
  std::vector<Message> history;
  for (const MessageSeen& seen : kept) {
    history.push_back(as_message(seen));
    if (!seen.info.agent.empty()) plan.agent = seen.info.agent;
    if (!seen.info.provider.empty() && !seen.info.model.empty())
      plan.model = seen.info.provider + "/" + seen.info.model;
  }
  Result<fork::Prepared> prepared = fork::prepare(std::move(history), {}, launched_by, limits);
  if (!prepared) return std::unexpected(prepared.error());
  std::unordered_map<std::string_view, const Message*> wanted;
  for (const Message& message : prepared->messages) wanted.emplace(message.id.value, &message);
  for (const MessageSeen& seen : kept) {
    const auto found = wanted.find(seen.info.id);
    if (found == wanted.end())
      plan.edits.push_back({"DELETE", seen.info.id, {}});
    else
      edit_parts(seen, *found->second, plan.edits);
  }
  plan.preamble = std::move(prepared->preamble);
  plan.messages_kept = std::ssize(prepared->messages);
  return plan;
}

}  // namespace errand::opencode
