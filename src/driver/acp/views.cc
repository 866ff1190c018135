// How calls, edits, questions and ends of an agent look to people and to rules.
#include <algorithm>
#include <array>
#include <cctype>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "base/line_diff.h"
#include "base/text.h"
#include "driver/acp/translate.h"
#include "shell/reads.h"
#include "shell/subjects.h"

namespace errand::acp {

namespace {

namespace json = boost::json;

constexpr size_t summary_max = 120;
constexpr size_t diff_max = 32 << 10;
constexpr size_t question_max = 8 << 10;

json::object parse_object(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* object = error ? nullptr : value.if_object();
  return object ? *object : json::object();
}

// Words of a command that is given as a list are joined.
std::string text_in(const json::object& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const json::value* value = object.if_contains(name);
    if (!value) continue;
    if (value->is_string() && !value->get_string().empty()) return std::string(value->get_string());
    std::string joined;
    if (const json::array* words = value->if_array())
      for (const json::value& word : *words)
        if (word.is_string()) joined += (joined.empty() ? "" : " ") + std::string(word.get_string());
    if (!joined.empty()) return joined;
  }
  return {};
}

std::string cut(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  return std::string(text.substr(0, utf8_prefix(text, bytes))) + "…";
}

struct KindName {
  std::string_view kind, tool;
};
constexpr auto kinds = std::to_array<KindName>({{"execute", "bash"},
                                                {"edit", "edit"},
                                                {"delete", "delete"},
                                                {"move", "move"},
                                                {"read", "read"},
                                                {"search", "grep"},
                                                {"fetch", "webfetch"},
                                                {"think", "think"},
                                                {"switch_mode", "switch_mode"}});

std::string_view tool_of(std::string_view kind) {
  const auto found = std::ranges::find(kinds, kind, &KindName::kind);
  return found == kinds.end() ? std::string_view() : found->tool;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

// A word as a shell takes it for this word: `sort`, `#`, `-o`, `x` have no comment.
std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) || std::string_view("-_./,:=+@%").contains(static_cast<char>(c));
  });
  if (plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return out + "'";
}

// `exact`: it is what runs, and all of it. A title is only words for people.
struct AskedCommand {
  std::string text;
  bool exact = false;
};

AskedCommand command_of(const ToolCall& call, const json::object& input) {
  for (const char* name : {"command", "cmd", "script"}) {
    const json::value* value = input.if_contains(name);
    AskedCommand found{.text = {}, .exact = !input.contains("args") && !input.contains("env")};
    if (value && value->is_string()) found.text = std::string(value->get_string());
    if (const json::array* words = value ? value->if_array() : nullptr)
      for (const json::value& word : *words) {
        if (word.is_string())
          found.text += (found.text.empty() ? "" : " ") + shell_word(word.get_string());
        else
          found.exact = false;
      }
    if (!found.text.empty()) return found;
  }
  return {.text = call.title};
}

// Codex says `/bin/bash -lc 'SCRIPT'`: the rules are about the script. Only where it stands in single quotes, in which
// nothing is special, is what is inside exactly what runs.
std::string unwrapped(const std::string& command) {
  constexpr std::string_view quote = R"('\'')";  // How a quote stands in quotes.
  for (const std::string_view shell :
       {"/bin/bash", "/usr/bin/bash", "bash", "/bin/sh", "sh", "/bin/zsh", "/usr/bin/zsh"})
    for (const std::string_view flag : {" -lc '", " -c '"}) {
      const std::string begin = std::string(shell) + std::string(flag);
      if (!command.starts_with(begin) || !command.ends_with('\'') || command.size() <= begin.size()) continue;
      const std::string script = command.substr(begin.size(), command.size() - begin.size() - 1);
      std::string out;
      for (size_t at = 0; at < script.size();) {
        const bool quoted = std::string_view(script).substr(at).starts_with(quote);
        if (!quoted && script[at] == '\'') return command;
        out += script[at];
        at += quoted ? quote.size() : 1;
      }
      return out;
    }
  return command;
}

}  // namespace

CallView view_of(const ToolCall& call) {
  const json::object input = parse_object(call.input);
  const bool bare = std::ranges::all_of(input, [](const auto& member) { return member.key() == "cwd"; });
  CallView view{.name = call.name, .input = call.input.empty() ? "{}" : call.input, .summary = {}};
  if (view.name.empty()) view.name = tool_of(call.kind);
  if (view.name.empty() && is_word(call.title)) view.name = call.title;
  if (view.name.empty()) view.name = call.kind.empty() ? "tool" : call.kind;
  const std::string path = call.locations.empty() ? std::string() : call.locations.front();
  if (bare && (!call.diffs.empty() || !call.title.empty())) {
    view.input.clear();
    JsonOut out(view.input);
    out.object();
    if (!call.diffs.empty()) {
      const Diff& diff = call.diffs.front();
      out.field("path", diff.path).field("old_text", diff.before).field("new_text", diff.after);
    } else if (call.kind == "execute") {
      out.field("command", call.title);
    } else {
      out.field("title", call.title);
      if (!path.empty()) out.field("path", path);
    }
    out.end();
  } else if (view.name == "edit" && input.contains("content") && !input.contains("old_string")) {
    view.name = "write";
  }
  std::string found =
      text_in(input, {"command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description"});
  if (found.empty()) found = call.title.empty() || call.title == view.name ? path : call.title;
  view.summary = cut(first_line(found), summary_max);
  return view;
}

std::string diff_text(const Diff& diff) { return line_diff(diff.path, diff.before, diff.after, diff_max); }

PermissionView permission_view(std::string_view agent, std::string_view work_dir, const ToolCall& call) {
  const json::object input = parse_object(call.input);
  PermissionView view;
  view.tool = tool_of(call.kind);
  // What moves or removes a file changes it.
  if (view.tool == "move" || view.tool == "delete") view.tool = "edit";
  if (view.tool.empty()) view.tool = view_of(call).name;
  if (view.tool == "bash") {
    const auto [command, exact] = command_of(call, input);
    std::string folder = text_in(input, {"cwd", "workdir", "directory"});
    if (folder.empty()) folder = work_dir;
    const std::string script = unwrapped(command);
    view.subject = shell::subject_of(script);
    view.work_dir = folder;
    view.reads = exact && folder == work_dir && shell::only_reads(script, folder);
    view.text = fmt::format("{} asks to run in {}:\n{}", agent, folder, command);
  } else {
    std::vector<std::string> paths = call.locations;
    for (const Diff& diff : call.diffs)
      if (std::ranges::find(paths, diff.path) == paths.end()) paths.push_back(diff.path);
    if (paths.empty())
      if (std::string path = text_in(input, {"file_path", "filePath", "path", "url", "pattern", "query"});
          !path.empty())
        paths.push_back(std::move(path));
    if (paths.empty()) paths.push_back(call.title);
    for (const std::string& path : paths)
      view.subject += (view.subject.empty() ? "" : "\n") + std::string(first_line(path));
    view.text = fmt::format("{} asks to use {}: {}", agent, view.tool, call.title.empty() ? view.subject : call.title);
    for (const Diff& diff : call.diffs) view.diff += diff_text(diff);
  }
  view.text = cut(view.text, question_max);
  return view;
}

std::string option_for(const std::vector<Option>& options, std::string_view decision, std::string_view word) {
  const auto yes = [](const Option& option) { return option.kind.starts_with("allow"); };
  for (const Option& option : options)
    if (!word.empty() && (option.name == word || option.id == word) && yes(option) == (decision != "deny"))
      return option.id;
  const auto of_kind = [&](std::string_view kind) -> const Option* {
    const auto found = std::ranges::find(options, kind, &Option::kind);
    return found == options.end() ? nullptr : &*found;
  };
  // What holds for further calls is errand's to remember, exactly as it was granted: an agent's "always" may mean more.
  const std::array<std::string_view, 2> wanted =
      decision == "allow_always" ? std::array<std::string_view, 2>{"allow_once", "allow_always"}
      : decision == "allow"      ? std::array<std::string_view, 2>{"allow_once", {}}
                                 : std::array<std::string_view, 2>{"reject_once", "reject_always"};
  for (const std::string_view kind : wanted)
    if (const Option* option = kind.empty() ? nullptr : of_kind(kind)) return option->id;
  return {};
}

Outcome outcome_of(const Stopped& stopped, const std::string& said) {
  Outcome outcome;
  const auto failed = [&](const char* code, std::string message) {
    outcome.kind = Outcome::Kind::failed;
    outcome.error = TaskError{code, std::move(message), {}};
    return outcome;
  };
  if (stopped.reason == "max_tokens")
    return failed("max_tokens", "The model reached its limit of tokens before its answer was complete.");
  if (stopped.reason == "max_turn_requests")
    return failed("budget", "The agent reached its limit of model calls in one turn; send a message to go on.");
  if (stopped.reason == "refusal") return failed("refused", "The model refused to go on.");
  if (stopped.reason == "cancelled") return failed("agent_error", "The agent ended the turn as cancelled by itself.");
  outcome.result = said;
  return outcome;
}

Outcome outcome_of(const RpcError& error, const AgentInfo& agent, std::string_view command) {
  Outcome outcome{.kind = Outcome::Kind::failed, .result = {}, .error = TaskError{"agent_error", error.message, {}}};
  std::string& details = outcome.error->details;
  JsonOut out(details);
  out.object().field("rpc_code", error.code);
  if (!error.details.empty()) out.key("data").raw(error.details);
  out.end();
  if (error.code != auth_required) return outcome;
  outcome.error->code = "login_required";
  std::string& text = outcome.error->message;
  text = fmt::format("{} is not logged in ({}). Run `{}` in a terminal and log in, then retry.",
                     agent.name.empty() ? std::string(command) : agent.name, error.message, command);
  for (const AgentInfo::Login& login : agent.logins)
    text += fmt::format(" {}: {}", login.name, login.description.empty() ? login.id : login.description);
  return outcome;
}

}  // namespace errand::acp
