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
#include "cli/artifact_info.h"
#include "cli/files.h"
#include "cli/opencode.h"
#include "cli/program.h"
#include "cli/programs_text.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"
#include "programs/known.h"

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
    if (errno == ENOENT) return {what, State::ok, path + " does not exist yet; the server makes it when it starts", ""};
    return {what, State::wrong, fmt::format("cannot read {}: {}", path, std::strerror(errno)),
            "Check who owns it: ls -ld"};
  }
  mode_t mode = about.st_mode & 07777;
  if (about.st_uid != ::getuid())
    return {what, State::wrong, fmt::format("{} belongs to another user ({})", path, about.st_uid),
            "Choose another folder with --data-dir, or change the owner with chown."};
  if (mode & 077)
    return {what, State::wrong, fmt::format("other users can read {} (mode {:o})", path, mode),
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
      return {"disk", State::warning, "cannot read its free space", "Check that the data folder can be reached."};
    folder = parent;
  }
  uint64_t free = about.f_bavail * about.f_frsize / mebibyte;
  if (free < 100)
    return {"disk", State::wrong, fmt::format("{} MiB free", free),
            "Free some space: errand clear --all removes tasks that have ended."};
  if (free < 1'000)
    return {"disk", State::warning, fmt::format("{} MiB free", free), "Free some space before you start long tasks."};
  return {"disk", State::ok, fmt::format("{} GiB free", free / 1024), ""};
}

// What a folder takes on the disk, as far as its first files go: a folder may be huge.
int64_t disk_bytes(const std::filesystem::path& folder) {
  constexpr int files_max = 300'000;
  int64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(folder, std::filesystem::directory_options::skip_permission_denied,
                                                   error);
  for (int files = 0; !error && at != std::filesystem::recursive_directory_iterator() && files < files_max; ++files) {
    struct stat about = {};
    if (::lstat(at->path().c_str(), &about) == 0) bytes += int64_t{about.st_blocks} * 512;
    at.increment(error);
  }
  return bytes;
}

// Work trees of tasks, and the snapshots of what tasks changed.
Check check_changes(const std::string& data_dir) {
  const std::filesystem::path changes = std::filesystem::path(data_dir) / "changes";
  size_t trees = 0;
  std::string left;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(changes / "wt", error)) {
    std::error_code ignored;
    for (const auto& tree : std::filesystem::directory_iterator(task.path(), ignored)) {
      ++trees;
      // Its task is gone: nobody else says where it is.
      if (!std::filesystem::exists(changes / "tasks" / task.path().filename(), ignored))
        left += (left.empty() ? "" : ", ") + tree.path().string();
    }
  }
  const std::string text = fmt::format("{} work tree{} of tasks, {}; snapshots, {}", trees, trees == 1 ? "" : "s",
                                       size_text(disk_bytes(changes / "wt")), size_text(disk_bytes(changes / "git")));
  if (left.empty()) return {"changes", State::ok, text, ""};
  return {
      "changes", State::warning, text,
      fmt::format("Deleted tasks left work that nobody took: {}. `git worktree remove` removes what you do not need.",
                  left)};
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
  return {"shell", State::wrong, "/bin/sh is missing",
          "Command lines need it. Commands given as separate words work without it."};
}

Check check_store(const std::string& data_dir) {
  struct stat about = {};
  std::string path = data_dir + "/errand.db";
  if (::stat(path.c_str(), &about) != 0)
    return {"store", State::ok, "no database yet; the server makes it when it starts", ""};
  if (::access(path.c_str(), R_OK | W_OK) != 0)
    return {"store", State::wrong, "cannot write " + path, "Check its owner and mode: ls -l"};
  return {"store", State::ok, fmt::format("{} ({:.1f} MiB)", path, static_cast<double>(about.st_size) / mebibyte), ""};
}

Check check_supervisor(const std::string& data_dir) {
  Endpoint socket;
  socket.unix_path = data_dir + "/supervisor.sock";
  if (Connection::open(socket, steady_now() + 1'000)) return {"supervisor", State::ok, "runs", ""};
  return {"supervisor", State::ok, "does not run; the server starts it when needed", ""};
}

// By which means the limits of commands hold, and whether there is a sandbox: what the server found at its start.
void add_means(const std::string& health, Checks& checks) {
  const std::string limits = member(health, "limits");
  if (limits.empty()) return;
  const bool grouped = member(limits, "kill").starts_with("at once");
  for (const char* limit : {"memory", "processes", "cpu", "open_files"})
    checks.push_back({fmt::format("limit {}", limit), State::ok, member(limits, limit), ""});
  checks.push_back(
      {"ending tasks", State::ok, member(limits, "kill"),
       grouped ? "" : "Optional: with Delegate=yes in errand's systemd unit the kernel enforces the limits."});
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
      return {"sandbox", State::ok, std::string(file) + " exists; the server tries it when it starts", ""};
  return {"sandbox", State::warning, "only \"off\": bubblewrap is not installed",
          "For errand run --sandbox workspace or strict: apt install bubblewrap."};
}

// Which accounts are used up, and how long that is believed.
void check_quotas(Context& context, Checks& checks) {
  const Result<std::string> body = context.client.get("/api/quotas");
  if (!body) return;  // An older server has none of this.
  const auto quotas = parse_quotas(*body).value_or(std::vector<QuotaInfo>());
  if (quotas.empty()) checks.push_back({"usage limits", State::ok, "no task waits for one", ""});
  for (const QuotaInfo& quota : quotas)
    checks.push_back(
        {"usage limit", State::warning,
         fmt::format("{} since {}, until {} at the latest: {} waiting, {} in line ({})", quota.account,
                     format_time(quota.since), format_time(quota.until), quota.waiting, quota.queued, quota.text),
         "errand quota shows the tasks; errand quota clear makes them ask again now."});
}

// The server, whether it takes our token, and the agents that it found (into `agents`). True where it can be talked to.
bool check_server(Context& context, std::vector<AgentInfo>& agents, Checks& checks) {
  context.client.set_start(Start::never);
  Result<Target> target = context.client.target();
  if (!target) {
    bool remote = !context.globals.url.empty();
    checks.push_back({"server", remote ? State::wrong : State::ok,
                      remote ? target.error().message : "does not run; verbs that need it start it",
                      remote ? "Check --url and the token." : ""});
    return false;
  }
  Result<std::string> health = context.client.get("/api/health");
  if (!health) {
    checks.push_back({"server", State::wrong, health.error().message,
                      "Read server.log in the data folder, or type errand serve to see why it does not start."});
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
                      "docs/operating.md says how to repair it. Running tasks go on meanwhile."});
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) {
    checks.push_back({"token", State::wrong, body.error().message,
                      "The token is in the data folder's file `token`; ERRAND_TOKEN overrides it."});
    return false;
  }
  checks.push_back({"token", State::ok, "accepted", ""});
  add_means(*health, checks);
  std::string names, others;
  agents = parse_agents(*body).value_or(std::vector<AgentInfo>());
  for (const AgentInfo& agent : agents) {
    std::string& list = agent.unavailable.empty() ? names : others;
    list.append(list.empty() ? "" : ", ").append(agent.name);
  }
  if (!others.empty()) names += fmt::format("; not available: {} (errand agents says why)", others);
  checks.push_back({"agents", State::ok, names, ""});
  if (const std::string programs = programs_text(*health); !programs.empty())
    checks.push_back({"agents' memory", State::ok, programs, ""});
  check_quotas(context, checks);
  return true;
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

// The second way to run the same program is none that people have to be told of.
bool is_main(const programs::Known& known) { return !std::string_view(known.agent).starts_with("acp:"); }

// Where no server runs: what one would find.
Check check_path() {
  std::string found;
  for (const programs::Known& known : programs::all())
    if (is_main(known) && on_path(known.program)) found += fmt::format(", {}", known.agent);
  return {"agents", State::ok, fmt::format("command, demo{}; builtin if the server has a model", found), ""};
}

// OpenCode's plugin, where there is OpenCode or the plugin.
void check_opencode(const Context& context, bool installed, Checks& checks) {
  const Result<std::string> path = opencode_plugin_path();
  if (!path) return;
  const std::string there = read_file(*path);
  if (!is_opencode_plugin(there)) {
    if (installed)
      checks.push_back(
          {"OpenCode plugin", State::ok, "not installed", "To give OpenCode errand's tools: errand opencode install"});
    return;
  }
  const PluginOptions options = opencode_plugin_options(there);
  const Result<std::string> wanted =
      opencode_plugin(context.globals.data_dir, options, context.programs.tools_json(options.family));
  if (wanted && there == *wanted)
    checks.push_back({"OpenCode plugin", State::ok, *path, ""});
  else
    checks.push_back({"OpenCode plugin", State::warning, *path + " belongs to another errand or another data folder",
                      "errand opencode install"});
}

// The agents of other makers: is each here, and has it a login? By what the server sees, where it says so (`agents`),
// or what can be seen from here; nothing is asked of them.
void check_agent_programs(const std::vector<AgentInfo>& agents, Checks& checks) {
  for (const programs::Known& known : programs::all()) {
    if (!is_main(known)) continue;
    AgentProgramInfo program{.login = programs::login_of(known, variable)};
    bool here = on_path(known.program);
    for (const AgentInfo& agent : agents)
      if (agent.id == known.agent && agent.program) {
        program = *agent.program;
        here = !program.path.empty();
      }
    const std::string installed = program.version.empty() ? "installed" : "version " + program.version;
    if (!here)
      checks.push_back(
          {known.name, State::ok, "not installed", std::string("To have it as an agent: ") + known.install});
    else if (!program.login.empty())
      checks.push_back({known.name, State::ok, installed + "; " + program.login, ""});
    else
      checks.push_back({known.name, known.needs_login() ? State::warning : State::ok,
                        installed + "; no login is found here", known.log_in});
  }
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
    checks.push_back(check_changes(data_dir));
    checks.push_back(check_descriptors());
    checks.push_back(check_shell());
    checks.push_back(check_store(data_dir));
    checks.push_back(check_supervisor(data_dir));
  }
  std::vector<AgentInfo> agents;
  if (!check_server(context, agents, checks) && context.globals.url.empty()) {
    checks.push_back(check_path());
    checks.push_back(check_bwrap());
  }
  check_opencode(context, on_path("opencode"), checks);
  check_agent_programs(agents, checks);
  bool well = true;
  for (const Check& check : checks) well = well && check.state != State::wrong;
  context.screen.json() ? print_json(context.screen, checks, well) : print_text(context.screen, checks);
  return code(well ? Exit::ok : Exit::failed);
}

}  // namespace errand::cli
