#include "cli/set_up_verbs.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "settings/table.h"
#include "task/tool_families.h"

namespace errand::cli {
namespace {

// A setting's help without the marks of the documentation, and what it is where nobody says.
std::string flag_help(const Setting& setting) {
  std::string help =
      fmt::format("{} (default {})", setting.help.substr(0, setting.help.size() - 1), default_text(setting));
  std::erase(help, '`');
  return help;
}

void add_flag(CLI::App& app, const Setting& setting, std::vector<std::pair<std::string, std::string>>& flags) {
  const std::string flag(setting.flag);
  const auto take = [&flags, &setting](const std::string& text) { flags.emplace_back(setting.wire, text); };
  if (std::holds_alternative<At<bool>>(setting.field)) {
    app.add_flag_callback(flag, [take] { take("true"); }, flag_help(setting));
    return;
  }
  CLI::Option* option = nullptr;
  if (std::holds_alternative<At<std::vector<std::string>>>(setting.field)) {
    option = app.add_option_function<std::vector<std::string>>(
                    flag, [take](const std::vector<std::string>& texts) { std::ranges::for_each(texts, take); },
                    flag_help(setting))
                 ->allow_extra_args(false);
  } else {
    option = app.add_option_function<std::string>(flag, take, flag_help(setting));
  }
  option->type_name(std::string(setting.flag_value));
  if (setting.least < setting.most) option->check(CLI::Range(setting.least, setting.most));
  if (!setting.choices.empty())
    option->check(CLI::IsMember(std::vector<std::string>(setting.choices.begin(), setting.choices.end())));
}

}  // namespace

Made agents_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AgentsArgs>();
  auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("action", *words,
                 "show NAME, models NAME, add JSON, edit NAME JSON or remove NAME; \"-\" reads the JSON from standard "
                 "input")
      ->type_name("")
      ->expected(0, CLI::detail::expected_max_vector_size);
  app.callback([args, words] {
    if (words->empty()) return;
    const std::string& action = words->front();
    const size_t given = words->size() - 1;
    if (action == "show" && given == 1) {
      args->action = AgentsAction::show;
      args->name = words->at(1);
    } else if (action == "models" && given == 1) {
      args->action = AgentsAction::models;
      args->name = words->at(1);
    } else if (action == "add" && given == 1) {
      args->action = AgentsAction::add;
      args->setup = words->at(1);
    } else if (action == "edit" && given == 2) {
      args->action = AgentsAction::edit;
      args->name = words->at(1);
      args->setup = words->at(2);
    } else if (action == "remove" && given == 1) {
      args->action = AgentsAction::remove;
      args->name = words->at(1);
    } else {
      throw CLI::ValidationError("action", "must be: show NAME, models NAME, add JSON, edit NAME JSON, or remove NAME");
    }
  });
  return [args] { return *args; };
}

Made settings_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<SettingsArgs>();
  app.add_option("change", args->changes, "Settings to change (default: show all)")->type_name("NAME=VALUE");
  return [args] { return *args; };
}

Made open_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<OpenArgs>();
  app.add_option("id", args->id, "Open the page of this task");
  app.add_flag("--print", args->print, "Print the link instead of opening a browser; it works once, within a minute");
  return [args] { return *args; };
}

Made phone_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<PhoneArgs>();
  app.add_option("--scope", args->scopes,
                 "What the phone may do (commas between): read, tasks (agents' tasks), exec (commands), approve "
                 "(permissions); default: read,tasks,approve")
      ->type_name("SCOPES");
  app.add_option("--address", args->address,
                 "Where the phone reaches the page, such as https://errand.example (default: notify.page_url)")
      ->type_name("URL");
  return [args] { return *args; };
}

Made device_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<DeviceArgs>();
  auto revoking = std::make_shared<bool>(false);
  app.add_option_function<std::string>(
         "action", [revoking](const std::string& word) { *revoking = word == "revoke"; },
         "list (the default) or revoke")
      ->check(CLI::IsMember({"list", "revoke"}))
      ->type_name("");
  app.add_option("id", args->revoke, "revoke: the device's id");
  app.callback([args, revoking] {
    if (*revoking == args->revoke.empty())
      throw CLI::ValidationError("id", *revoking ? "is missing: errand device list shows the ids"
                                                 : "goes with revoke: errand device revoke " + args->revoke);
  });
  return [args] { return *args; };
}

Made opencode_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<OpencodeArgs>();
  app.add_option_function<std::string>(
         "action", [args](const std::string& word) { args->install = word == "install"; },
         "install: give OpenCode errand's tools, or update them; uninstall: remove them")
      ->required()
      ->check(CLI::IsMember({"install", "uninstall"}))
      ->type_name("");
  app.add_flag("--wake", args->wake,
               "Let the session's agent react when a task ends, without waiting for your next message");
  app.add_option("--family", args->family, "Which names the tools have (default: the setting tools.family)")
      ->type_name(fmt::format("{}", fmt::join(tool_families, "|")))
      ->check(CLI::IsMember(std::vector<std::string>(tool_families.begin(), tool_families.end())));
  return [args] { return *args; };
}

// Which program is the verb's own name.
Made agent_install_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AgentInstallArgs>();
  args->program = app.get_name();
  app.add_option_function<std::string>(
         "action", [args](const std::string& word) { args->install = word == "install"; },
         "install: add errand to its settings, or update that; uninstall: take it back")
      ->required()
      ->check(CLI::IsMember({"install", "uninstall"}))
      ->type_name("");
  if (args->program == "claude")
    app.add_flag("--wake", args->wake,
                 "Let Claude go on with what has ended when it would stop, without waiting for your next message");
  return [args] { return *args; };
}

Made hook_setup(CLI::App& app, Globals&) {
  app.add_option("program", "Whose hook it is: claude")->required()->check(CLI::IsMember({"claude"}))->type_name("");
  return [] { return HookArgs{}; };
}

Made completion_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<CompletionArgs>();
  app.add_option("shell", args->shell, "The shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
  return [args] { return *args; };
}

Made setup_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<SetupArgs>();
  app.add_option("--address", args->address, "Use the model server at this address, such as http://127.0.0.1:11434/v1")
      ->type_name("URL");
  app.add_option("--key-from", args->key_from,
                 "Use the model's key that is in this variable; \"-\" reads the key from standard input")
      ->type_name("NAME|-");
  app.add_option("--api", args->api, "Which API the model speaks (default: by its address or key)")
      ->type_name("anthropic|openai_chat|openai_responses")
      ->check(CLI::IsMember({"anthropic", "openai_chat", "openai_responses"}));
  app.add_option("-m,--model", args->model,
                 "The model to ask (default: the provider's usual one, or the first it has)");
  app.add_option("-a,--agent", args->agent, "The agent that errand ask uses; \"auto\": the first that can be used");
  app.add_option("--tools-for", args->tools_for, "Give this program errand's tools; repeatable")
      ->type_name("claude|codex|gemini|opencode")
      ->check(CLI::IsMember({"claude", "codex", "gemini", "opencode"}))
      ->allow_extra_args(false);
  app.add_flag("--service", args->service, "Install errand for you, with a server that starts when you log in");
  return [args] { return *args; };
}

Made install_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<InstallArgs>();
  app.add_flag_callback(
      "--no-service", [args] { args->service = false; },
      "No unit for systemd: the first verb that needs a server starts it");
  app.add_flag("--linger", args->linger, "Keep the server running when you are not logged in (loginctl enable-linger)");
  return [args] { return *args; };
}

Made upgrade_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<UpgradeArgs>();
  app.add_option("file", args->file, "The newer errand")->type_name("FILE");
  app.add_flag("--undo", args->undo, "Go back to the program before the last upgrade");
  app.callback([args] {
    if (args->file.empty() == !args->undo)
      throw CLI::ValidationError("file", "is needed: errand upgrade FILE, or errand upgrade --undo");
  });
  return [args] { return *args; };
}

Made serve_setup(CLI::App& app, Globals& globals) {
  auto args = std::make_shared<ServeArgs>();
  for (const Setting& setting : all_settings())
    if (!setting.flag.empty()) add_flag(app, setting, args->sources.flags);
  app.add_option("--config", args->sources.config, "The settings file (default: errand.toml in the data folder)")
      ->type_name("FILE");
  return [args, &globals] {
    args->sources.data_dir = globals.data_dir;
    args->json = globals.screen.json;
    return *args;
  };
}

Made supervisor_setup(CLI::App&, Globals& globals) {
  return [&globals] { return SupervisorArgs{globals.data_dir}; };
}

}  // namespace errand::cli
