#include "tools/markdown.h"

#include <boost/json.hpp>

namespace errand::tools {
namespace {

namespace json = boost::json;

constexpr std::string_view opening =
    R"(# Tools for agents

<!-- Made from the descriptions in src/tools/ and held to them by tools_test: change them there, then run
     `ERRAND_UPDATE_DOCS=1 build/release/tests/tools/tools_test --gtest_filter=Docs.*`. -->

With these tools an agent starts and controls background tasks. They are the same everywhere: `GET /api/tools` lists them with
their schemas, `POST /api/tools/{name}` calls one (see [api.md](api.md)), `errand tool NAME '{...}'` calls one from a shell, and
MCP clients find them at `/mcp`.

**Set-up.** One command or one entry for each client; none of them needs a token or a running server:

| client | |
|---|---|
| Claude Code | `errand claude install`, which also brings notices into the conversation; or, for the tools alone, `claude mcp add errand -- errand mcp` |
| Codex | `errand codex install`, or `codex mcp add errand -- errand mcp` |
| OpenCode | `errand opencode install`, which also forks conversations and wakes them; or, for the tools alone, in `opencode.json`: `{"mcp":{"errand":{"type":"local","command":["errand","mcp"]}}}` |
| Cursor | in `~/.cursor/mcp.json`: `{"mcpServers":{"errand":{"command":"errand","args":["mcp"]}}}` |
| Zed | in its settings: `{"context_servers":{"errand":{"command":"errand","args":["mcp"]}}}` |
| VS Code | `code --add-mcp '{"name":"errand","command":"errand","args":["mcp"]}'` |
| Gemini CLI | `errand gemini install`, or `gemini mcp add errand errand mcp` |
| any other | the program `errand mcp`; or the address `http://127.0.0.1:4747/mcp` with the header `Authorization: Bearer TOKEN` (the token is in the file `token` of the data folder) |

Claude Code and Codex tell errand which conversation calls: each conversation has its own tasks and finds them again later. For other
clients a session lasts as long as the `errand mcp` that they started; `errand mcp --session NAME` gives it a name that lasts.

**Work dir.** Without `work_dir` a task works in its caller's folder: the first root of an MCP client that has roots, else
the folder in which `errand mcp` or `errand tool` was started; inside a task, that task's folder. A relative `work_dir` is below it. Over HTTP
errand does not know the caller's folder and takes the home folder of the server's user. The answer names the folder.

**Sessions.** A call names the session that makes it. That session sees and changes only the tasks that it launched itself (its
direct children), and is told when one of them ends. A call without a session belongs to the user: it reaches every task, and no
session is told.

**Names.** Each tool can be called as `background_…`, `superagents_…`, `asyncagents_…` or `bgagent_…`; the setting
`tools.family` decides which names are listed. `background_task:execute` is `background_execute`.

**Ids.** Any unique beginning of a task's id works; if several ids begin with it, the error names them.

**Answers** have a text for the agent and the same as data, by the output schema. A call that is wrong or cannot be done gets
`is_error`, a text that says what was wrong, what is allowed and what to try, and `{"error":{"code","reason","message"}}` as data. A failed
task has the status `error` here; REST and the page call the same status `failed`.
)";

std::string type_of(const json::object& schema) {
  if (const json::value* values = schema.if_contains("enum")) {
    std::string words;
    for (const json::value& value : values->as_array())
      words += (words.empty() ? "" : ", ") +
               (value.is_string() ? "`" + std::string(value.as_string()) + "`" : json::serialize(value));
    return words;
  }
  if (const json::value* any = schema.if_contains("anyOf")) {
    std::string words;
    for (const json::value& one : any->as_array()) words += (words.empty() ? "" : " or ") + type_of(one.as_object());
    return words;
  }
  const json::value* type = schema.if_contains("type");
  if (!type) return "any";
  std::string words;
  if (type->is_array()) {
    for (const json::value& one : type->as_array())
      words += (words.empty() ? "" : " or ") + std::string(one.as_string());
  } else {
    words = std::string(type->as_string());
  }
  const json::value* items = schema.if_contains("items");
  return items && items->is_object() ? words + " of " + type_of(items->as_object()) : words;
}

bool is_required(const json::object& schema, std::string_view name) {
  const json::value* required = schema.if_contains("required");
  if (!required) return false;
  for (const json::value& one : required->as_array())
    if (std::string_view(one.as_string()) == name) return true;
  return false;
}

std::string description_of(const json::object& schema) {
  const json::value* description = schema.if_contains("description");
  if (description) return std::string(description->as_string());
  const json::value* properties = schema.if_contains("properties");
  std::string words;
  if (properties)
    for (const auto& member : properties->as_object())
      words += (words.empty() ? "`" : ", `") + std::string(member.key()) + "`";
  return words;
}

void add_arguments(std::string& out, const json::object& schema) {
  out += "\n| argument | type | |\n|---|---|---|\n";
  for (const auto& member : schema.at("properties").as_object()) {
    const json::object& property = member.value().as_object();
    const std::string name(member.key());
    out += "| `" + name + "`" + (is_required(schema, name) ? " (required)" : "") + " | " + type_of(property) + " | " +
           description_of(property) + " |\n";
  }
}

void add_answer(std::string& out, const json::object& schema) {
  out += "\nAnswer: ";
  bool first = true;
  for (const auto& member : schema.at("properties").as_object())
    out += (std::exchange(first, false) ? "`" : ", `") + std::string(member.key()) + "`";
  out += ".\n";
}

std::string annotations_of(const Annotations& annotations) {
  if (annotations.read_only) return "Changes nothing.";
  if (annotations.destructive) return "May delete something.";
  return "Changes something, deletes nothing.";
}

}  // namespace

std::string markdown(const std::vector<ToolInfo>& tools) {
  std::string out(opening);
  for (const ToolInfo& tool : tools) {
    out += "\n## `" + tool.name + "`: " + tool.title + "\n\n" + tool.description + "\n";
    add_arguments(out, json::parse(tool.input_schema).as_object());
    out += "\nExample: `" + tool.example + "`\n";
    add_answer(out, json::parse(tool.output_schema).as_object());
    out += "\n" + annotations_of(tool.annotations) + "\n";
  }
  return out;
}

}  // namespace errand::tools
