#include "cli/parse.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

using Words = std::vector<std::string>;

// The arguments of a line that parses.
template <class Args>
Args args_of(const Words& words) {
  std::expected<Parsed, Stop> parsed = parse(words);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().text;
    return {};
  }
  const Args* args = std::get_if<Args>(&parsed->verb);
  EXPECT_TRUE(args);
  return args ? *args : Args{};
}

Stop stop_of(const Words& words) {
  std::expected<Parsed, Stop> parsed = parse(words);
  EXPECT_FALSE(parsed);
  return parsed ? Stop{} : parsed.error();
}

TEST(Parse, ACommandsWordsAreItsOwn) {
  RunArgs args = args_of<RunArgs>({"run", "--title", "x", "--", "ls", "-l", "--title", "--help", "--"});
  EXPECT_EQ(args.launch.title, "x");
  EXPECT_EQ(args.command, (Words{"ls", "-l", "--title", "--help", "--"}));
}

TEST(Parse, ACommandNeedsNoDashes) {
  RunArgs args = args_of<RunArgs>({"run", "-t", "x", "--wait", "make", "-j4", "--wait"});
  EXPECT_EQ(args.command, (Words{"make", "-j4", "--wait"}));
  EXPECT_EQ(args.launch.stay, Stay::wait);
}

TEST(Parse, OnlyTheLinesOfACommandAreWatched) {
  RunArgs args = args_of<RunArgs>({"run", "--notify-on", "ready", "--notify-on", "/err/i", "--", "make"});
  EXPECT_EQ(args.launch.notify_on, (Words{"ready", "/err/i"}));
  EXPECT_EQ(stop_of({"ask", "--notify-on", "ready", "x"}).exit, Exit::usage);
}

TEST(Parse, GlobalOptionsStandAnywhere) {
  for (const Words& words :
       {Words{"--json", "--data-dir", "/tmp/d", "list"}, Words{"list", "--json", "--data-dir", "/tmp/d"},
        Words{"list", "--data-dir=/tmp/d", "--json"}}) {
    std::expected<Parsed, Stop> parsed = parse(words);
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->globals.screen.json);
    EXPECT_EQ(parsed->globals.data_dir, "/tmp/d");
  }
}

TEST(Parse, EveryFlagOfALaunch) {
  AskArgs args = args_of<AskArgs>({"ask",
                                   "fix",
                                   "the",
                                   "tests",
                                   "--agent",
                                   "demo",
                                   "-C",
                                   "/w",
                                   "-e",
                                   "A=1",
                                   "--env",
                                   "B=2",
                                   "--pass-env",
                                   "HOME",
                                   "--batch",
                                   "new",
                                   "--timeout",
                                   "5m",
                                   "--idle-timeout",
                                   "0",
                                   "--priority",
                                   "-5",
                                   "--label",
                                   "k=v",
                                   "--parent",
                                   "ses_1",
                                   "--retention",
                                   "1d",
                                   "--on-hang",
                                   "restart",
                                   "--max-restarts",
                                   "2",
                                   "--progress-every",
                                   "1m",
                                   "--follow"});
  EXPECT_EQ(args.prompt, "fix the tests");
  EXPECT_EQ(args.agent, "demo");
  EXPECT_EQ(args.launch.env, (Words{"A=1", "B=2"}));
  EXPECT_EQ(args.launch.pass_env, Words{"HOME"});
  EXPECT_EQ(args.launch.timeout, 300'000);
  EXPECT_EQ(args.launch.idle_timeout, 0);
  EXPECT_EQ(args.launch.priority, -5);
  EXPECT_EQ(args.launch.retention, 86'400'000);
  EXPECT_EQ(args.launch.on_hang, "restart");
  EXPECT_EQ(args.launch.max_restarts, 2);
  EXPECT_EQ(args.launch.progress_every, 60'000);
  EXPECT_EQ(args.launch.stay, Stay::follow);
}

TEST(Parse, ADashIsStandardInput) { EXPECT_EQ(args_of<AskArgs>({"ask", "-"}).prompt, "-"); }

TEST(Parse, StatesAreAList) {
  EXPECT_EQ(args_of<ListArgs>({"list", "--status", "running,pending"}).status, (Words{"running", "pending"}));
  EXPECT_EQ(args_of<ListArgs>({"ls", "-n", "5"}).limit, 5);
}

TEST(Parse, TheServersFlags) {
  const SettingsSources sources =
      args_of<ServeArgs>({"serve", "--listen", "127.0.0.1:0", "--data-dir", "/d", "--max-concurrent", "7",
                          "--behind-proxy", "--allow-host", "a", "--allow-host", "b"})
          .sources;
  EXPECT_EQ(sources.data_dir, "/d");
  std::vector<std::pair<std::string, std::string>> flags = sources.flags;
  std::ranges::sort(flags);
  EXPECT_EQ(flags, (std::vector<std::pair<std::string, std::string>>{{"allow_hosts", "a"},
                                                                     {"allow_hosts", "b"},
                                                                     {"behind_proxy", "true"},
                                                                     {"listen", "127.0.0.1:0"},
                                                                     {"max_concurrent", "7"}}));
  EXPECT_FALSE(sources.config);
  EXPECT_EQ(stop_of({"serve", "--log-level", "loud"}).exit, Exit::usage);
}

TEST(Parse, UsageErrorsAreExit2AndSayWhereToLook) {
  for (const Words& words :
       {Words{"list", "--limit", "0"}, Words{"list", "--status", "bogus"}, Words{"show"}, Words{"run"},
        Words{"run", "--"}, Words{"--bogus"}, Words{"list", "extra"}, Words{"ask", "x", "--timeout", "soon"},
        Words{"ask", "x", "--wait", "--follow"}, Words{"serve", "--max-concurrent", "0"}}) {
    Stop stop = stop_of(words);
    EXPECT_EQ(stop.exit, Exit::usage) << words[0];
    EXPECT_NE(stop.text.find("errand help"), std::string::npos) << stop.text;
  }
}

TEST(Parse, AMistypedVerbOrOptionIsGuessed) {
  EXPECT_NE(stop_of({"lsit"}).text.find("did you mean list?"), std::string::npos);
  EXPECT_NE(stop_of({"canc"}).text.find("did you mean cancel?"), std::string::npos);
  EXPECT_NE(stop_of({"list", "--limt", "3"}).text.find("did you mean --limit?"), std::string::npos);
  EXPECT_NE(stop_of({"run", "--titel=x", "true"}).text.find("did you mean --title?"), std::string::npos);
  EXPECT_EQ(stop_of({"xyzzy"}).text.find("did you mean"), std::string::npos);
}

TEST(Parse, HelpIsForEverybody) {
  for (const Words& words : {Words{}, Words{"help"}, Words{"--help"}, Words{"-h"}}) {
    Stop stop = stop_of(words);
    EXPECT_EQ(stop.exit, Exit::ok);
    EXPECT_NE(stop.text.find("Usage: errand VERB"), std::string::npos);
    EXPECT_EQ(stop.text.find("supervisor"), std::string::npos) << "people need not know it";
  }
  for (const char* verb :
       {"run",  "ask",    "list",  "show",  "output", "logs",  "artifacts", "send", "resume", "answer", "attach",
        "fork", "cancel", "retry", "clear", "wait",   "batch", "agents",    "open", "serve",  "doctor", "version"}) {
    Stop by_flag = stop_of({verb, "--help"});
    EXPECT_EQ(by_flag.exit, Exit::ok) << verb;
    EXPECT_NE(by_flag.text.find("Example:"), std::string::npos) << verb;
    EXPECT_EQ(stop_of({"help", verb}).text, by_flag.text) << verb;
  }
}

TEST(Parse, ForkAndAttach) {
  const ForkArgs fork =
      args_of<ForkArgs>({"fork", "01jc", "try", "again", "--at", "msg_1", "--agent", "demo", "--wait"});
  EXPECT_EQ(fork.id, "01jc");
  EXPECT_EQ(fork.prompt, "try again");
  EXPECT_EQ(fork.at, "msg_1");
  EXPECT_EQ(fork.agent, "demo");
  EXPECT_EQ(fork.launch.stay, Stay::wait);
  EXPECT_EQ(stop_of({"fork", "01jc"}).exit, Exit::usage);
  EXPECT_EQ(stop_of({"fork", "01jc", "x", "--parent", "ses_1"}).exit, Exit::usage)
      << "its parent is the task's session";
  EXPECT_EQ(args_of<AttachArgs>({"attach", "01jc", "--tail", "5"}).tail, 5);
}

TEST(Parse, Quota) {
  EXPECT_FALSE(args_of<QuotaArgs>({"quota"}).clear);
  EXPECT_FALSE(args_of<QuotaArgs>({"quota", "list"}).clear);
  EXPECT_TRUE(args_of<QuotaArgs>({"quota", "clear"}).clear);
  EXPECT_EQ(args_of<QuotaArgs>({"quota", "clear", "builtin/m"}).account, "builtin/m");
  EXPECT_FALSE(parse({"quota", "builtin/m"}));
  EXPECT_FALSE(parse({"quota", "list", "builtin/m"}));
}

TEST(Parse, VersionByFlag) { args_of<VersionArgs>({"--version"}); }

TEST(Parse, TheDataFolderComesFromTheEnvironment) {
  ::setenv("XDG_DATA_HOME", "/xdg", 1);
  ::unsetenv("ERRAND_DATA_DIR");
  EXPECT_EQ(parse({"list"})->globals.data_dir, "/xdg/errand");
  ::setenv("ERRAND_DATA_DIR", "/own/", 1);
  EXPECT_EQ(parse({"list"})->globals.data_dir, "/own");
  ::unsetenv("ERRAND_DATA_DIR");
  ::unsetenv("XDG_DATA_HOME");
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(parse({"list"})->globals.data_dir, "/home/u/.local/share/errand");
}

TEST(DidYouMean, SwappedMissingAndExtraLetters) {
  Words known = {"list", "logs", "cancel", "clear"};
  EXPECT_EQ(did_you_mean("lits", known), "list");
  EXPECT_EQ(did_you_mean("log", known), "logs");
  EXPECT_EQ(did_you_mean("cancell", known), "cancel");
  EXPECT_EQ(did_you_mean("frobnicate", known), "");
}

}  // namespace
}  // namespace errand::cli
