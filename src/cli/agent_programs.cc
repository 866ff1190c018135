#include "cli/agent_programs.h"

#include <array>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"

namespace errand::cli {

namespace {

struct Known {
  const char* agent;
  const char* program;
  const char* name;
  const char* install;
  const char* log_in;
  const char* variables;   // Each stands for a login. None: it may do without.
  const char* folder;      // The variable that names its folder,
  const char* below;       // what is added to that,
  const char* below_home;  // or to the home folder where it is not set;
  const char* file;        // and its file with a login there.
};

constexpr auto known = std::to_array<Known>({
    {"claude", "claude", "Claude Code", "npm install -g @anthropic-ai/claude-code",
     "Run claude and type /login, or set ANTHROPIC_API_KEY where the server runs.",
     "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX",
     "CLAUDE_CONFIG_DIR", "", "/.claude", "/.credentials.json"},
    {"codex", "codex-acp", "Codex", "npm install -g @openai/codex @agentclientprotocol/codex-acp",
     "Run codex login, or set OPENAI_API_KEY where the server runs.", "OPENAI_API_KEY CODEX_API_KEY", "CODEX_HOME", "",
     "/.codex", "/auth.json"},
    {"gemini", "gemini", "Gemini CLI", "npm install -g @google/gemini-cli",
     "Run gemini and choose a login, or set GEMINI_API_KEY where the server runs.",
     "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENAI_USE_VERTEXAI", "", "", "/.gemini", "/oauth_creds.json"},
    {"opencode", "opencode", "OpenCode", "npm install -g opencode-ai", "opencode auth login", "", "XDG_DATA_HOME",
     "/opencode", "/.local/share/opencode", "/auth.json"},
});

std::string variable(const std::string& name) {
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value ? value : "";
}

std::string login_of(const Known& program) {
  for (const std::string_view name : split(program.variables, ' '))
    if (!variable(std::string(name)).empty()) return fmt::format("{} is set here", name);
  std::string folder = variable(program.folder);
  if (!folder.empty()) {
    folder += program.below;
  } else if (folder = variable("HOME"); !folder.empty()) {
    folder += program.below_home;
  }
  const std::string file = folder + program.file;
  return !folder.empty() && ::access(file.c_str(), F_OK) == 0 ? "with a login in " + folder : std::string();
}

}  // namespace

bool on_path(std::string_view program) {
  for (const std::string_view folder : split(variable("PATH"), ':'))
    if (!folder.empty() && ::access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
  return false;
}

std::vector<AgentProgram> agent_programs() {
  std::vector<AgentProgram> programs;
  programs.reserve(known.size());
  for (const Known& one : known)
    programs.push_back({.agent = one.agent,
                        .name = one.name,
                        .install = one.install,
                        .log_in = one.log_in,
                        .on_path = on_path(one.program),
                        .login = login_of(one),
                        .needs_login = *one.variables != 0});
  return programs;
}

}  // namespace errand::cli
