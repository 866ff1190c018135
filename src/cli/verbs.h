// The verbs, one file each. Each returns the process's exit code and has said everything that is to be said.
#pragma once

#include "cli/args.h"
#include "cli/context.h"

namespace errand::cli {

int run(Context& context, const RunArgs& args);
int ask(Context& context, const AskArgs& args);
int fork(Context& context, const ForkArgs& args);
int attach(Context& context, const AttachArgs& args);
int list(Context& context, const ListArgs& args);
int top(Context& context, const TopArgs& args);
int show(Context& context, const ShowArgs& args);
int output(Context& context, const OutputArgs& args);
int logs(Context& context, const LogsArgs& args);
int artifacts(Context& context, const ArtifactsArgs& args);
int diff(Context& context, const DiffArgs& args);
int merge(Context& context, const MergeArgs& args);
int discard(Context& context, const DiscardArgs& args);
int compare(Context& context, const CompareArgs& args);
int pr(Context& context, const PrArgs& args);
int send(Context& context, const SendArgs& args);
int resume(Context& context, const ResumeArgs& args);
int answer(Context& context, const AnswerArgs& args);
int cancel(Context& context, const CancelArgs& args);
int retry(Context& context, const RetryArgs& args);
int clear(Context& context, const ClearArgs& args);
int wait(Context& context, const WaitArgs& args);
int batch(Context& context, const BatchArgs& args);
int edit(Context& context, const EditArgs& args);
int export_transcript(Context& context, const ExportArgs& args);
int usage(Context& context, const UsageArgs& args);
int agents(Context& context, const AgentsArgs& args);
int settings(Context& context, const SettingsArgs& args);
int tool(Context& context, const ToolArgs& args);
int tools(Context& context, const ToolsArgs& args);
int mcp(Context& context, const McpArgs& args);
int token(Context& context, const TokenArgs& args);
int notify(Context& context, const NotifyArgs& args);
// Until it is interrupted: tells this terminal and the desktop what needs a person.
int notify_watch(Context& context);
int phone(Context& context, const PhoneArgs& args);
int device(Context& context, const DeviceArgs& args);
int quota(Context& context, const QuotaArgs& args);
int open(Context& context, const OpenArgs& args);
int opencode(Context& context, const OpencodeArgs& args);
int agent_install(Context& context, const AgentInstallArgs& args);
int hook(Context& context, const HookArgs& args);
int completion(Context& context, const CompletionArgs& args);
int complete(Context& context, const CompleteArgs& args);
int man(Context& context, const ManArgs& args);
int setup(Context& context, const SetupArgs& args);
int install(Context& context, const InstallArgs& args);
int upgrade(Context& context, const UpgradeArgs& args);
int uninstall(Context& context, const UninstallArgs& args);
int doctor(Context& context, const DoctorArgs& args);
int version(Context& context, const VersionArgs& args);
int stop(Context& context, const StopArgs& args);
int restart(Context& context, const RestartArgs& args);
int status(Context& context, const StatusArgs& args);
int inbox(Context& context, const InboxArgs& args);

}  // namespace errand::cli
