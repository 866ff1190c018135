#include "mcp/shapes.h"

#include <algorithm>

#include "base/json_out.h"
#include "tools/family.h"

namespace errand::mcp {
namespace {

constexpr std::string_view instructions =
    "errand runs background tasks: agents (background_task) and commands (background_execute) that go on while you do "
    "other things. Starting one returns at once. You are told of tasks that ended with the answer to your next call, "
    "so do not poll; background_output with block=true waits where you cannot go on without a result. "
    "background_list shows your tasks, look_at their logs and files; session_manager keeps notes across turns.";

void write_server_info(JsonOut& out, const Rpc& rpc) {
  out.object().field("name", "errand").field("title", "errand: background tasks");
  out.field("version", rpc.parts.version).end();
}

void write_instructions(JsonOut& out, const Rpc& rpc) {
  out.field("instructions", tools::in_family(instructions, rpc.parts.tools.family()));
}

void write_flags(JsonOut& out, std::string_view name, std::initializer_list<std::string_view> flags) {
  out.key(name).object();
  for (const std::string_view flag : flags) out.field(flag, true);
  out.end();
}

void write_text_block(JsonOut& out, std::string_view text) {
  out.object().field("type", "text").field("text", text).end();
}

std::string notice_text(const Notice& notice, size_t share) {
  return bounded(notice.text, share, "background_output reads the whole.");
}

// What the protocol does not assume anyway: a tool that says nothing may change and delete things, in an open world.
void write_annotations(JsonOut& out, const tools::Annotations& annotations) {
  out.key("annotations").object();
  if (annotations.read_only) out.field("readOnlyHint", true);
  if (!annotations.read_only && !annotations.destructive) out.field("destructiveHint", false);
  if (!annotations.read_only && annotations.idempotent) out.field("idempotentHint", true);
  if (!annotations.open_world) out.field("openWorldHint", false);
  out.end();
}

}  // namespace

bool is_version(std::string_view version) { return std::ranges::find(versions, version) != std::end(versions); }

std::string_view negotiate(std::string_view requested) {
  const auto known = std::ranges::find(versions, requested);
  return known == std::end(versions) ? versions[0] : *known;
}

void begin_result(JsonOut& out, const Rpc& rpc, std::string_view type, std::string_view meta) {
  out.object();
  if (rpc.modern()) out.field("resultType", type);
  if (!rpc.modern() && meta.empty()) return;
  std::string members(meta);
  if (rpc.modern()) {
    if (!members.empty()) members += ",";
    members += "\"io.modelcontextprotocol/serverInfo\":";
    JsonOut info(members);
    write_server_info(info, rpc);
  }
  out.key("_meta").raw("{" + members + "}");
}

void cache_for(JsonOut& out, const Rpc& rpc, int64_t ttl_ms, std::string_view scope) {
  if (rpc.modern()) out.field("ttlMs", ttl_ms).field("cacheScope", scope);
}

std::string empty_result(const Rpc& rpc) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc);
  out.end();
  return text;
}

std::string initialize_result(const Rpc& rpc) {
  const std::string_view version = negotiate(rpc.message.text("protocolVersion"));
  std::string text;
  JsonOut out(text);
  out.object().field("protocolVersion", version).key("capabilities").object();
  write_flags(out, "tools", {});
  write_flags(out, "resources", {"subscribe", "listChanged"});
  write_flags(out, "prompts", {});
  write_flags(out, "logging", {});
  if (version != versions[2]) write_flags(out, "completions", {});
  if (version == versions[0]) out.key("tasks").raw(R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})");
  out.end().key("serverInfo");
  write_server_info(out, rpc);
  write_instructions(out, rpc);
  out.end();
  return text;
}

std::string discover_result(const Rpc& rpc) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc);
  out.key("supportedVersions").array().value(modern_version);
  for (const std::string_view version : versions) out.value(version);
  out.end().key("capabilities").object();
  write_flags(out, "tools", {});
  write_flags(out, "resources", {"subscribe", "listChanged"});
  write_flags(out, "prompts", {});
  write_flags(out, "completions", {});
  out.key("extensions").object().key(tasks_extension).object().end().end().end();
  write_instructions(out, rpc);
  cache_for(out, rpc, fixed_ttl_ms, "public");
  out.end();
  return text;
}

std::string tools_result(const Rpc& rpc) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc);
  out.key("tools").array();
  for (const tools::ToolInfo& tool : rpc.parts.tools.list(rpc.peer.forks)) {
    out.object().field("name", tool.name).field("title", tool.title).field("description", tool.description);
    out.key("inputSchema").raw(tool.input_schema);
    write_annotations(out, tool.annotations);
    if (!rpc.modern() && tool.role == tools::Role::starts) out.key("execution").raw(R"({"taskSupport":"optional"})");
    out.end();
  }
  out.end();
  // It names the agents that are here now, and depends on whose conversation asks.
  cache_for(out, rpc, tools_ttl_ms, "private");
  out.end();
  return text;
}

std::string call_result(const Rpc& rpc, const tools::ToolResult& result, const std::vector<Notice>& notices,
                        std::string_view meta) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc, "complete", meta);
  out.key("content").array();
  write_text_block(out, result.text);
  const size_t share = result_cap / std::max<size_t>(1, notices.size());
  for (const Notice& notice : notices) write_text_block(out, "[Notice]\n" + notice_text(notice, share));
  out.end();
  // An error's data is not what the output schema says, and its text says all of it.
  if (!result.is_error) {
    // Clients that know the schema (Claude Code, Codex) show their model this and nothing else: so the notices are in
    // it too, or they would be taken and never told.
    std::string data = result.data;
    if (!notices.empty()) {
      std::string told = data == "{}" ? R"("notices":)" : R"(,"notices":)";
      JsonOut list(told);
      list.array();
      for (const Notice& notice : notices) list.value(notice_text(notice, share));
      list.end();
      data.insert(data.size() - 1, told);
    }
    out.key("structuredContent").raw(data);
  }
  out.field("isError", result.is_error).end();
  return text;
}

}  // namespace errand::mcp
