#include "driver/builtin/tools/agent_tool.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/in_background.h"
#include "driver/builtin/tools/process_tools.h"
#include "model/model.h"
#include "task/notice.h"

namespace errand::builtin {
namespace {

namespace json = boost::json;

// The arguments as an object; null where they are none. What is wrong in them the tool itself says.
struct Input {
  explicit Input(std::string_view text) : document(Document::parse_or_empty(text.substr(0, input_bytes_max))) {
    if (document && document->value().is_object()) object = &document->value().get_object();
  }
  const json::value* find(std::string_view name) const { return object ? object->if_contains(name) : nullptr; }
  std::string text(std::string_view name) const {
    const json::value* const value = find(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  }
  bool flag(std::string_view name) const {
    const json::value* const value = find(name);
    return value && value->is_bool() && value->get_bool();
  }

  Result<Document> document;
  const json::object* object = nullptr;
};

std::string quoted_word(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The command as a script; of a list of words each is quoted.
std::string command_of(const Input& input) {
  const json::value* const value = input.find("command");
  if (!value || !value->is_array()) return input.text("command");
  std::string script;
  for (const json::value& word : value->get_array())
    if (word.is_string()) script += (script.empty() ? "" : " ") + quoted_word(std::string_view(word.get_string()));
  return script;
}

class AgentToolRun final : public ToolRun {
 public:
  std::unique_ptr<AgentTools::Handle> handle;
};

class AgentTool final : public Tool {
 public:
  AgentTool(AgentTools& tools, AgentTools::Info info)
      : tools_(tools),
        read_only_(info.read_only),
        spec_{.name = std::move(info.name),
              .description = std::move(info.description),
              .input_schema = std::move(info.input_schema)} {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return read_only_; }
  std::string summary(std::string_view input) const override { return summary_of(Input(input)); }
  Result<Prepared> prepare(const ToolContext& context, std::string input) const override {
    Prepared call;
    call.need.ask = false;
    // What an agent's children do is asked for when they do it; a command asks nobody, so it is asked for here, by the
    // rules for `bash`.
    if (spec_.name.ends_with("_execute")) {
      Result<Need> need = need_of_execute(context, Input(input));
      if (!need) return std::unexpected(need.error());
      call.need = std::move(*need);
    } else if (spec_.name.ends_with("_output")) {
      if (const Input arguments(input); arguments.flag("block")) call.children = summary_of(arguments);
    }
    call.run = [this, input = std::move(input)](const ToolContext& with, Done done) mutable {
      return run(with, std::move(input), std::move(done));
    };
    return call;
  }

 private:
  static std::string summary_of(const Input& arguments) {
    for (const char* name : {"description", "command", "task_id", "batch_id", "path", "key", "action", "status"})
      if (const std::string text = arguments.text(name); !text.empty()) return short_line(text);
    return {};
  }
  std::unique_ptr<ToolRun> run(const ToolContext& context, std::string input, Done done) const {
    auto run = std::make_unique<AgentToolRun>();
    run->handle = tools_.call(
        spec_.name, std::move(input), *context.task, context.message,
        [done = std::move(done)](AgentTools::Result result) mutable {
          done({.output = bounded(result.text, tool_output_max, "Ask for less at once."), .is_error = result.is_error});
        });
    return run;
  }

  static Result<Need> need_of_execute(const ToolContext& context, const Input& input) {
    const Launch& launch = context.task->launch;
    const std::optional<Sandbox> asked = parse_sandbox(input.text("sandbox"));
    if (launch.sandbox != Sandbox::off && asked.value_or(Sandbox::off) < launch.sandbox)
      return fail(Code::forbidden,
                  fmt::format("You work in a sandbox, and so does what you start: give \"sandbox\": \"{}\".",
                              name(launch.sandbox)),
                  "sandbox");
    const std::string folder = input.text("work_dir");
    Need need = need_of_command(command_of(input), folder.empty() ? launch.work_dir : folder);
    need.text = "In the background: " + need.text;
    // It may work in another folder, with another PATH: whatever the command is, it is asked for.
    need.reads = false;
    // What changes the meaning of a command (`make` elsewhere is another one), or hands it a secret, is not covered by
    // a rule for the command.
    const auto add = [&](std::string line) { need.subject += "\n" + line; };
    if (!folder.empty() && folder != launch.work_dir) add("work_dir " + short_line(folder, 4'000));
    if (const json::value* env = input.find("env"); env && env->is_object())
      for (const auto& member : env->get_object()) add("env " + short_line(member.key(), 200));
    if (const json::value* names = input.find("pass_env"); names && names->is_array())
      for (const json::value& value : names->get_array())
        if (value.is_string()) add("pass_env " + short_line(std::string_view(value.get_string()), 200));
    return need;
  }

  AgentTools& tools_;
  const bool read_only_;
  const model::ToolSpec spec_;
};

}  // namespace

std::vector<std::unique_ptr<Tool>> make_agent_tools(AgentTools& tools) {
  std::vector<std::unique_ptr<Tool>> made;
  for (AgentTools::Info& info : tools.list()) made.push_back(std::make_unique<AgentTool>(tools, std::move(info)));
  return made;
}

}  // namespace errand::builtin
