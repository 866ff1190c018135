// errand claude | codex | gemini install | uninstall: an entry for errand's MCP server in the program's own settings;
// for Claude Code also a hook that brings notices into the conversation, and the command /errand. Each change is looked
// up again at the next call: it may be repeated, and uninstall takes back exactly it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/files.h"
#include "cli/json_file.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace json = boost::json;

namespace {

constexpr std::string_view hook_words = " hook claude";  // By these a hook of ours is known, of any version.
constexpr std::string_view command_mark = "<!-- Made by: errand claude install -->";
constexpr std::string_view block_begin = "# Made by: errand codex install\n", block_end = "# The end of errand's.\n";
constexpr int hook_timeout_s = 10;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> home() {
  std::string folder = variable("HOME");
  if (folder.starts_with('/')) return folder;
  return fail(Code::invalid_argument, "HOME is not set, so the program's settings cannot be found.", "no_home");
}

// Where the program keeps its settings: what its own variable says, else below the home folder.
Result<std::string> settings_folder(const char* own_variable, const char* below_home) {
  if (std::string folder = variable(own_variable); folder.starts_with('/')) return folder;
  Result<std::string> folder = home();
  if (folder) *folder += below_home;
  return folder;
}

// One word of a shell's line.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

struct Places {
  std::string program, data_dir;
};

struct Changes {
  std::vector<std::string> made;
  // A step that changed something says what.
  Status note(const Result<bool>& changed, const std::string& words) {
    if (!changed) return std::unexpected(changed.error());
    if (*changed) made.push_back(words);
    return {};
  }
};

Error not_ours(const std::string& what, const std::string& path) {
  return {Code::conflict,
          fmt::format("{} has {} that errand did not make, so nothing was changed. Rename or remove it and try again.",
                      path, what),
          "not_ours"};
}

json::object& child(json::object& of, std::string_view name) {
  json::value& value = of[name];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

// What we leave empty goes.
void drop_empty(json::object& of, std::string_view name) {
  const json::value* value = of.if_contains(name);
  if (!value) return;
  const bool empty = value->is_object() ? value->get_object().empty() : value->is_array() && value->get_array().empty();
  if (empty) of.stable_erase(of.find(name));
}

// An entry is ours, or a person's for the same thing, where it starts errand's MCP server.
bool is_our_server(const json::value& entry) {
  const json::object* object = entry.if_object();
  const json::value* args = object ? object->if_contains("args") : nullptr;
  return args && args->is_array() && !args->get_array().empty() && args->get_array()[0] == "mcp";
}

// mcpServers.errand of a settings file.
Status set_server(JsonFile& file, const Places* places, bool with_type) {
  json::object& root = file.object();
  const json::value* servers = root.if_contains("mcpServers");
  if (places && servers && !servers->is_object()) return std::unexpected(not_ours("\"mcpServers\"", file.path()));
  const json::value* there = servers && servers->is_object() ? servers->get_object().if_contains("errand") : nullptr;
  if (there && !is_our_server(*there)) return std::unexpected(not_ours("an MCP server \"errand\"", file.path()));
  if (!places) {
    if (!there) return {};
    json::object& all = root["mcpServers"].get_object();
    all.stable_erase(all.find("errand"));
    drop_empty(root, "mcpServers");
    return {};
  }
  json::object entry;
  if (with_type) entry["type"] = "stdio";
  entry["command"] = places->program;
  entry["args"] = json::array{"mcp"};
  entry["env"] = json::object{{"ERRAND_DATA_DIR", places->data_dir}};
  child(root, "mcpServers")["errand"] = std::move(entry);
  return {};
}

bool is_our_hook(const json::value& group) {
  const json::object* object = group.if_object();
  const json::value* hooks = object ? object->if_contains("hooks") : nullptr;
  if (!hooks || !hooks->is_array() || hooks->get_array().size() != 1) return false;
  const json::object* hook = hooks->get_array()[0].if_object();
  const json::value* command = hook ? hook->if_contains("command") : nullptr;
  return command && command->is_string() && std::string_view(command->get_string()).contains(hook_words);
}

Status set_hook(JsonFile& file, std::string_view event, const Places* places) {
  json::object& root = file.object();
  const json::value* all = root.if_contains("hooks");
  const json::value* those = all && all->is_object() ? all->get_object().if_contains(event) : nullptr;
  if (places && ((all && !all->is_object()) || (those && !those->is_array())))
    return std::unexpected(not_ours("\"hooks\"", file.path()));
  if (!places && !(those && those->is_array())) return {};
  json::object& hooks = child(root, "hooks");
  json::value& value = hooks[event];
  if (!value.is_array()) value = json::array();
  json::array& groups = value.get_array();
  json::array kept;
  for (json::value& group : groups)
    if (!is_our_hook(group)) kept.push_back(std::move(group));
  if (places) {
    json::object hook{
        {"type", "command"},
        {"command", quoted(places->program) + std::string(hook_words) + " --data-dir " + quoted(places->data_dir)},
        {"timeout", hook_timeout_s}};
    kept.push_back(json::object{{"hooks", json::array{std::move(hook)}}});
  }
  groups = std::move(kept);
  drop_empty(hooks, event);
  drop_empty(root, "hooks");
  return {};
}

std::string command_text() {
  return fmt::format(
      "---\ndescription: errand's background tasks: what runs, what has ended\n---\n{}\n"
      "Show me the background tasks of this conversation with errand's tool background_list, as a short table. "
      "If I say more, do that with errand's tools: $ARGUMENTS\n",
      command_mark);
}

Status claude(const Places* places, bool wake, Changes& changes) {
  const Result<std::string> folder = settings_folder("CLAUDE_CONFIG_DIR", "/.claude");
  const Result<std::string> above = settings_folder("CLAUDE_CONFIG_DIR", "");
  if (!folder) return std::unexpected(folder.error());
  Result<JsonFile> servers = JsonFile::read(*above + "/.claude.json");
  if (!servers) return std::unexpected(servers.error());
  Result<JsonFile> settings = JsonFile::read(*folder + "/settings.json");
  if (!settings) return std::unexpected(settings.error());
  const std::string command = *folder + "/commands/errand.md";
  const Result<std::string> there = read_user_file(command);
  if (!there) return std::unexpected(there.error());
  if (!there->empty() && !there->contains(command_mark)) {
    if (places) return std::unexpected(not_ours("a command", command));
  }
  if (const Status set = set_server(*servers, places, true); !set) return set;
  if (const Status set = set_hook(*settings, "UserPromptSubmit", places); !set) return set;
  if (const Status set = set_hook(*settings, "Stop", wake ? places : nullptr); !set) return set;

  // All of it is known to be possible; only now is something written.
  if (const Status done = changes.note(servers->write(), servers->path() + ": the MCP server errand"); !done)
    return done;
  if (const Status done = changes.note(settings->write(), settings->path() + ": the hook that brings notices"); !done)
    return done;
  if (places || there->contains(command_mark))
    return changes.note(write_user_file(command, *there, places ? command_text() : ""),
                        command + ": the command /errand");
  return {};
}

Status gemini(const Places* places, Changes& changes) {
  const Result<std::string> folder = home();
  if (!folder) return std::unexpected(folder.error());
  Result<JsonFile> settings = JsonFile::read(*folder + "/.gemini/settings.json");
  if (!settings) return std::unexpected(settings.error());
  if (const Status set = set_server(*settings, places, false); !set) return set;
  return changes.note(settings->write(), settings->path() + ": the MCP server errand");
}

// A block of lines at the end of config.toml: a table may stand there whatever comes before.
Status codex(const Places* places, Changes& changes) {
  const Result<std::string> folder = settings_folder("CODEX_HOME", "/.codex");
  if (!folder) return std::unexpected(folder.error());
  const std::string path = *folder + "/config.toml";
  Result<std::string> text = read_user_file(path);
  if (!text) return std::unexpected(text.error());
  const std::string before = *text;
  if (const size_t begin = text->find(block_begin); begin != std::string::npos) {
    const size_t end = text->find(block_end, begin);
    if (end == std::string::npos) return std::unexpected(not_ours("lines in errand's block", path));
    text->erase(begin, end + block_end.size() - begin);
  }
  if (text->contains("[mcp_servers.errand]")) {
    if (places) return std::unexpected(not_ours("an MCP server \"errand\"", path));
    return {};
  }
  if (places) {
    if (!text->empty() && !text->ends_with('\n')) *text += '\n';
    // JSON's strings are TOML's.
    const auto toml = [](const std::string& word) { return json::serialize(json::string(word)); };
    *text += fmt::format("{}[mcp_servers.errand]\ncommand = {}\nargs = [\"mcp\"]\nenv = {{ ERRAND_DATA_DIR = {} }}\n{}",
                         block_begin, toml(places->program), toml(places->data_dir), block_end);
  }
  return changes.note(write_user_file(path, before, *text), path + ": the MCP server errand");
}

}  // namespace

int agent_install(Context& context, const AgentInstallArgs& args) {
  Places places{.program = {}, .data_dir = context.globals.data_dir};
  if (args.install) {
    std::error_code error;
    places.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error || ::access(places.program.c_str(), X_OK) != 0)
      return context.screen.fail(
          {Code::unavailable, "The file of this errand was deleted or replaced. Run the new one.", "no_binary"});
  }
  const Places* wanted = args.install ? &places : nullptr;
  Changes changes;
  const Status done = args.program == "claude"  ? claude(wanted, args.wake, changes)
                      : args.program == "codex" ? codex(wanted, changes)
                                                : gemini(wanted, changes);
  if (context.screen.json()) {
    std::string out;
    JsonOut json_out(out);
    json_out.object().field("changed", !changes.made.empty()).key("changes").array();
    for (const std::string& change : changes.made) json_out.value(change);
    json_out.end().end();
    if (done) context.screen.out_line(out);
  } else {
    for (const std::string& change : changes.made)
      context.screen.out_line(fmt::format("{} {}", args.install ? "Set" : "Removed", change));
    if (done && changes.made.empty())
      context.screen.out_line(args.install ? "Everything is there already: nothing was changed."
                                           : "Nothing of errand's is there: nothing was changed.");
    if (done && !changes.made.empty() && args.install)
      context.screen.out_line(
          fmt::format("It has errand's tools after its next start. To undo: errand {} uninstall", args.program));
  }
  return done ? code(Exit::ok) : context.screen.fail(done.error());
}

}  // namespace errand::cli
