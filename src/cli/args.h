// What each verb was asked to do: plain values that parse.cc fills from the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cli/screen.h"
#include "cli/serve.h"

namespace errand::cli {

struct Globals {
  std::string data_dir;  // Absolute.
  std::string url;
  std::string token_file;
  ScreenOptions screen;
};

// How long to stay after something was started.
enum class Stay : uint8_t {
  no,      // Print the id and return.
  wait,    // Until it is at rest; then the result.
  follow,  // And show it live.
};

// What `run` and `ask` share. Absent: the server's default.
struct LaunchArgs {
  std::string title, description, model;
  std::string work_dir;               // Empty: the current folder.
  std::vector<std::string> env;       // NAME=VALUE
  std::vector<std::string> pass_env;  // NAME
  std::string batch;                  // An id or "new".
  std::optional<Millis> timeout, idle_timeout, retention;
  std::optional<int> priority;
  std::vector<std::string> labels;  // NAME=VALUE
  std::string parent;               // A session's id.
  std::string on_hang;
  std::optional<int> max_restarts;
  std::vector<std::string> notify_on;
  std::optional<Millis> progress_every;
  bool isolate = false;      // In a git work tree of its own.
  std::string isolate_base;  // head, dirty; empty: the server's default.
  std::string isolate_setup;
  Stay stay = Stay::no;
};

struct RunArgs {
  LaunchArgs launch;
  std::vector<std::string> command;
  bool shell = false;
  bool allow_interactive = false;
  // Absent: the server's default; 0: no limit.
  std::optional<Millis> cpu;
  std::optional<int64_t> memory, processes, open_files, max_output;
  std::optional<int> nice;
  std::string sandbox;
  std::vector<std::string> add_dirs;
  std::vector<std::string> artifacts;  // Patterns below the work dir.
};

struct AskArgs {
  LaunchArgs launch;
  std::string agent;
  std::vector<std::string> agents;  // NAME or NAME:MODEL; set: several attempts, which are compared later.
  std::string prompt;               // "-": standard input.
  std::string permission;
};

struct CompareArgs {
  std::string batch;
  std::string test;  // A command for /bin/sh.
  std::optional<Millis> timeout;
  bool wait = false;
};

struct PrArgs {
  std::string id;
  std::string title, body;  // Empty: the task's own text.
  std::string remote, base, with;
  bool ask = false, draft = false;
};

struct ForkArgs {
  LaunchArgs launch;
  std::string id;
  std::string prompt;  // "-": standard input.
  std::string at;      // The last message to take over; empty: all.
  std::string agent;   // Empty: the task's own.
  std::string permission;
};

struct AttachArgs {
  std::string id;
  std::optional<int> tail;  // Lines of what was said before; absent: all.
};

struct ListArgs {
  std::vector<std::string> status;
  std::string agent, kind, batch, parent, query;
  std::vector<std::string> labels;
  int limit = 30;
  bool waiting = false;
  bool all = false;
  bool watch = false;
  bool archived = false;  // Only these.
  bool pinned = false;    // Only these.
  bool flat = false;      // The tasks of a batch one by one.
  std::string sort;       // Empty: by attention for people, newest first for programs.
  std::string group;      // folder, batch, session; empty: one list.
};

struct EditArgs {
  std::vector<std::string> ids;
  std::string title;
  std::vector<std::string> labels;    // NAME=VALUE
  std::vector<std::string> unlabels;  // NAME
  std::optional<bool> pinned, archived;
};

struct ExportArgs {
  std::string id;
  std::string format = "md";
  std::string out;
};

struct UsageArgs {
  std::string by = "day";
  std::string since, until;  // A day, or a span before now: 7d, 24h.
};

struct TopArgs {};

struct ShowArgs {
  std::string id;
};

struct OutputArgs {
  std::string id;
  bool wait = false;
  bool raw = false;
  std::optional<Millis> timeout;
};

struct LogsArgs {
  std::string id;
  bool follow = false;
  std::optional<int> tail;
  std::optional<int> attempt;
  std::optional<int> run;
  bool setup = false;  // Of what prepared its work tree.
  std::string grep;
  std::string since;  // A time, or how long ago.
  bool only_out = false, only_err = false;
  bool raw = false;
  bool timestamps = false;
};

struct ArtifactsArgs {
  std::string id;
  std::string name;  // Empty: list them.
  std::string out;   // Where it goes; empty: standard output.
  bool preview = false;
  bool gather = false;
};

struct DiffArgs {
  std::string id;
  std::string path;  // Only this file.
  bool stat = false, name_only = false;
};

struct MergeArgs {
  std::string id;
  std::string mode, message;
  bool ask = false;  // The agent, for the message.
  bool discard_others = false;
  bool with_later = false;
  bool undo = false;
};

struct DiscardArgs {
  std::vector<std::string> ids;
  bool restore = false;
};

struct SendArgs {
  std::string id;
  std::string message;  // "-": standard input.
  std::string when;
  Stay stay = Stay::no;
};

struct ResumeArgs {
  std::string id;
  std::string message;
  Stay stay = Stay::no;
};

struct AnswerArgs {
  std::string id;      // Empty: list the open questions.
  std::string answer;  // Empty: show the question.
  std::string request;
  std::string message;
  std::string scope, pattern;  // Of a permission that is allowed: how far.
  bool literal = false;        // A number is no option's.
};

struct CancelArgs {
  std::vector<std::string> ids;
  std::string batch;
  bool all = false;
  std::vector<std::string> status;
  bool no_wait = false;
};

struct RetryArgs {
  std::vector<std::string> ids;
  std::string message;
  Stay stay = Stay::no;
};

struct ClearArgs {
  std::vector<std::string> ids;
  std::string batch, parent;
  bool all = false;
};

struct WaitArgs {
  std::vector<std::string> ids;
  std::string batch;
  bool any = false;
  std::optional<Millis> timeout;
};

enum class BatchAction : uint8_t { list, show, cancel, retry, clear, results, remove };

struct BatchArgs {
  std::string id;
  BatchAction action = BatchAction::show;
};

enum class AgentsAction : uint8_t { list, show, models, add, edit, remove };
struct AgentsArgs {
  AgentsAction action = AgentsAction::list;
  std::string name;   // Of show, models, edit and remove.
  std::string setup;  // Of add and edit: the agent as JSON; "-": standard input.
};

struct SettingsArgs {
  std::vector<std::string> changes;  // NAME=VALUE; none: they are shown.
};

struct ToolArgs {
  std::string name;
  std::string arguments;  // JSON; "-": standard input.
  std::string session, message;
};
struct ToolsArgs {};

struct McpArgs {
  std::string session;
};

enum class TokenAction : uint8_t { create, list, revoke };

struct TokenArgs {
  TokenAction action = TokenAction::list;
  std::string name;  // Of a new one; of one that goes, its id.
  std::string scopes = "read";
  std::optional<Millis> expires;
};

enum class NotifyAction : uint8_t { list, add, test, remove, on, off, rotate, watch };

struct NotifyArgs {
  NotifyAction action = NotifyAction::list;
  std::string id;  // Of a webhook; of a new one, its address ("-": standard input).
  std::string name, shape, content, quiet;
  std::vector<std::string> on;
  std::string token_env;  // The variable with the access token of ntfy.
  bool subtasks = false;
};

struct PhoneArgs {
  std::string scopes;   // Empty: the server's usual ones.
  std::string address;  // Where the phone reaches the page; empty: as the server knows it.
};

struct DeviceArgs {
  std::string revoke;  // The device's id; empty: they are listed.
};

struct QuotaArgs {
  bool clear = false;
  std::string account;  // To clear; empty: all.
};

struct OpenArgs {
  std::string id;  // Of a task to open; empty: the list.
  bool print = false;
};

// errand claude | codex | gemini install | uninstall.
struct AgentInstallArgs {
  std::string program;
  bool install = true;
  bool wake = false;
};

struct HookArgs {};

struct OpencodeArgs {
  bool install = true;
  bool wake = false;
  std::string family;  // Empty: the setting tools.family.
};

struct CompletionArgs {
  std::string shell;  // bash, zsh, fish.
};
struct CompleteArgs {
  std::vector<std::string> line;  // The words after "errand", the last one being typed.
};
struct ManArgs {};

struct InstallArgs {
  bool service = true;  // A unit of the user's systemd.
  bool linger = false;
};
struct UpgradeArgs {
  std::string file;  // The newer program; empty with `undo`.
  bool undo = false;
};
struct UninstallArgs {};

struct SetupArgs {
  // Of a model: any of these is tried, and kept where it answers.
  std::string api, address, model;
  std::string key_from;  // A variable of this shell; "-": standard input.
  std::string agent;     // The default one.
  std::vector<std::string> tools_for;
  bool service = false;

  bool names_model() const { return !(api + address + model + key_from).empty(); }
  // Without options it asks.
  bool asks() const { return !names_model() && agent.empty() && tools_for.empty() && !service; }
};
struct DoctorArgs {};
struct VersionArgs {};
struct StopArgs {};
struct RestartArgs {};
struct StatusArgs {};
struct InboxArgs {};

using VerbArgs =
    std::variant<RunArgs, AskArgs, ForkArgs, AttachArgs, ListArgs, TopArgs, ShowArgs, OutputArgs, LogsArgs,
                 ArtifactsArgs, DiffArgs, MergeArgs, DiscardArgs, CompareArgs, PrArgs, EditArgs, ExportArgs, UsageArgs,
                 SendArgs, ResumeArgs, AnswerArgs, CancelArgs, RetryArgs, ClearArgs, WaitArgs, BatchArgs, AgentsArgs,
                 SettingsArgs, ToolArgs, ToolsArgs, McpArgs, TokenArgs, NotifyArgs, PhoneArgs, DeviceArgs, QuotaArgs,
                 OpenArgs, OpencodeArgs, AgentInstallArgs, HookArgs, CompletionArgs, CompleteArgs, ManArgs, InstallArgs,
                 UpgradeArgs, UninstallArgs, DoctorArgs, VersionArgs, StopArgs, RestartArgs, StatusArgs, InboxArgs,
                 SetupArgs, ServeArgs, SupervisorArgs>;

}  // namespace errand::cli
