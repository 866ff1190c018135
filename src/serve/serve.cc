#include "serve/serve.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/log.h"
#include "changes/orders.h"
#include "process/supervisor.h"
#include "serve/application.h"
#include "serve/data_dir.h"
#include "serve/environment.h"
#include "serve/hardening.h"
#include "serve/stop_signals.h"
#include "tools/toolbox.h"

namespace errand::serve {
namespace {

int failed(const Error& error, bool json) {
  std::string text = fmt::format("errand: {}", error.message);
  if (json) {
    text.clear();
    JsonOut out(text);
    out.object().key("error").object().field("code", error.reason.empty() ? name(error.code) : error.reason);
    out.field("message", error.message).field("exit_code", 1).end().end();
  }
  fmt::print(stderr, "{}\n", text);
  return 1;
}

void use_log_level(const std::string& level) {
  if (level == "debug") set_log_level(LogLevel::debug);
  if (level == "warning") set_log_level(LogLevel::warning);
  if (level == "error") set_log_level(LogLevel::error);
}

}  // namespace

int run_server(const SettingsSources& sources, bool json) {
  harden_process();
  bound_heap();
  const Environment& environment = Environment::get();
  // Before anything of it is read: settings that somebody else put there are not ours.
  if (Status made = make_data_dir(sources.data_dir); !made) return failed(made.error(), json);
  Result<Settings> settings = read_settings(sources, environment.map());
  if (!settings) return failed(settings.error(), json);
  use_log_level(settings->log_level);
  auto* const signals = new StopSignals(sources.data_dir);  // Never destroyed: its thread outlives what is built here.
  std::error_code ignored;
  const std::filesystem::path config =
      std::filesystem::absolute(sources.config.value_or(sources.data_dir + "/errand.toml"), ignored);
  Application application(sources.data_dir, config.lexically_normal(), std::move(*settings), json);
  signals->pass_to([&application] { application.stop(); });
  int code = 0;
  if (Status opened = application.open(); !opened) {
    code = failed(opened.error(), json);
  } else {
    signals->owns_folder = true;
    code = application.run();
  }
  signals->forget();
  return code;
}

int run_supervisor(const std::string& data_dir) {
  harden_process();
  return process::run_supervisor({.data_dir = data_dir});
}

int run_changes_order(const std::string& order) { return changes::run_order(order); }

std::string tools_json(std::string_view family) {
  std::string text;
  JsonOut out(text);
  out.array();
  for (const tools::ToolInfo& tool : tools::tool_infos(family)) {
    out.object().field("name", tool.name).field("description", tool.description);
    out.key("input_schema").raw(tool.input_schema);
    out.key("annotations").object().field("read_only", tool.annotations.read_only).end().end();
  }
  out.end();
  return text;
}

}  // namespace errand::serve
