#include "cli/cli.h"

#include <signal.h>
#include <string>
#include <variant>
#include <vector>

#include "cli/parse.h"
#include "cli/verbs.h"
#include "cli/wrap.h"

namespace errand::cli {

namespace {

// From what a verb was asked to do to the verb itself.
struct Dispatch {
  Context& context;

  int operator()(const RunArgs& args) { return run(context, args); }
  int operator()(const AskArgs& args) { return ask(context, args); }
  int operator()(const ForkArgs& args) { return fork(context, args); }
  int operator()(const AttachArgs& args) { return attach(context, args); }
  int operator()(const ListArgs& args) { return list(context, args); }
  int operator()(const TopArgs& args) { return top(context, args); }
  int operator()(const ShowArgs& args) { return show(context, args); }
  int operator()(const OutputArgs& args) { return output(context, args); }
  int operator()(const LogsArgs& args) { return logs(context, args); }
  int operator()(const ArtifactsArgs& args) { return artifacts(context, args); }
  int operator()(const DiffArgs& args) { return diff(context, args); }
  int operator()(const MergeArgs& args) { return merge(context, args); }
  int operator()(const DiscardArgs& args) { return discard(context, args); }
  int operator()(const CompareArgs& args) { return compare(context, args); }
  int operator()(const PrArgs& args) { return pr(context, args); }
  int operator()(const SendArgs& args) { return send(context, args); }
  int operator()(const ResumeArgs& args) { return resume(context, args); }
  int operator()(const AnswerArgs& args) { return answer(context, args); }
  int operator()(const CancelArgs& args) { return cancel(context, args); }
  int operator()(const RetryArgs& args) { return retry(context, args); }
  int operator()(const ClearArgs& args) { return clear(context, args); }
  int operator()(const WaitArgs& args) { return wait(context, args); }
  int operator()(const BatchArgs& args) { return batch(context, args); }
  int operator()(const EditArgs& args) { return edit(context, args); }
  int operator()(const ExportArgs& args) { return export_transcript(context, args); }
  int operator()(const UsageArgs& args) { return usage(context, args); }
  int operator()(const AgentsArgs& args) { return agents(context, args); }
  int operator()(const SettingsArgs& args) { return settings(context, args); }
  int operator()(const ToolArgs& args) { return tool(context, args); }
  int operator()(const ToolsArgs& args) { return tools(context, args); }
  int operator()(const McpArgs& args) { return mcp(context, args); }
  int operator()(const TokenArgs& args) { return token(context, args); }
  int operator()(const NotifyArgs& args) { return notify(context, args); }
  int operator()(const PhoneArgs& args) { return phone(context, args); }
  int operator()(const DeviceArgs& args) { return device(context, args); }
  int operator()(const QuotaArgs& args) { return quota(context, args); }
  int operator()(const OpenArgs& args) { return open(context, args); }
  int operator()(const OpencodeArgs& args) { return opencode(context, args); }
  int operator()(const AgentInstallArgs& args) { return agent_install(context, args); }
  int operator()(const HookArgs& args) { return hook(context, args); }
  int operator()(const CompletionArgs& args) { return completion(context, args); }
  int operator()(const CompleteArgs& args) { return complete(context, args); }
  int operator()(const ManArgs& args) { return man(context, args); }
  int operator()(const SetupArgs& args) { return setup(context, args); }
  int operator()(const InstallArgs& args) { return install(context, args); }
  int operator()(const UpgradeArgs& args) { return upgrade(context, args); }
  int operator()(const UninstallArgs& args) { return uninstall(context, args); }
  int operator()(const DoctorArgs& args) { return doctor(context, args); }
  int operator()(const VersionArgs& args) { return version(context, args); }
  int operator()(const StopArgs& args) { return stop(context, args); }
  int operator()(const RestartArgs& args) { return restart(context, args); }
  int operator()(const StatusArgs& args) { return status(context, args); }
  int operator()(const InboxArgs& args) { return inbox(context, args); }
  int operator()(const ServeArgs& args) { return context.programs.serve(args.sources, args.json); }
  int operator()(const SupervisorArgs& args) { return context.programs.supervisor(args.data_dir); }
};

}  // namespace

int main(int argc, char** argv, const Programs& programs) {
  std::expected<Parsed, Stop> parsed = parse(std::vector<std::string>(argv + (argc > 0), argv + argc));
  if (!parsed) {
    const Stop& stop = parsed.error();
    Screen screen({ColourWish::automatic, stop.json, false});
    if (stop.exit != Exit::ok) return screen.fail({Code::invalid_argument, stop.text, "usage"});
    screen.out(screen.out_is_terminal() ? fit_help(stop.text, screen.width()) : stop.text);
    return code(stop.exit);
  }
  // A reader or a server that goes away is met where it is written to.
  ::signal(SIGPIPE, SIG_IGN);
  Context context(parsed->globals, programs);
  return std::visit(Dispatch{context}, parsed->verb);
}

}  // namespace errand::cli
