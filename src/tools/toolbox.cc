#include "tools/toolbox.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/text.h"
#include "tools/call.h"
#include "tools/family.h"

namespace errand::tools {
namespace {

// Arguments up to this are read on the engine's thread.
constexpr size_t inline_bytes_max = 64 * 1024;

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> tools = {
      background_task(),   background_execute(), background_output(), background_list(), background_message(),
      background_cancel(), background_retry(),   background_clear(),  session_manager(), look_at()};
  return tools;
}

Result<api::Document> parse_arguments(std::string_view text) {
  Result<api::Document> document = api::Document::parse_or_empty(text);
  if (document && !document->value().is_object())
    return fail(Code::invalid_argument, "The arguments must be a JSON object.", "wrong_type");
  if (!document && document.error().message.starts_with("The body"))
    document.error().message = "The arguments" + document.error().message.substr(8);
  return document;
}

std::unexpected<Error> unknown_tool(std::string_view called, std::string_view family) {
  std::string known;
  for (const ToolInfo& info : tool_infos(family)) known += (known.empty() ? "" : ", ") + info.name;
  return fail(Code::not_found,
              "There is no tool \"" + to_utf8(first_characters(called, 100)) + "\"; there are: " + known + ".",
              "unknown_tool");
}

// Null where there is none.
const Tool* find_tool(const ToolName& called) {
  const auto tool = std::ranges::find(all_tools(), called.name, [](const Tool& one) { return one.info.name; });
  return tool == all_tools().end() ? nullptr : &*tool;
}

}  // namespace

Role role_of(std::string_view name) {
  const Tool* const tool = find_tool(parse_tool_name(name));
  return tool ? tool->info.role : Role::other;
}

std::vector<ToolInfo> tool_infos(std::string_view family) {
  std::vector<ToolInfo> infos;
  for (const Tool& tool : all_tools()) {
    ToolInfo info = tool.info;
    for (std::string* text :
         {&info.name, &info.title, &info.description, &info.input_schema, &info.output_schema, &info.example})
      *text = in_family(*text, family);
    // One line each, as MCP over standard output needs it: a line break between JSON's own words says nothing.
    std::erase(info.input_schema, '\n');
    std::erase(info.output_schema, '\n');
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<ToolInfo> Toolbox::list(bool forks) const {
  std::vector<ToolInfo> infos = tool_infos(parts_.family);
  for (ToolInfo& info : infos)
    if (find_tool(parse_tool_name(info.name))->info.name == "background_task")
      fit_background_task(info, parts_.engine.administration(), forks);
  return infos;
}

void Toolbox::call(std::string_view name, Caller caller, std::string arguments, Reply<ToolResult> reply) {
  const ToolName called = parse_tool_name(name);
  const Tool* const tool = find_tool(called);
  if (!tool) {
    parts_.loop.post(
        [reply = std::move(reply), error = unknown_tool(name, parts_.family)]() mutable { reply(std::move(error)); });
    return;
  }
  auto call = std::make_shared<Call>(parts_, *tool, std::move(caller),
                                     called.family.empty() ? parts_.family : called.family, std::move(reply));
  auto begin = [call](const Result<api::Document>& document) {
    // Whether a launch may be, its handler says (launching.cc): a command needs another scope than the rest.
    const bool starts = call->tool.info.name == "background_execute";
    if (!call->tool.info.annotations.read_only && !starts && !call->caller.rights.change)
      return call->refuse(lacks_scope("tasks", "this needs").error());
    if (!document) return call->refuse(document.error());
    call->tool.handle(call, api::Fields(document->value()));
  };
  if (arguments.size() <= inline_bytes_max) {
    parts_.loop.post([begin, arguments = std::move(arguments)] { begin(parse_arguments(arguments)); });
    return;
  }
  parts_.readers.post([begin, &loop = parts_.loop, arguments = std::move(arguments)] {
    auto document = std::make_shared<Result<api::Document>>(parse_arguments(arguments));
    loop.post([begin, document] { begin(*document); });
  });
}

}  // namespace errand::tools
