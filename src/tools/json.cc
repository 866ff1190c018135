#include "tools/json.h"

#include <boost/json.hpp>

#include "api/fields.h"
#include "api/launch.h"
#include "base/json_out.h"

namespace errand::tools {

std::string tools_reply(const std::vector<ToolInfo>& tools, std::string_view family) {
  std::string text;
  JsonOut out(text);
  out.object().key("tools").array();
  for (const ToolInfo& tool : tools) {
    out.object().field("name", tool.name).field("title", tool.title).field("description", tool.description);
    out.key("input_schema").raw(tool.input_schema).key("output_schema").raw(tool.output_schema);
    out.key("annotations").object().field("read_only", tool.annotations.read_only);
    out.field("destructive", tool.annotations.destructive).field("idempotent", tool.annotations.idempotent);
    out.field("open_world", tool.annotations.open_world).end();
    out.key("example").raw(tool.example).end();
  }
  out.end().field("family", family).end();
  return text;
}

std::string result_reply(const ToolResult& result) {
  std::string text;
  JsonOut out(text);
  out.object().field("text", result.text).key("data").raw(result.data).field("is_error", result.is_error).end();
  return text;
}

Result<CallRequest> parse_call(std::string_view body) {
  const Result<api::Document> document = api::Document::parse_or_empty(body);
  if (!document) return std::unexpected(document.error());
  CallRequest request;
  api::Fields fields(document->value());
  constexpr api::TextRule id_rule{.bytes_max = 200, .one_line = true};
  fields.text("session_id", request.caller.session.value, id_rule);
  fields.text("message_id", request.caller.message.value, id_rule);
  for (const auto& [name, id] :
       {std::pair{"session_id", &request.caller.session.value}, std::pair{"message_id", &request.caller.message.value}})
    if (!api::is_plain_id(*id)) fields.refuse(name, "must be made of letters, digits and _ - . :");
  fields.text("work_dir", request.caller.work_dir, {.bytes_max = 4096});
  if (!request.caller.work_dir.empty() && !api::is_absolute_path(request.caller.work_dir))
    fields.refuse("work_dir", "must be an absolute path: the folder that you are in");
  // What they are is the tool's to say, so that every surface says it in the same words.
  if (fields.has("arguments"))
    request.arguments = boost::json::serialize(document->value().as_object().at("arguments"));
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return request;
}

}  // namespace errand::tools
