#include "settings/table.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "task/tool_families.h"

namespace errand {
namespace {

constexpr int64_t year_s = 31'536'000;
constexpr int64_t second = 1'000;

// What a row's field is, in so many words that the rows stay short.
#define ERRAND_AT(type, place)                   \
  At<type> {                                     \
    [](Settings& s) -> type& { return s.place; } \
  }
using Texts = std::vector<std::string>;
using Numbers = std::map<std::string, int>;

std::vector<Setting> rows() {
  return {
      {.name = "listen",
       .field = ERRAND_AT(std::string, listen),
       .help = "Where it listens. Port 0 takes a free one.",
       .flag = "--listen",
       .flag_value = "ADDRESS:PORT"},
      {.name = "store",
       .field = ERRAND_AT(std::string, store),
       .help = "Where tasks are kept: a PostgreSQL URL (postgres://USER@HOST/DATABASE). Without it, SQLite in the data "
               "folder.",
       .flag = "--store",
       .flag_value = "URL"},
      {.name = "max_concurrent",
       .field = ERRAND_AT(int, engine.max_concurrent),
       .help = "Tasks that work at the same time; the others wait in line.",
       .reach = Reach::running,
       .least = 1,
       .most = 10'000,
       .flag = "--max-concurrent",
       .flag_value = "NUMBER"},
      {.name = "max_per_agent",
       .field = ERRAND_AT(Numbers, engine.max_per_agent),
       .help = "The same for one agent: a table of names to numbers. It is changed as a whole.",
       .reach = Reach::running,
       .least = 1,
       .most = 10'000},
      {.name = "max_per_model",
       .field = ERRAND_AT(Numbers, engine.max_per_model),
       .help = "The same for one model: `errand settings 'max_per_model={\"gpt-5\":2}'`.",
       .reach = Reach::running,
       .least = 1,
       .most = 10'000},
      {.name = "max_memory",
       .field = ERRAND_AT(int64_t, engine.max_memory),
       .help = "While the programs of agents (Claude Code, OpenCode, agents over ACP) together use this many bytes, no "
               "further one is started; those that only wait for a next turn are ended. 0: no limit.",
       .reach = Reach::running,
       .least = 0,
       .most = 1LL << 50,
       .zero_is_null = true,
       .flag = "--max-memory",
       .flag_value = "BYTES"},
      {.name = "allow_over_limit",
       .field = ERRAND_AT(bool, engine.allow_over_limit),
       .help = "A launch may say `authorize_over_limit`.",
       .reach = Reach::shown},
      {.name = "command_timeout_s",
       .field = ERRAND_AT(int64_t, engine.command_timeout_ms),
       .help = "The timeout of commands that name none.",
       .reach = Reach::shown,
       .least = 1,
       .most = year_s,
       .unit = Unit::seconds,
       .scale = second},
      {.name = "idle_timeout_s",
       .field = ERRAND_AT(int64_t, engine.idle_timeout_ms),
       .help = "No event, output, CPU use or I/O for this long is a hang; a warning comes at half of it.",
       .reach = Reach::running,
       .least = 1,
       .most = year_s,
       .unit = Unit::seconds,
       .scale = second},
      {.name = "max_restarts",
       .field = ERRAND_AT(int, engine.max_restarts),
       .help = "How often a turn that hangs is begun again, where its launch says `on_hang: restart`.",
       .reach = Reach::shown,
       .least = 1,
       .most = 100},
      {.name = "retention_s",
       .field = ERRAND_AT(int64_t, engine.retention_ms),
       .help = "Finished tasks are deleted after this long; 0 keeps them.",
       .reach = Reach::running,
       .least = 0,
       .most = 100 * year_s,
       .unit = Unit::seconds,
       .scale = second,
       .zero_is_null = true},
      {.name = "ask_timeout_s",
       .field = ERRAND_AT(int64_t, engine.ask_timeout_ms),
       .help = "A question or permission request without an answer is denied after this long; 0 waits for ever.",
       .reach = Reach::running,
       .least = 0,
       .most = year_s,
       .unit = Unit::seconds,
       .scale = second,
       .zero_is_null = true},
      {.name = "wake",
       .field = ERRAND_AT(bool, engine.wake),
       .help = "A notice to a completed task (from a task that it launched) makes a further turn of it.",
       .reach = Reach::running},
      {.name = "loop_max",
       .field = ERRAND_AT(int, engine.loop_max),
       .help = "Equal tool calls in a row, with equal results, that end a task; 0 does not count them.",
       .reach = Reach::running,
       .least = 0,
       .most = 1'000},
      {.name = "isolate",
       .field = ERRAND_AT(std::string, engine.isolate),
       .help = "`worktree`: agents' tasks whose launch and agent do not say work in a git work tree of their own, "
               "and fail where they cannot have one. `none`: in the folder itself.",
       .reach = Reach::running,
       .choices = {"none", "worktree"}},
      {.name = "isolate_base",
       .field = ERRAND_AT(std::string, engine.isolate_base),
       .help = "What such a work tree begins with: `head`, the last commit, or `dirty`, also what is uncommitted.",
       .reach = Reach::running,
       .choices = {"head", "dirty"}},
      {.name = "isolate_setup",
       .field = ERRAND_AT(std::string, engine.isolate_setup),
       .help = "A command (for /bin/sh -c) that is run in each new work tree before the task begins there, such as "
               "`npm ci`. A launch or an agent may name another. Empty: none.",
       .reach = Reach::running},
      {.name = "changes_keep_s",
       .field = ERRAND_AT(int64_t, engine.changes_keep_ms),
       .help = "How long a merged work tree stays, and what was discarded can be taken back. 0 keeps them until the "
               "task is deleted.",
       .reach = Reach::running,
       .least = 0,
       .most = 100 * year_s,
       .unit = Unit::seconds,
       .scale = second,
       .zero_is_null = true},
      {.name = "changes_max_bytes",
       .field = ERRAND_AT(int64_t, engine.changes_max_bytes),
       .help = "No further work tree is made while those that exist take this many bytes together. 0: no bound.",
       .reach = Reach::running,
       .least = 0,
       .most = 1LL << 50,
       .unit = Unit::bytes},
      {.name = "watch_changes",
       .field = ERRAND_AT(std::string, engine.watch_changes),
       .help = "Of which tasks errand knows what they changed: `agents` (those that work in a git repository), `all` "
               "(commands and plain folders too, which begin and end a little later for it), or `off` (only those "
               "with a work tree of their own).",
       .reach = Reach::running,
       .choices = {"agents", "all", "off"}},
      {.name = "tools.family",
       .field = ERRAND_AT(std::string, engine.tools_family),
       .help = "The names under which the agents' tools are listed: `background`, `superagents`, `asyncagents` or "
               "`bgagent`. All are understood.",
       .reach = Reach::running,
       .choices = {tool_families.begin(), tool_families.end()}},
      {.name = "fork.tool_result_chars",
       .field = ERRAND_AT(int64_t, engine.fork.tool_result_chars),
       .help = "Characters that a fork keeps of each tool result of its parent.",
       .reach = Reach::running,
       .least = 0,
       .most = 10'000'000},
      {.name = "fork.tokens",
       .field = ERRAND_AT(int64_t, engine.fork.tokens),
       .help = "Tokens that a fork takes over at most (an estimate that is rather too high): past it the oldest "
               "messages are left out.",
       .reach = Reach::running,
       .least = fork::tokens_min,
       .most = 100'000'000},
      {.name = "fork.profile",
       .field = ERRAND_AT(fork::Profile, engine.fork.profile),
       .help =
           "`plain` or `tiered`. `tiered`: tool results are cut by age instead (the newest 5 whole, 10 to 3,000 "
           "characters, the rest to 500), a compacted conversation begins with its summary, and the oldest messages "
           "are left out over 200,000 characters too.",
       .reach = Reach::running,
       .choices = {"plain", "tiered"}},
      {.name = "output_limit_bytes",
       .field = ERRAND_AT(int64_t, engine.output_limit),
       .help = "Kept of a command's output: past it the head and the tail.",
       .reach = Reach::shown,
       .least = 4'096,
       .most = 1LL << 40,
       .unit = Unit::bytes},
      {.name = "limit_cpu_s",
       .field = ERRAND_AT(int64_t, engine.command_limits.cpu_s),
       .help = "CPU time of a command that names no limit; 0: no limit, here and below.",
       .reach = Reach::shown,
       .least = 0,
       .most = year_s,
       .unit = Unit::seconds,
       .zero_is_null = true},
      {.name = "limit_memory_bytes",
       .field = ERRAND_AT(int64_t, engine.command_limits.memory_bytes),
       .help = "Memory of such a command.",
       .reach = Reach::shown,
       .least = 0,
       .most = 1LL << 50,
       .unit = Unit::bytes,
       .zero_is_null = true},
      {.name = "limit_processes",
       .field = ERRAND_AT(int64_t, engine.command_limits.processes),
       .help = "Processes that it has at the same time.",
       .reach = Reach::shown,
       .least = 0,
       .most = 1'000'000,
       .zero_is_null = true},
      {.name = "limit_open_files",
       .field = ERRAND_AT(int64_t, engine.command_limits.open_files),
       .help = "Open files of each of its processes.",
       .reach = Reach::shown,
       .least = 0,
       .most = 1LL << 30,
       .zero_is_null = true},
      {.name = "limit_nice",
       .field = ERRAND_AT(int, engine.command_limits.nice),
       .help = "Its nice value: the higher, the more it steps back for others.",
       .reach = Reach::shown,
       .least = -20,
       .most = 19},
      {.name = "artifacts_max_bytes",
       .field = ERRAND_AT(int64_t, artifacts_max_bytes),
       .help = "Copied of what the `artifacts` patterns of a launch name, for one task; as much is read for hashes.",
       .least = 0,
       .most = 1LL << 40,
       .unit = Unit::bytes},
      {.name = "artifacts_max_files",
       .field = ERRAND_AT(int64_t, artifacts_max_files),
       .help = "Files listed as artifacts of one task.",
       .least = 0,
       .most = 100'000},
      {.name = "env_allow",
       .field = ERRAND_AT(Texts, env_allow),
       .help = "Names (or beginnings, `CARGO_*`) that commands get from the server's environment."},
      {.name = "default_agent",
       .field = ERRAND_AT(std::string, engine.default_agent),
       .help =
           "The agent that does what names none, of `errand ask` and of agents' tools. `auto`: the first that can be "
           "used, never the demonstration.",
       .reach = Reach::running},
      {.name = "default_work_dir",
       .field = ERRAND_AT(std::string, engine.default_work_dir),
       .help = "The folder of a launch over REST that names none. Without it: the first of `work_dirs`, else the home "
               "folder.",
       .reach = Reach::shown},
      {.name = "work_dirs",
       .field = ERRAND_AT(Texts, work_dirs),
       .help = "Folders that commands may work in, with all below them. Without any: every folder."},
      {.name = "child_umask",
       .field = ERRAND_AT(std::string, child_umask),
       .help = "The umask of commands: an octal number in quotes."},
      {.name = "orphan_s",
       .field = ERRAND_AT(int64_t, orphan_ms),
       .help = "How long commands go on without any server.",
       .least = 60,
       .most = year_s,
       .unit = Unit::seconds,
       .scale = second},
      {.name = "allow_hosts",
       .field = ERRAND_AT(Texts, allow_hosts),
       .help = "Further names of this server that a request's Host may have. The flag adds one, and may be repeated.",
       .flag = "--allow-host",
       .flag_value = "NAME"},
      {.name = "tls_cert",
       .field = ERRAND_AT(std::string, tls_cert),
       .help = "The certificate chain, a PEM file. Needed to listen on anything but loopback.",
       .flag = "--tls-cert",
       .flag_value = "PEM"},
      {.name = "tls_key",
       .field = ERRAND_AT(std::string, tls_key),
       .help = "The key of the certificate, a PEM file.",
       .flag = "--tls-key",
       .flag_value = "PEM"},
      {.name = "behind_proxy",
       .field = ERRAND_AT(bool, behind_proxy),
       .help = "A proxy in front of the server does TLS: it may listen on anything without a certificate. What the "
               "proxy says of its clients (`X-Forwarded-For`, `X-Forwarded-Proto`) is believed from this machine and "
               "from `proxies`.",
       .flag = "--behind-proxy"},
      {.name = "proxies",
       .field = ERRAND_AT(Texts, proxies),
       .help = "Addresses (`192.0.2.7`) and networks (`10.1.0.0/16`) of proxies on other machines, for "
               "`behind_proxy`."},
      {.name = "log_level",
       .field = ERRAND_AT(std::string, log_level),
       .help = "How much to log: `debug`, `info`, `warning` or `error`.",
       .choices = {"debug", "info", "warning", "error"},
       .flag = "--log-level",
       .flag_value = "LEVEL"},
      {.name = "warm_s",
       .field = ERRAND_AT(int64_t, warm_ms),
       .help = "How long an agent's program (Claude Code, agents over ACP) waits for the next turn of its task, which "
               "then starts at once. 0 ends it with its turn.",
       .least = 0,
       .most = 86'400,
       .unit = Unit::seconds,
       .scale = second},
      {.name = "warm_background_s",
       .field = ERRAND_AT(int64_t, warm_background_ms),
       .help = "The same for a program whose agent has left a command in the background. When the command ends, the "
               "agent goes on by itself, as a turn of its task. When the program is ended, so is the command.",
       .least = 0,
       .most = 86'400,
       .unit = Unit::seconds,
       .scale = second},
      {.name = "warm_max",
       .field = ERRAND_AT(int, warm_max),
       .help = "How many of these programs wait at once, for each kind of agent. When there are more, the one that has "
               "waited longest is ended.",
       .least = 0,
       .most = 1'000},
      {.name = "fetch.enabled",
       .field = ERRAND_AT(bool, fetch_enabled),
       .help = "The built-in agent may fetch pages, also where its setup does not name the tool."},
      {.name = "fetch.allow_private",
       .field = ERRAND_AT(bool, fetch_allow_private),
       .help = "It may fetch them from this machine and private networks too."},
      {.name = "notify.private_hosts",
       .field = ERRAND_AT(Texts, notify_private_hosts),
       .help = "Hosts (`ntfy.lan`, `127.0.0.1:8080`) that notifications may go to although they are on this machine or "
               "a private network, also without TLS."},
      {.name = "notify.page_url",
       .field = ERRAND_AT(std::string, notify_page_url),
       .help = "Where people reach the page, such as `https://errand.example`: links in notifications and `errand "
               "phone` begin with it, and a request's Host may name it. Without it: the server's own address."},
  };
}
#undef ERRAND_AT

std::string plain(const std::string& text) { return text.empty() ? "none" : fmt::format("`{}`", text); }
std::string plain(bool flag) { return flag ? "true" : "false"; }
std::string plain(fork::Profile profile) { return fmt::format("`{}`", name(profile)); }
std::string plain(const std::vector<std::string>& list) {
  return list.empty() ? "none" : fmt::format("{}", list.size());
}
std::string plain(const std::map<std::string, int>& table) {
  return table.empty() ? "none" : fmt::format("{}", table.size());
}

std::string number_text(const Setting& setting, int64_t inside) {
  const int64_t value = inside / setting.scale;
  constexpr std::pair<int, std::string_view> steps[] = {{30, "GiB"}, {20, "MiB"}, {10, "KiB"}};
  if (setting.unit == Unit::bytes && value != 0)
    for (const auto& [bits, word] : steps)
      if (value % (1LL << bits) == 0) return fmt::format("{} {}", value >> bits, word);
  return fmt::format("{}", value);
}

}  // namespace

std::span<const Setting> all_settings() {
  static const std::vector<Setting>& table = *new std::vector<Setting>([] {
    std::vector<Setting> made = rows();
    for (Setting& setting : made) {
      setting.wire = setting.name;
      std::ranges::replace(setting.wire, '.', '_');
    }
    return made;
  }());
  return table;
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : all_settings())
    if (setting.name == name || setting.wire == name) return &setting;
  return nullptr;
}

std::string environment_name(const Setting& setting) {
  std::string out = "ERRAND_";
  for (const char c : setting.wire) out.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  return out;
}

std::string choices_text(const Setting& setting, std::string_view quote) {
  std::string text;
  for (size_t i = 0; i < setting.choices.size(); ++i) {
    if (i > 0) text += i + 1 == setting.choices.size() ? " or " : ", ";
    fmt::format_to(std::back_inserter(text), "{0}{1}{0}", quote, setting.choices[i]);
  }
  return text;
}

std::string default_text(const Setting& setting) {
  static const Settings& usual = *new Settings;
  return std::visit(
      [&]<class T>(At<T> at) -> std::string {
        const T& value = value_of(at, usual);
        if constexpr (std::is_same_v<T, int> || std::is_same_v<T, int64_t>) {
          return number_text(setting, value);
        } else {
          return plain(value);
        }
      },
      setting.field);
}

std::string settings_markdown() {
  std::string text = "| setting | default | while it runs | meaning |\n|---|---|---|---|\n";
  for (const Setting& setting : all_settings()) {
    fmt::format_to(std::back_inserter(text), "| `{}` | {} | {} | {}", setting.name, default_text(setting),
                   setting.reach == Reach::running ? "yes" : "", setting.help);
    if (!setting.flag.empty()) fmt::format_to(std::back_inserter(text), " Flag `{}`.", setting.flag);
    text += " |\n";
  }
  return text;
}

}  // namespace errand
