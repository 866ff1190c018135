// errand setup: what is missing until an agent works, asked for or given by options: a model, the agent that `errand
// ask` uses, errand's tools in the programs of others, a service. It changes what is wanted and says what; repeated, it
// finds what is there. A key is never shown, and is kept only where the model has answered.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/home.h"
#include "base/json_out.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "cli/files.h"
#include "cli/install.h"
#include "cli/json_file.h"
#include "cli/program.h"
#include "cli/questions.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/wire.h"
#include "settings/model_table.h"

namespace errand::cli {
namespace {

constexpr size_t key_bytes_max = 4'096;

struct Tools {
  const char* program;
  const char* name;
};
constexpr Tools programs_with_tools[] = {
    {"claude", "Claude Code"}, {"codex", "Codex"}, {"gemini", "Gemini CLI"}, {"opencode", "OpenCode"}};

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

Status check_key(const std::string& key) {
  const bool plain = std::ranges::all_of(key, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (plain && key.size() <= key_bytes_max) return {};
  return fail(Code::invalid_argument, "This is no key: a key has no spaces and no special characters.", "usage");
}

// By the address where there is one, else by whose key it is.
std::string api_for(const std::string& address, const std::string& key) {
  if (!address.empty()) return {};
  return key.starts_with("sk-ant-") ? "anthropic" : "openai_responses";
}

class Setup {
 public:
  Setup(Context& context, const SetupArgs& args)
      : context_(context), screen_(context.screen), args_(args), questions_(context.screen) {}

  int run() {
    if (!context_.globals.url.empty())
      return screen_.fail({Code::invalid_argument,
                           "errand setup is for this machine; --url (ERRAND_URL) names another server.", "usage"});
    // Starts a server, and so makes the data folder.
    if (const Status found = look(); !found) return screen_.fail(found.error());
    Status done;
    if (!args_.asks()) {
      done = do_as_told();
    } else if (Terminal::possible() && !screen_.json()) {
      done = ask_all();
    }
    const Status looked = look();
    if (looked) tell();
    if (!done) return screen_.fail(done.error());
    return looked ? code(Exit::ok) : screen_.fail(looked.error());
  }

 private:
  // Which agents there are. A new client: the server may be another one since.
  Status look() {
    Client client(where_of(context_.globals));
    const Result<std::string> body = client.get("/api/agents");
    if (!body) return std::unexpected(body.error());
    Result<std::vector<AgentInfo>> agents = parse_agents(*body);
    if (!agents) return std::unexpected(agents.error());
    agents_ = std::move(*agents);
    default_ = member(*body, "default_agent");
    return {};
  }
  const AgentInfo* find(std::string_view id) const {
    const auto found = std::ranges::find(agents_, id, &AgentInfo::id);
    return found == agents_.end() ? nullptr : &*found;
  }
  // Those that work on something.
  std::vector<const AgentInfo*> workers() const {
    std::vector<const AgentInfo*> all;
    for (const AgentInfo& agent : agents_)
      if (agent.unavailable.empty() && agent.id != "command" && agent.id != "demo") all.push_back(&agent);
    return all;
  }

  // --- by options

  Status do_as_told() {
    if (args_.names_model()) {
      const Result<ModelSettings> model = told_model();
      if (!model) return std::unexpected(model.error());
      if (const Status used = use_model(*model); !used) return used;
    }
    if (!args_.agent.empty())
      if (const Status used = use_agent(args_.agent); !used) return used;
    for (const std::string& program : args_.tools_for)
      if (const Status given = give_tools(program); !given) return given;
    return args_.service ? install_service() : Status();
  }

  Result<ModelSettings> told_model() const {
    ModelSettings model{.api = args_.api, .base_url = args_.address, .key = {}, .key_env = {}, .model = args_.model};
    if (args_.key_from == "-") {
      const Result<std::string> text = read_stdin(key_bytes_max + 2);
      if (!text) return std::unexpected(text.error());
      model.key = trim(*text);
      if (model.key.empty()) return fail(Code::invalid_argument, "Standard input has no key.", "usage");
    } else if (!args_.key_from.empty()) {
      model.key = trim(variable(args_.key_from));
      if (model.key.empty())
        return fail(Code::invalid_argument,
                    fmt::format("The variable {} is not set here, so there is no key in it.", args_.key_from), "usage");
    }
    if (const Status good = check_key(model.key); !good) return std::unexpected(good.error());
    if (model.base_url.empty() && model.key.empty())
      return fail(Code::invalid_argument, "A model needs --address, --key-from, or both.", "usage");
    if (model.api.empty()) model.api = api_for(model.base_url, model.key);
    return model;
  }

  // --- by asking

  Status ask_all() {
    if (const Status asked = ask_model(); !asked) return asked;
    if (const Status asked = ask_agent(); !asked) return asked;
    if (const Status asked = ask_tools(); !asked) return asked;
    return ask_service();
  }

  Status ask_model() {
    const AgentInfo* const own = find("builtin");
    const bool there = own && own->unavailable.empty();
    screen_.out(there ? fmt::format("errand's own agent has a model: {}\n", own->model.empty() ? "yes" : own->model)
                      : "errand's own agent needs a model. Without one, errand runs commands, and the\n"
                        "agents that you have installed.\n");
    for (;;) {
      const std::vector<std::string> variables = keys_here();
      std::string menu =
          "  1  a key of Anthropic\n  2  a key of OpenAI\n"
          "  3  an address: Ollama, llama.cpp, vLLM, OpenRouter, a gateway\n";
      for (size_t i = 0; i < variables.size(); ++i)
        menu += fmt::format("  {}  the key in {} of this terminal\n", i + 4, variables[i]);
      screen_.out(menu);
      const size_t options = 3 + variables.size();
      const Result<size_t> chosen = questions_.choose("Which? (Enter: leave it as it is) ", options, options);
      if (!chosen) return std::unexpected(chosen.error());
      if (*chosen == options) return {};
      const Result<ModelSettings> model = asked_model(*chosen, variables);
      if (!model) return std::unexpected(model.error());
      if (model->base_url.empty() && model->key.empty()) continue;
      const Status used = use_model(*model);
      if (used) return {};
      screen_.out(fmt::format("\n{}\nNothing was changed. Try again:\n", used.error().message));
    }
  }

  // Variables of this terminal that have a key; the server may not have got them.
  static std::vector<std::string> keys_here() {
    std::vector<std::string> names;
    for (const char* name : {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"})
      if (!variable(name).empty()) names.emplace_back(name);
    return names;
  }

  Result<ModelSettings> asked_model(size_t chosen, const std::vector<std::string>& variables) const {
    ModelSettings model;
    if (chosen == 2) {
      const Result<std::string> address = questions_.line("Its address, such as http://127.0.0.1:11434/v1: ");
      if (!address) return std::unexpected(address.error());
      model.base_url = *address;
      if (model.base_url.empty()) return model;
    }
    if (chosen < 3) {
      const Result<std::string> key =
          questions_.secret(chosen == 2 ? "Its key (hidden; Enter: it needs none): " : "The key (hidden): ");
      if (!key) return std::unexpected(key.error());
      model.key = *key;
    } else {
      model.key = trim(variable(variables[chosen - 3]));
      model.base_url = variable(variables[chosen - 3] == "OPENAI_API_KEY" ? "OPENAI_BASE_URL" : "ANTHROPIC_BASE_URL");
    }
    if (chosen == 0 || (chosen > 2 && variables[chosen - 3] == "ANTHROPIC_API_KEY")) model.api = "anthropic";
    if (chosen == 1) model.api = "openai_responses";
    if (chosen > 2 && model.api.empty()) model.api = api_for(model.base_url, model.key);
    if (const Status good = check_key(model.key); !good) {
      screen_.out(good.error().message + "\n");
      return ModelSettings();
    }
    if (chosen == 2) {
      const Result<std::string> name = questions_.line("The model's name (Enter: the first that it has): ");
      if (!name) return std::unexpected(name.error());
      model.model = *name;
    }
    return model;
  }

  Status ask_agent() {
    if (const Status found = look(); !found) return found;
    const std::vector<const AgentInfo*> all = workers();
    // Several agents of one driver are variants: nobody has to choose among what came with errand.
    const bool one_kind =
        std::ranges::all_of(all, [&](const AgentInfo* agent) { return agent->driver == all[0]->driver; });
    if (one_kind) return {};
    screen_.out("\nAgents that can be used:\n");
    size_t usual = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i]->id == default_) usual = i;
      screen_.out(fmt::format("  {}  {}{}\n", i + 1, all[i]->name, all[i]->id == default_ ? " (now)" : ""));
    }
    const Result<size_t> chosen = questions_.choose(
        fmt::format("Which one does `errand ask` use? (Enter: {}) ", all[usual]->name), all.size(), usual);
    if (!chosen) return std::unexpected(chosen.error());
    return all[*chosen]->id == default_ ? Status() : use_agent(all[*chosen]->name);
  }

  Status ask_tools() {
    for (const Tools& one : programs_with_tools) {
      if (!on_path(one.program)) continue;
      const Result<bool> wanted =
          questions_.yes(fmt::format("\nGive {} errand's tools, so that it can start tasks?", one.name), true);
      if (!wanted) return std::unexpected(wanted.error());
      if (*wanted)
        if (const Status given = give_tools(one.program); !given) return given;
    }
    return {};
  }

  Status ask_service() {
    if (!has_systemd()) return {};
    const Result<bool> wanted =
        questions_.yes("\nInstall errand (~/.local/bin), with a server that starts at your login?", false);
    if (!wanted) return std::unexpected(wanted.error());
    return *wanted ? install_service() : Status();
  }

  // --- what is done

  Status use_model(const ModelSettings& model) {
    screen_.say("asking the model, to see whether it answers.");
    const Result<ModelTrial> tried = context_.programs.try_model(model);
    if (!tried) return std::unexpected(tried.error());
    screen_.say(fmt::format("{} at {} answered in {}.", tried->model, tried->base_url, format_duration(tried->ms)));
    const std::string path = settings_file();
    const Result<std::string> before = read_user_file(path);
    if (!before) return std::unexpected(before.error());
    const Result<std::string> after = with_model_table(*before, model);
    if (!after) return std::unexpected(after.error());
    if (*after != *before) {
      // Nobody else reads it: there may be a key in it.
      if (const int wrong = replace_file(path, *after, 0600, Durability::power))
        return fail(Code::internal, fmt::format("Cannot write {}: {}.", path, std::strerror(wrong)));
      changed_.push_back(fmt::format("{}: [model]{}", to_home(path), model.key.empty() ? "" : ", with the key"));
      if (const std::string kept = kept_of_model(*after); !kept.empty())
        screen_.say(fmt::format("{} of [model] stayed as before: check whether they fit this model.", kept));
    }
    // A server reads its models when it starts.
    if (restart(context_, {}) != code(Exit::ok))
      return fail(Code::unavailable, "The server could not be started again: errand doctor says why.", "unreachable");
    return look();
  }

  // Where the server that runs reads its settings: it may have been started with --config.
  std::string settings_file() const {
    const Result<Target> server = find_server(where_of(context_.globals), Start::never);
    return server && !server->config.empty() ? server->config : context_.globals.data_dir + "/errand.toml";
  }

  Status use_agent(const std::string& name) {
    if (name != "auto") {
      const auto known =
          std::ranges::find_if(agents_, [&](const AgentInfo& agent) { return agent.id == name || agent.name == name; });
      if (known == agents_.end() || known->id == "command")
        return fail(Code::not_found, fmt::format("No agent has the name \"{}\": errand agents lists them.", name),
                    "unknown_agent");
      if (!known->unavailable.empty())
        return fail(Code::conflict, fmt::format("{} cannot be used: {}", name, known->unavailable), "unavailable");
    }
    std::string change;
    JsonOut(change).object().field("default_agent", name).end();
    Client client(where_of(context_.globals));
    const Result<std::string> body = client.call("PATCH", "/api/settings", change);
    if (!body) return std::unexpected(body.error());
    changed_.push_back(fmt::format("the setting default_agent: {}", name));
    return {};
  }

  Status give_tools(const std::string& program) {
    const int done = program == "opencode"
                         ? opencode(context_, {.install = true, .wake = false, .family = {}})
                         : agent_install(context_, {.program = program, .install = true, .wake = false});
    if (done != code(Exit::ok))
      return fail(Code::conflict, fmt::format("{} did not get errand's tools.", program), "tools");
    return {};
  }

  Status install_service() {
    if (install(context_, {}) != code(Exit::ok))
      return fail(Code::unavailable, "The service was not installed.", "service");
    return {};
  }

  // --- what is there now

  void tell() const {
    const AgentInfo* const own = find("builtin");
    if (screen_.json()) {
      std::string text;
      JsonOut out(text);
      out.object().key("changed").array();
      for (const std::string& change : changed_) out.value(change);
      out.end().text_or_null("model", own && own->unavailable.empty() ? own->model : "");
      out.field("model_ready", own && own->unavailable.empty()).text_or_null("default_agent", default_);
      out.key("agents").array();
      for (const AgentInfo* agent : workers()) out.value(agent->name);
      out.end().end();
      return screen_.out_line(text);
    }
    std::string text = "\n";
    for (const std::string& change : changed_) text += fmt::format("changed  {}\n", change);
    text += fmt::format("model    {}\n", own && own->unavailable.empty()
                                             ? (own->model.empty() ? "the first that its server has" : own->model)
                                             : "none: errand setup --key-from NAME, or --address URL");
    std::string names;
    for (const AgentInfo* agent : workers()) names += (names.empty() ? "" : ", ") + agent->name;
    text += fmt::format("agents   {}\n", names.empty() ? "none but the demonstration" : names);
    const AgentInfo* const usual = find(default_);
    if (usual) text += fmt::format("asks     {} (errand setup --agent NAME chooses another)\n", usual->name);
    text += usual ? "\nIn a project: errand ask --follow \"what to do\"\n"
                  : "\nTo see a demonstration: errand ask --agent demo --follow tools\n";
    screen_.out(text);
  }

  Context& context_;
  const Screen& screen_;
  const SetupArgs& args_;
  const Questions questions_;
  std::vector<AgentInfo> agents_;
  std::string default_;
  std::vector<std::string> changed_;
};

}  // namespace

int setup(Context& context, const SetupArgs& args) { return Setup(context, args).run(); }

}  // namespace errand::cli
