// errand pr: pushes what a task changed, and opens a pull request for it.
//
// Nothing of the repository's configuration is executed (R16.2): an agent that worked there may have written it. The
// push goes from errand's own store, which has the objects and none of that configuration, to the remote's address; the
// user's own configuration (credentials, ssh) counts as always.
#include <algorithm>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"
#include "cli/commit_text.h"
#include "cli/forge.h"
#include "cli/program.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr Millis publish_patience_ms = 300'000;

// A shell inside of a hook has these: they name another repository.
const std::vector<std::string> foreign = {"GIT_DIR",       "GIT_WORK_TREE",    "GIT_INDEX_FILE",
                                          "GIT_NAMESPACE", "GIT_COMMON_DIR",   "GIT_OBJECT_DIRECTORY",
                                          "GIT_PREFIX",    "GIT_CONFIG_COUNT", "GIT_ALTERNATE_OBJECT_DIRECTORIES"};

// A setting of the repository, read and not acted on; empty where there is none.
std::string setting(const std::string& repo, const std::string& name) {
  const Result<ProgramDone> done =
      run_program({.words = {"git", "-C", repo, "config", "--get", name}, .folder = "/", .unset = foreign});
  return done && done->exit_code == 0 ? std::string(trim(done->out)) : std::string();
}

struct Remote {
  std::string name, url;
};

Result<Remote> find_remote(const std::string& repo, const std::string& target, const std::string& wanted) {
  std::vector<std::string> names = {wanted};
  if (wanted.empty()) {
    names.clear();
    if (!target.empty()) names.push_back(setting(repo, "branch." + target + ".pushRemote"));
    names.push_back(setting(repo, "remote.pushDefault"));
    if (!target.empty()) names.push_back(setting(repo, "branch." + target + ".remote"));
    names.emplace_back("origin");
    const Result<ProgramDone> all =
        run_program({.words = {"git", "-C", repo, "remote"}, .folder = "/", .unset = foreign});
    if (const std::string_view only = all ? trim(all->out) : std::string_view(); !only.contains('\n'))
      names.emplace_back(only);
  }
  for (const std::string& name : names) {
    if (name.empty() || name == ".") continue;
    std::string url = setting(repo, "remote." + name + ".pushurl");
    if (url.empty()) url = setting(repo, "remote." + name + ".url");
    if (!url.empty()) return Remote{name, std::move(url)};
  }
  if (!wanted.empty())
    return fail(Code::not_found, fmt::format("{} has no remote \"{}\". git remote lists them.", repo, wanted),
                "remote");
  return fail(
      Code::not_found,
      fmt::format("{} has no remote to push to. Add one: git -C {} remote add origin URL", repo, shell_words({repo})),
      "remote");
}

struct Published {
  std::string commit, branch, target, repo, git_dir, subject, body;
};

int publish(Context& context, const std::string& id, const PrArgs& args, Published& into) {
  std::string request;
  JsonOut out(request);
  out.object();
  if (!args.title.empty()) out.field("message", args.body.empty() ? args.title : args.title + "\n\n" + args.body);
  out.end();
  context.client.set_patience(publish_patience_ms);
  Result<std::string> reply = context.client.post(task_path(id, "/publish"), request);
  if (!reply) return context.screen.fail(reply.error());
  const std::string made = member(*reply, "publish"), text = member(*reply, "text");
  into = {.commit = member(made, "commit"),
          .branch = member(made, "branch"),
          .target = member(made, "target"),
          .repo = member(made, "repo"),
          .git_dir = member(made, "git_dir"),
          .subject = args.title.empty() ? member(text, "subject") : args.title,
          .body = args.title.empty() && args.body.empty() ? member(text, "body") : args.body};
  say_not_merged(context.screen, made);
  if (into.target == "null") into.target.clear();
  if (into.target.starts_with("refs/heads/")) into.target.erase(0, 11);
  return 0;
}

std::string choose_program(const std::string& wanted, const Forge& forge) {
  if (!wanted.empty()) return wanted;
  if (forge.host.contains("gitlab")) return "glab";
  if (forge.host.contains("github")) return "gh";
  return !on_path("gh") && on_path("glab") ? "glab" : "gh";
}

int print_json(const Screen& screen, const Published& made, const Remote& remote, const std::string& url,
               const std::vector<std::string>& command) {
  std::string text;
  JsonOut out(text);
  out.object().field("branch", made.branch).field("commit", made.commit).field("remote", remote.name);
  out.text_or_null("url", url).key("command").array();
  for (const std::string& word : command) out.value(word);
  out.end().end();
  screen.out_line(text);
  return code(Exit::ok);
}

}  // namespace

int pr(Context& context, const PrArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  Result<Target> server = context.client.target();
  if (!server) return screen.fail(server.error());
  if (!server->local)
    return screen.fail({Code::unsupported,
                        "The task's repository is on the server's machine. Type errand pr there, where your git can "
                        "push.",
                        "remote_server"});
  if (args.ask)
    if (const int exit = ask_for_text(context, *id); exit != 0) return exit;
  Published made;
  if (const int exit = publish(context, *id, args, made); exit != 0) return exit;
  Result<Remote> remote = find_remote(made.repo, made.target, args.remote);
  if (!remote) return screen.fail(remote.error());

  const std::string refspec = made.commit + ":refs/heads/" + made.branch;
  const Result<ProgramDone> pushed =
      run_program({.words = {"git", "--git-dir=" + made.git_dir, "push", "--quiet", "--", remote->url, refspec},
                   .folder = made.repo,
                   .unset = foreign});
  if (!pushed) return screen.fail(pushed.error());
  if (pushed->exit_code != 0)
    return screen.fail(
        {Code::unavailable,
         fmt::format("git could not push to {}. Once it can, type this again, or push by hand: {}",
                     shown_line(remote->name), shell_words({"git", "-C", made.repo, "push", remote->name, refspec})),
         "push"},
        Exit::failed);
  if (!screen.json()) screen.say(fmt::format("pushed {} to {}.", made.branch, shown_line(remote->name)));

  const std::optional<Forge> forge = parse_remote(remote->url);
  if (!forge) {
    if (screen.json()) return print_json(screen, made, *remote, {}, {});
    screen.say(fmt::format("the address of {} names no forge, so there is nowhere to open a pull request.",
                           shown_line(remote->name)));
    return code(Exit::ok);
  }
  const std::string program = choose_program(args.with, *forge);
  const std::vector<std::string> command = forge_command(program, *forge,
                                                         {.branch = made.branch,
                                                          .base = args.base.empty() ? made.target : args.base,
                                                          .title = made.subject,
                                                          .body = made.body,
                                                          .draft = args.draft});
  if (!on_path(program)) {
    if (!screen.json()) screen.out(shell_words(command) + "\n");
    return screen.fail(
        {Code::not_found,
         screen.json() ? fmt::format("{} is not installed. Install it and type: {}", program, shell_words(command))
                       : fmt::format("{} is not installed, so the pull request is not open yet. Install "
                                     "it and type the command above.",
                                     program),
         "no_program"},
        Exit::failed);
  }
  // They ask git where they are: the store, with this one remote.
  const Result<ProgramDone> opened = run_program(
      {.words = command,
       .folder = "/",
       .set = {"GIT_DIR=" + made.git_dir, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote." + remote->name + ".url",
               "GIT_CONFIG_VALUE_0=" + remote->url, "GH_PROMPT_DISABLED=1", "NO_PROMPT=true"},
       .unset = foreign});
  if (!opened || opened->exit_code != 0)
    return screen.fail({Code::unavailable,
                        fmt::format("The branch is pushed, but {} could not open the pull request. Once it can: {}",
                                    program, shell_words(command)),
                        "forge"},
                       Exit::failed);
  // The address is the last line.
  const std::vector<std::string_view> lines = split(trim(opened->out), '\n');
  if (screen.json()) return print_json(screen, made, *remote, std::string(trim(lines.back())), command);
  screen.out_task_text(std::string(trim(opened->out)) + "\n");
  return code(Exit::ok);
}

}  // namespace errand::cli
