#include "programs/known.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text.h"

namespace errand::programs {
namespace {

namespace fs = std::filesystem;

constexpr const char* claude_variables =
    "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX";
constexpr const char* claude_log_in = "Run claude and type /login, or set ANTHROPIC_API_KEY where the server runs.";

// In the order in which people are shown them.
constexpr auto table = std::to_array<Known>({
    {.agent = "claude",
     .driver = "claude",
     .program = "claude",
     .name = "Claude Code",
     .description = "Claude Code, as you have it set up.",
     .install = "npm install -g @anthropic-ai/claude-code",
     .log_in = claude_log_in,
     .login = "claude /login",
     .variables = claude_variables,
     .folder = "CLAUDE_CONFIG_DIR",
     .below = "",
     .below_home = "/.claude",
     .file = "/.credentials.json"},
    {.agent = "gemini",
     .driver = "acp",
     .program = "gemini",
     .name = "Gemini CLI",
     .description = "Gemini CLI, as you have it set up.",
     .install = "npm install -g @google/gemini-cli",
     .log_in = "Run gemini and choose a login, or set GEMINI_API_KEY where the server runs.",
     .login = "gemini",
     .variables = "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENAI_USE_VERTEXAI",
     .folder = "",
     .below = "",
     .below_home = "/.gemini",
     .file = "/oauth_creds.json",
     .words = "--acp"},
    {.agent = "codex",
     .driver = "acp",
     .program = "codex-acp",
     .name = "Codex",
     .description = "Codex, through its adapter codex-acp, as you have it set up.",
     .install = "npm install -g @agentclientprotocol/codex-acp @openai/codex",
     .log_in = "Run codex login, or set OPENAI_API_KEY where the server runs.",
     .login = "codex login",
     .variables = "OPENAI_API_KEY CODEX_API_KEY",
     .folder = "CODEX_HOME",
     .below = "",
     .below_home = "/.codex",
     .file = "/auth.json",
     .mode = "workspace-write",
     .beside = "codex"},
    {.agent = "opencode",
     .driver = "opencode",
     .program = "opencode",
     .name = "OpenCode",
     .description = "OpenCode, as you have it set up.",
     .install = "npm install -g opencode-ai",
     .log_in = "opencode auth login",
     .login = "opencode auth login",
     .variables = "",
     .folder = "XDG_DATA_HOME",
     .below = "/opencode",
     .below_home = "/.local/share/opencode",
     .file = "/auth.json"},
    {.agent = "acp:claude",
     .driver = "acp",
     .program = "claude-agent-acp",
     .name = "Claude Code over ACP",
     .description = "Claude Code, through its adapter claude-agent-acp.",
     .install = "npm install -g @agentclientprotocol/claude-agent-acp",
     .log_in = claude_log_in,
     .login = "claude /login",
     .variables = claude_variables,
     .folder = "CLAUDE_CONFIG_DIR",
     .below = "",
     .below_home = "/.claude",
     .file = "/.credentials.json"},
    {.agent = "acp:opencode",
     .driver = "acp",
     .program = "opencode",
     .name = "OpenCode over ACP",
     .description = "OpenCode, with a process of its own for each turn.",
     .install = "npm install -g opencode-ai",
     .log_in = "opencode auth login",
     .login = "opencode auth login",
     .variables = "",
     .folder = "XDG_DATA_HOME",
     .below = "/opencode",
     .below_home = "/.local/share/opencode",
     .file = "/auth.json",
     .words = "acp"},
});

constexpr int64_t package_max = 1 << 20;  // Bytes of a package.json.
constexpr int levels_max = 4;             // Of folders above a program's file that may be its package's.

// "2.1.325", "0.9.0-beta.1": digits and dots first, at least two of the numbers.
bool is_version(std::string_view text) {
  if (text.empty() || text.size() > 40 || !std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  const size_t plain = std::min(text.find_first_not_of("0123456789."), text.size());
  if (text.substr(0, plain).find('.') == std::string_view::npos) return false;
  if (plain < text.size() && text[plain] != '-' && text[plain] != '+') return false;
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '+'; });
}

std::string version_in_package(const fs::path& file) {
  std::error_code error;
  const uintmax_t size = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  if (error || size == 0 || size > package_max) return {};
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  boost::system::error_code wrong;
  const boost::json::value value = boost::json::parse(text, wrong);
  const boost::json::object* object = wrong ? nullptr : value.if_object();
  const boost::json::value* version = object ? object->if_contains("version") : nullptr;
  if (version == nullptr || !version->is_string() || !is_version(version->get_string())) return {};
  return std::string(version->get_string());
}

}  // namespace

std::span<const Known> all() { return table; }

const Known* find(std::string_view agent) {
  const auto found = std::ranges::find_if(table, [&](const Known& known) { return known.agent == agent; });
  return found == table.end() ? nullptr : &*found;
}

std::string login_of(const Known& known, const Variables& variables) {
  for (const std::string_view name : split(known.variables, ' '))
    if (!name.empty() && !variables(std::string(name)).empty()) return fmt::format("{} is set", name);
  std::string folder = *known.folder != 0 ? variables(known.folder) : std::string();
  if (!folder.empty()) {
    folder += known.below;
  } else if (folder = variables("HOME"); !folder.empty()) {
    folder += known.below_home;
  }
  if (folder.empty() || ::access((folder + known.file).c_str(), F_OK) != 0) return {};
  return "with a login in " + folder;
}

std::string version_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return {};
  // A package of npm's. Elsewhere a package.json above it may be anybody's.
  const bool packaged = std::ranges::find(real, fs::path("node_modules")) != real.end();
  fs::path folder = real.parent_path();
  for (int level = 0; packaged && level < levels_max; ++level, folder = folder.parent_path()) {
    if (folder.filename() == "node_modules") break;
    if (std::string version = version_in_package(folder / "package.json"); !version.empty()) return version;
  }
  // Some installers call a folder, or the file itself, after the version: ~/.local/share/claude/versions/2.1.325.
  std::string version;
  for (const fs::path& part : real)
    if (is_version(part.string())) version = part.string();
  return version;
}

}  // namespace errand::programs
