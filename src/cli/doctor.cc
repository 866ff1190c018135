// errand doctor: what is and what is not as it should be, and what to do about it. Starts nothing.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/files.h"
#include "cli/opencode.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

enum class State : uint8_t { ok, warning, wrong };

struct Check {
  std::string name;
  State state = State::ok;
  std::string text;
  std::string fix;  // What to do; empty where all is well.
};

using Checks = std::vector<Check>;

constexpr uint64_t mebibyte = 1 << 20;

std::string_view name(State state) { return state == State::ok ? "ok" : state == State::warning ? "warning" : "wrong"; }

// A folder or file that nobody else may read.
Check check_private(const std::string& what, const std::string& path, mode_t wanted) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) return {what, State::ok, path + " is not there yet; it is made when a server starts", ""};
    return {what, State::wrong, fmt::format("{} cannot be looked at: {}", path, std::strerror(errno)),
            "See who owns it."};
  }
  mode_t mode = about.st_mode & 07777;
  if (about.st_uid != ::getuid())
    return {what, State::wrong, fmt::format("{} belongs to another user ({})", path, about.st_uid),
            "Take another with --data-dir, or give it to yourself with chown."};
  if (mode & 077)
    return {what, State::wrong, fmt::format("{} is open to others (mode {:o})", path, mode),
            fmt::format("chmod {:o} {}", wanted, path)};
  return {what, State::ok, fmt::format("{} (mode {:o})", path, mode), ""};
}

Check check_filesystem(const std::string& data_dir) {
  struct statfs about = {};
  if (::statfs(data_dir.c_str(), &about) != 0) return {"file system", State::ok, "not known yet", ""};
  // NFS, SMB, CIFS, 9p: their locks and their syncing do not hold what a database needs.
  switch (static_cast<uint32_t>(about.f_type)) {
    case 0x6969:
    case 0x517B:
    case 0xFE534D42:
    case 0xFF534D42:
    case 0x01021997:
      return {"file system", State::wrong, "the data folder is on a network file system",
              "Put it on a local disk with --data-dir or ERRAND_DATA_DIR."};
    default:
      return {"file system", State::ok, "local", ""};
  }
}

Check check_disk(const std::string& data_dir) {
  std::string folder = data_dir;
  struct statvfs about = {};
  while (::statvfs(folder.c_str(), &about) != 0) {
    std::string parent = std::filesystem::path(folder).parent_path().string();
    if (parent.empty() || parent == folder)
      return {"disk", State::warning, "cannot be looked at", "See whether the data folder can be reached."};
    folder = parent;
  }
  uint64_t free = about.f_bavail * about.f_frsize / mebibyte;
  if (free < 100)
    return {"disk", State::wrong, fmt::format("{} MiB free", free),
            "Free some space: errand clear --all removes tasks that have ended."};
  if (free < 1'000)
    return {"disk", State::warning, fmt::format("{} MiB free", free), "Free some space before long tasks are started."};
  return {"disk", State::ok, fmt::format("{} GiB free", free / 1024), ""};
}

Check check_descriptors() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::string text = fmt::format("{} (at most {})", limit.rlim_cur, limit.rlim_max);
  if (limit.rlim_max < 1'024)
    return {"open files", State::warning, text, "Raise the limit (ulimit -n, or LimitNOFILE= of the service)."};
  return {"open files", State::ok, text, ""};
}

Check check_shell() {
  if (::access("/bin/sh", X_OK) == 0) return {"shell", State::ok, "/bin/sh", ""};
  return {"shell", State::wrong, "/bin/sh is missing", "Command lines need it; commands given as words work without."};
}

Check check_store(const std::string& data_dir) {
  struct stat about = {};
  std::string path = data_dir + "/errand.db";
  if (::stat(path.c_str(), &about) != 0) return {"store", State::ok, "no store file yet", ""};
  if (::access(path.c_str(), R_OK | W_OK) != 0)
    return {"store", State::wrong, path + " cannot be written", "See who owns it and its mode."};
  return {"store", State::ok, fmt::format("{} ({:.1f} MiB)", path, static_cast<double>(about.st_size) / mebibyte), ""};
}

Check check_supervisor(const std::string& data_dir) {
  Endpoint socket;
  socket.unix_path = data_dir + "/supervisor.sock";
  if (Connection::open(socket, steady_now() + 1'000)) return {"supervisor", State::ok, "runs", ""};
  return {"supervisor", State::ok, "does not run; the server starts it when it needs it", ""};
}

// By which means the limits of commands hold, and whether there is a sandbox: what the server found at its start.
void add_means(const std::string& health, Checks& checks) {
  const std::string limits = member(health, "limits");
  if (limits.empty()) return;
  const bool grouped = member(limits, "kill").starts_with("at once");
  for (const char* limit : {"memory", "processes", "cpu", "open_files"})
    checks.push_back({fmt::format("limit {}", limit), State::ok, member(limits, limit), ""});
  checks.push_back({"ending tasks", State::ok, member(limits, "kill"),
                    grouped ? "" : "All limits hold without; with Delegate=yes in its service the kernel holds them."});
  const std::string sandbox = member(health, "sandbox");
  const bool available = member(sandbox, "available") == "true";
  checks.push_back({"sandbox", available ? State::ok : State::warning,
                    available ? "workspace and strict work (" + member(sandbox, "text") + ")"
                              : "only \"off\": " + member(sandbox, "text"),
                    available ? "" : "Needed only for errand run --sandbox workspace or strict."});
}

// Where no server runs: what one would try.
Check check_bwrap() {
  for (const char* file : {"/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"})
    if (::access(file, X_OK) == 0)
      return {"sandbox", State::ok, std::string(file) + " is there; the server tries it when it starts", ""};
  return {"sandbox", State::warning, "only \"off\": bubblewrap is not installed",
          "For errand run --sandbox workspace or strict: apt install bubblewrap."};
}

// Which accounts are used up, and how long that is believed.
void check_quotas(Context& context, Checks& checks) {
  const Result<std::string> body = context.client.get("/api/quotas");
  if (!body) return;  // An older server has none of this.
  const auto quotas = parse_quotas(*body).value_or(std::vector<QuotaInfo>());
  if (quotas.empty()) checks.push_back({"usage limits", State::ok, "none holds anything back", ""});
  for (const QuotaInfo& quota : quotas)
    checks.push_back(
        {"usage limit", State::warning,
         fmt::format("{} since {}, until {} at the latest: {} waiting, {} in line ({})", quota.account,
                     format_time(quota.since), format_time(quota.until), quota.waiting, quota.queued, quota.text),
         "errand quota shows who waits; errand quota clear lets them ask again now."});
}

// The server, whether it takes our token, and the agents that it found. True where it can be talked to.
bool check_server(Context& context, Checks& checks) {
  context.client.set_start(Start::never);
  Result<Target> target = context.client.target();
  if (!target) {
    bool remote = !context.globals.url.empty();
    checks.push_back({"server", remote ? State::wrong : State::ok,
                      remote ? target.error().message : "does not run; a verb that needs it starts it",
                      remote ? "Check --url and the token." : ""});
    return false;
  }
  Result<std::string> health = context.client.get("/api/health");
  if (!health) {
    checks.push_back({"server", State::wrong, health.error().message,
                      "See server.log in the data folder; errand serve shows why it does not start."});
    return false;
  }
  std::string version = member(*health, "version");
  if (version.empty()) version = target->version;
  std::string text = fmt::format("{} version {}", target->url, version.empty() ? "unknown" : version);
  if (target->pid > 0) text += fmt::format(", pid {}", target->pid);
  bool other = !version.empty() && version != errand::version;
  checks.push_back(
      {"server", other ? State::warning : State::ok, text,
       other ? fmt::format("This errand is version {}; restart the server to use it.", errand::version) : ""});
  if (const std::string problem = member(*health, "problem"); !problem.empty())
    checks.push_back({"stored data", State::wrong, fmt::format("{}: {}", member(*health, "status"), problem),
                      "docs/operating.md says how to come back from it; what runs goes on meanwhile."});
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) {
    checks.push_back({"token", State::wrong, body.error().message,
                      "The token is in the data folder's file `token`; ERRAND_TOKEN overrides it."});
    return false;
  }
  checks.push_back({"token", State::ok, "accepted", ""});
  add_means(*health, checks);
  std::string names, others;
  for (const AgentInfo& agent : parse_agents(*body).value_or(std::vector<AgentInfo>())) {
    std::string& list = agent.unavailable.empty() ? names : others;
    list.append(list.empty() ? "" : ", ").append(agent.name);
  }
  if (!others.empty()) names += fmt::format("; not usable here: {} (errand agents says why)", others);
  checks.push_back({"agents", State::ok, names, ""});
  check_quotas(context, checks);
  return true;
}

bool on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  for (std::string_view folder : split(path ? path : "", ':'))
    if (!folder.empty() && ::access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
  return false;
}

// Where no server runs: what one would find.
Check check_path() {
  std::string found;
  for (const auto& [program, agent] :
       {std::pair("opencode", "opencode"), std::pair("claude", "claude"), std::pair("gemini", "gemini"),
        std::pair("codex-acp", "codex"), std::pair("claude-agent-acp", "acp:claude")})
    if (on_path(program)) found += fmt::format(", {}", agent);
  return {"agents", State::ok, fmt::format("command, demo{}; builtin where the server knows a model", found), ""};
}

// OpenCode's plugin, where there is OpenCode or the plugin.
void check_opencode(const std::string& data_dir, bool installed, Checks& checks) {
  const Result<std::string> path = opencode_plugin_path();
  if (!path) return;
  const std::string there = read_file(*path);
  if (!is_opencode_plugin(there)) {
    if (installed)
      checks.push_back(
          {"OpenCode plugin", State::ok, "not installed", "For errand's tools in it: errand opencode install"});
    return;
  }
  const Result<std::string> wanted = opencode_plugin(data_dir, opencode_plugin_options(there));
  if (wanted && there == *wanted)
    checks.push_back({"OpenCode plugin", State::ok, *path, ""});
  else
    checks.push_back({"OpenCode plugin", State::warning, *path + " is of another errand or for another data folder",
                      "errand opencode install"});
}

// Whether Claude Code, where it is installed, has a login, as far as can be seen from here: nothing is asked of it.
void check_claude(Checks& checks) {
  if (!on_path("claude")) return;
  const auto set = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value && *value;
  };
  for (const char* variable : {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
                               "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"})
    if (set(variable))
      return checks.push_back({"Claude Code", State::ok, fmt::format("installed; {} is set here", variable), ""});
  const std::string folder = set("CLAUDE_CONFIG_DIR") ? std::getenv("CLAUDE_CONFIG_DIR")
                             : set("HOME")            ? std::string(std::getenv("HOME")) + "/.claude"
                                                      : std::string();
  if (!folder.empty() && ::access((folder + "/.credentials.json").c_str(), F_OK) == 0)
    return checks.push_back({"Claude Code", State::ok, "installed, with a login in " + folder, ""});
  checks.push_back({"Claude Code", State::warning, "installed; no login is found here",
                    "Run claude and type /login, or set ANTHROPIC_API_KEY where the server runs."});
}

std::string system_text() {
  utsname about = {};
  ::uname(&about);
  return fmt::format("errand {}, {} {} {}", errand::version, about.sysname, about.release, about.machine);
}

void print_json(const Screen& screen, const Checks& checks, bool well) {
  std::string text;
  JsonOut out(text);
  out.object().field("ok", well).field("version", errand::version).key("checks").array();
  for (const Check& check : checks) {
    out.object().field("name", check.name).field("state", name(check.state)).field("text", check.text);
    out.text_or_null("fix", check.fix).end();
  }
  out.end().end();
  screen.out_line(text);
}

void print_text(const Screen& screen, const Checks& checks) {
  for (const Check& check : checks) {
    std::string_view glyph = check.state == State::ok ? "✓" : check.state == State::warning ? "!" : "✗";
    std::string_view style = check.state == State::ok ? "32" : check.state == State::warning ? "33" : "31";
    screen.out_line(
        fmt::format("{} {:<16} {}", styled(glyph, style, screen.colours()), check.name, shown_line(check.text)));
    if (!check.fix.empty()) screen.out_line(fmt::format("  {:<16} → {}", "", check.fix));
  }
}

}  // namespace

int doctor(Context& context, const DoctorArgs&) {
  const std::string& data_dir = context.globals.data_dir;
  Checks checks = {{"version", State::ok, system_text(), ""}};
  if (context.globals.url.empty()) {
    checks.push_back(check_private("data folder", data_dir, 0700));
    checks.push_back(check_private("token file", data_dir + "/token", 0600));
    checks.push_back(check_filesystem(data_dir));
    checks.push_back(check_disk(data_dir));
    checks.push_back(check_descriptors());
    checks.push_back(check_shell());
    checks.push_back(check_store(data_dir));
    checks.push_back(check_supervisor(data_dir));
  }
  if (!check_server(context, checks) && context.globals.url.empty()) {
    checks.push_back(check_path());
    checks.push_back(check_bwrap());
  }
  check_opencode(data_dir, on_path("opencode"), checks);
  check_claude(checks);
  bool well = true;
  for (const Check& check : checks) well = well && check.state != State::wrong;
  context.screen.json() ? print_json(context.screen, checks, well) : print_text(context.screen, checks);
  return code(well ? Exit::ok : Exit::failed);
}

}  // namespace errand::cli
