// What may be allowed beyond one call (R14.3): proposals for a person, and the rules that follow from his choice.
#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "task/permission.h"

namespace errand {
namespace {

// Their first word says what they do: `npm test` is one thing, `npm publish` another.
constexpr auto with_verbs = std::to_array<std::string_view>(
    {"ant",  "apt",    "apt-get", "bazel", "brew",      "bun",  "bundle",    "cargo", "composer", "deno",
     "dnf",  "dotnet", "flutter", "gh",    "git",       "go",   "gradle",    "helm",  "just",     "kubectl",
     "make", "meson",  "mix",     "mvn",   "npm",       "nx",   "pip",       "pip3",  "pnpm",     "poetry",
     "rake", "sbt",    "stack",   "swift", "systemctl", "task", "terraform", "turbo", "uv",       "yarn"});
// Whoever may run one of these with any words may run anything, or lose anything: only the very call is offered.
// (pass_env and work_dir are lines of a command that is started in the background.)
constexpr auto never_whole =
    std::to_array<std::string_view>({".",           "Rscript",   "ash",      "at",
                                     "awk",         "bash",      "batch",    "builtin",
                                     "bunx",        "busybox",   "chmod",    "chown",
                                     "chroot",      "chrt",      "command",  "cp",
                                     "crontab",     "csh",       "curl",     "dash",
                                     "dd",          "doas",      "docker",   "ed",
                                     "emacs",       "env",       "eval",     "ex",
                                     "exec",        "expect",    "fakeroot", "find",
                                     "fish",        "flock",     "gawk",     "gdb",
                                     "gdbserver",   "install",   "ionice",   "ipython",
                                     "julia",       "kill",      "killall",  "ksh",
                                     "less",        "lldb",      "ln",       "ltrace",
                                     "lua",         "man",       "mawk",     "mkfs",
                                     "mount",       "mv",        "nawk",     "nice",
                                     "node",        "nodejs",    "nohup",    "npx",
                                     "nsenter",     "osascript", "parallel", "pass_env",
                                     "perl",        "php",       "pipx",     "pkexec",
                                     "pkill",       "pnpx",      "podman",   "pwsh",
                                     "python",      "python2",   "python3",  "rm",
                                     "rmdir",       "rsync",     "ruby",     "runuser",
                                     "scp",         "screen",    "script",   "sed",
                                     "setarch",     "setsid",    "sh",       "shred",
                                     "source",      "ssh",       "sshpass",  "start-stop-daemon",
                                     "stdbuf",      "strace",    "su",       "sudo",
                                     "systemd-run", "tar",       "taskset",  "tclsh",
                                     "tee",         "time",      "timeout",  "tmux",
                                     "truncate",    "ts-node",   "tsx",      "unshare",
                                     "uvx",         "vi",        "vim",      "watch",
                                     "wget",        "work_dir",  "xargs",    "zsh"});

bool is_one_of(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_assignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return std::ranges::all_of(word.substr(0, equals), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool is_verb(std::string_view word) {
  return !word.empty() && word.front() != '-' &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == ':'; });
}

// Of one line of a subject: from the narrowest to the widest beginning; none where only the line itself may be offered.
std::vector<std::string> beginnings(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  size_t at = 0;
  // A value in quotes goes on behind the blank: where the program begins is not known.
  for (; at < words.size() && is_assignment(words[at]); ++at)
    if (words[at].contains('\'')) return {};
  if (at == words.size() || words[at] == ">") return {};
  const std::string_view program = words[at].substr(words[at].rfind('/') + 1);
  // python3.12 is python.
  const std::string_view family = program.substr(0, program.find_last_not_of("0123456789.") + 1);
  if (family.empty() || is_one_of(never_whole, program) || is_one_of(never_whole, family) || program.contains('$'))
    return {};
  std::string whole;
  for (size_t i = 0; i <= at; ++i) whole += (whole.empty() ? "" : " ") + std::string(words[i]);
  std::vector<std::string> out;
  if (is_one_of(with_verbs, program) && at + 1 < words.size() && is_verb(words[at + 1]))
    out.push_back(whole + " " + std::string(words[at + 1]));
  out.push_back(std::move(whole));
  return out;
}

std::vector<ProposedPattern> for_commands(std::string_view subject) {
  std::vector<ProposedPattern> out;
  const std::vector<std::string_view> lines = split(subject, '\n');
  if (lines.size() == 1) {
    for (const std::string& beginning : beginnings(lines.front()))
      out.push_back({exact_pattern(beginning) + " *", fmt::format("commands that begin with `{}`", beginning)});
    return out;
  }
  std::string pattern, words;
  bool wider = false;
  for (const std::string_view line : lines) {
    const std::vector<std::string> some = beginnings(line);
    wider = wider || !some.empty();
    const std::string shown = some.empty() ? std::string(line) : some.front();
    pattern += (pattern.empty() ? "" : "\n") + exact_pattern(shown) + (some.empty() ? "" : " *");
    words += fmt::format("{}`{}`", words.empty() ? "" : ", ", shown);
  }
  if (wider) out.push_back({std::move(pattern), fmt::format("commands that begin with {}", words)});
  return out;
}

// The files below the folder of each.
std::vector<ProposedPattern> for_files(std::string_view subject) {
  std::string pattern, words;
  for (const std::string_view path : split(subject, '\n')) {
    const size_t slash = path.rfind('/');
    const auto segments = split(path, '/');
    // A name alone would make "*", which is every file there is; and what climbs is not below anything.
    if (slash == std::string_view::npos || slash == 0 || std::ranges::find(segments, "..") != segments.end()) return {};
    const std::string below = exact_pattern(path.substr(0, slash)) + "/*";
    if (pattern == below || pattern.ends_with("\n" + below)) continue;
    pattern += (pattern.empty() ? "" : "\n") + below;
    words += fmt::format("{}{}/", words.empty() ? "" : ", ", path.substr(0, slash));
  }
  return {{std::move(pattern), fmt::format("files below {}", words)}};
}

std::vector<ProposedPattern> for_addresses(std::string_view url) {
  if (!url.starts_with("https://") && !url.starts_with("http://")) return {};
  const size_t host = url.find("://") + 3;
  const size_t end = url.find('/', host);
  if (end == std::string_view::npos || url.contains('\n') || url.substr(host, end - host).contains('@')) return {};
  return {{exact_pattern(url.substr(0, end)) + "/*", fmt::format("pages of {}", url.substr(host, end - host))}};
}

}  // namespace

std::vector<ProposedPattern> proposed_patterns(std::string_view tool, std::string_view subject) {
  if (subject.empty() || subject.starts_with("? ") || subject.contains("\n? ")) return {};
  if (tool == "bash") return for_commands(subject);
  if (tool == "edit" || tool == "write" || tool == "multiedit" || tool == "notebookedit") return for_files(subject);
  if (tool == "fetch" || tool == "webfetch") return for_addresses(subject);
  return {};
}

std::vector<PermissionRule> rules_for(std::string_view tool, std::string_view subject, std::string_view pattern) {
  const std::string exact_tool = exact_pattern(tool);
  if (pattern.empty()) return {{exact_tool, exact_pattern(subject), Permission::allow}};
  std::vector<PermissionRule> rules;
  for (const std::string_view line : split(pattern, '\n')) {
    rules.push_back({exact_tool, std::string(line), Permission::allow});
    // "npm test *" is also `npm test` alone.
    if (line.ends_with(" *"))
      rules.push_back({exact_tool, std::string(line.substr(0, line.size() - 2)), Permission::allow});
  }
  return rules;
}

}  // namespace errand
