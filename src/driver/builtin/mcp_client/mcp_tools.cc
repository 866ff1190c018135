#include "driver/builtin/mcp_client/mcp_tools.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "base/version.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/run/spawn.h"
#include "driver/run_name.h"
#include "files/copy.h"
#include "model/model.h"
#include "task/notice.h"

namespace errand::builtin::mcp {
namespace {

constexpr size_t subject_characters = 1'000;

class McpRun final : public ToolRun {
 public:
  McpRun(Client& client, std::weak_ptr<const bool> here) : client_(client), servers_here_(std::move(here)) {}
  ~McpRun() override {
    if (number != 0 && !over && !servers_here_.expired()) client_.leave(number);
  }
  bool stop() override {
    if (number != 0 && !over && !servers_here_.expired()) client_.give_up(number);
    over = true;
    return false;
  }
  int64_t number = 0;
  bool over = false;

 private:
  Client& client_;
  std::weak_ptr<const bool> servers_here_;
};

class McpTool final : public Tool {
 public:
  McpTool(Client& client, ListedTool listed, std::weak_ptr<const bool> here)
      : client_(client),
        server_(client.name()),
        tool_(std::move(listed.name)),
        here_(std::move(here)),
        spec_{.name = tool_name(client.name(), tool_),
              .description = std::move(listed.description),
              .input_schema = std::move(listed.input_schema)} {
    if (spec_.description.empty()) spec_.description = fmt::format("{} of the MCP server {}.", tool_, client.name());
  }

  const model::ToolSpec& spec() const override { return spec_; }
  // What a server says of its own tools binds nobody.
  bool read_only() const override { return false; }
  std::string summary(std::string_view input) const override { return short_line(input); }
  Result<Prepared> prepare(const ToolContext&, std::string input) const override {
    const Result<Document> document = Document::parse_or_empty(std::string_view(input).substr(0, input_bytes_max));
    if (!document) return fail(Code::invalid_argument, "The arguments are not valid JSON: " + document.error().message);
    if (input.size() > input_bytes_max) return fail(Code::too_large, "The arguments are not a JSON object.");
    if (trim(input).empty()) input = "{}";
    Prepared call;
    call.need.subject = short_line(input, subject_characters);
    call.need.text = fmt::format("Call {} of the MCP server {} with {}", tool_, server_, call.need.subject);
    call.run = [this, input = std::move(input)](const ToolContext&, Done done) mutable {
      return run(std::move(input), std::move(done));
    };
    return call;
  }

 private:
  std::unique_ptr<ToolRun> run(std::string input, Done done) const {
    auto run = std::make_unique<McpRun>(client_, here_);
    run->number = client_.call(tool_, std::move(input),
                               [raw = run.get(), done = std::move(done)](Result<CallResult> result) mutable {
                                 raw->over = true;
                                 if (!result)
                                   return done({.output = result.error().message,
                                                .is_error = true,
                                                .interrupted = result.error().code == Code::unavailable});
                                 if (result->text.empty()) result->text = "(it gave nothing)";
                                 done({.output = bounded(result->text, tool_output_max, "Ask for less at once."),
                                       .is_error = result->is_error});
                               });
    return run;
  }

  Client& client_;  // Of the engine's thread; there while the turn's tools are.
  const std::string server_;
  const std::string tool_;
  const std::weak_ptr<const bool> here_;  // Gone with the servers: a call may outlive them, and so may the tool.
  model::ToolSpec spec_;
};

bool is_server_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

}  // namespace

std::string tool_name(std::string_view server, std::string_view tool) {
  std::string name = fmt::format("mcp__{}__{}", server, tool);
  const std::string hash = files::sha256(name).substr(0, 8);
  bool changed = false;
  for (char& c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (good) continue;
    c = '_';
    changed = true;
  }
  if (name.size() <= tool_name_max && !changed) return name;
  name.resize(std::min(name.size(), tool_name_max - 9));
  return name + "_" + hash;
}

Servers::Servers(const ToolSettings& settings, const ToolSetParts& parts, std::shared_ptr<const Task> task)
    : settings_(settings), parts_(parts), task_(std::move(task)) {}

Servers::~Servers() = default;

void Servers::drop() {
  for (const auto& [name, client] : clients_) client->drop();
}

Result<Client::Make> Servers::transport_for(const std::string& name, const McpServer& server) {
  if (!is_server_name(name))
    return fail(Code::invalid_argument, "Its name must have letters, digits, \"-\" and \"_\" alone, at most 32.");
  if (server.command.empty() == server.url.empty())
    return fail(Code::invalid_argument, "Its settings must have either a `command` or a `url`.");
  if (!server.url.empty()) {
    if (!parts_.http) return fail(Code::unsupported, "This server cannot make HTTP requests.");
    http::Headers headers(server.headers.begin(), server.headers.end());
    for (const auto& [header, variable] : server.headers_env) {
      const std::string value = run::server_variable(settings_.command, variable);
      if (value.empty())
        return fail(
            Code::invalid_argument,
            fmt::format("The variable {} for its header {} is not set where the server runs.", variable, header));
      headers.emplace_back(header, value);
    }
    return [this, url = server.url, headers = std::move(headers), timeout = server.timeout_ms] {
      return make_http_transport(*parts_.http, parts_.engine, url, headers, timeout);
    };
  }
  return [this, server] {
    // As what the task itself runs: in its folder and its sandbox, within its limits.
    const auto own = std::make_shared<Task>(*task_);
    Task& task = *own;
    for (const auto& [variable, value] : server.env) task.launch.env.insert_or_assign(variable, value);
    task.launch.pass_env.insert(task.launch.pass_env.end(), server.pass_env.begin(), server.pass_env.end());
    const std::string run = run_name({task.id, task.run, "mcp", fmt::format("{:016x}", parts_.random.next())});
    run::Spawn spawn = run::plan_spawn(settings_.command, task, run, server.command);
    spawn.request.output_limit = 0;
    auto open = settings_.command.open_journal;
    if (!open)
      open = [folder = settings_.command.data_dir](const std::string& of) {
        return process::Journal::open(process::run_folder(folder, of));
      };
    return make_stdio_transport(
        {parts_.supervisor, parts_.timers, parts_.background, parts_.engine, std::move(open)}, std::move(spawn.request),
        [options = settings_.command, can = parts_.supervisor.abilities(), task = std::shared_ptr<const Task>(own),
         words = server.command] { return run::sandboxed(options, can, *task, words); });
  };
}

void Servers::begin(std::move_only_function<void(std::vector<std::string>)> ready) {
  ready_ = std::move(ready);
  beginning_ = 1;
  for (const auto& [name, server] : settings_.mcp) {
    if (clients_.size() >= servers_max) {
      warnings_.push_back(fmt::format("Only the first {} MCP servers are started.", servers_max));
      break;
    }
    Result<Client::Make> make = transport_for(name, server);
    if (!make) {
      warnings_.push_back(fmt::format("The MCP server {} cannot be used: {}", name, make.error().message));
      continue;
    }
    ++beginning_;
    auto& client = clients_[name] = std::make_unique<Client>(name, std::move(*make), parts_.timers, parts_.engine,
                                                             server.timeout_ms, std::string(errand::version));
    client->begin([this, of = name](Result<ServerTools> tools) { begun(of, std::move(tools)); });
  }
  parts_.engine.post([this, here = std::weak_ptr(here_)] {
    if (!here.expired()) one_less();
  });
}

void Servers::begun(const std::string& name, Result<ServerTools> tools) {
  if (!tools) {
    warnings_.push_back(tools.error().message);
    return one_less();
  }
  Client& client = *clients_.at(name);
  for (ListedTool& listed : tools->tools) {
    auto tool = std::make_shared<const McpTool>(client, std::move(listed), here_);
    const bool known =
        std::ranges::any_of(tools_, [&](const auto& other) { return other->spec().name == tool->spec().name; });
    if (!known) tools_.push_back(std::move(tool));
  }
  if (!tools->left_out.empty())
    warnings_.push_back(fmt::format("The MCP server {}: {} of its tools cannot be used ({}).", name,
                                    tools->left_out.size(), fmt::join(tools->left_out | std::views::take(5), ", ")));
  one_less();
}

void Servers::one_less() {
  if (--beginning_ > 0) return;
  std::ranges::sort(tools_, {}, [](const auto& tool) { return tool->spec().name; });
  if (auto ready = std::exchange(ready_, nullptr)) ready(std::move(warnings_));
}

void Servers::close(std::move_only_function<void()> gone) {
  const auto left = std::make_shared<size_t>(clients_.size() + 1);
  const auto all = std::make_shared<std::move_only_function<void()>>(std::move(gone));
  const auto one = [left, all] {
    if (--*left == 0) (*all)();
  };
  for (const auto& [name, client] : clients_) client->close(one);
  parts_.engine.post([here = std::weak_ptr(here_), one] {
    if (!here.expired()) one();
  });
}

}  // namespace errand::builtin::mcp
