#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fields.h"
#include "base/text.h"
#include "driver/builtin/tools/tool_bench_test.h"
#include "model/model.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

struct FileTools : testing::Test {
  ToolBench bench;
  const TestFolder& work = bench.work;
  std::unique_ptr<Tool> read = make_read(bench.parts), write = make_write(bench.parts), edit = make_edit(bench.parts),
                        list = make_list(bench.parts), glob = make_glob(bench.parts), grep = make_grep(bench.parts);

  std::string good(Tool& tool, const std::string& input) {
    const ToolOutcome outcome = bench.call(tool, input);
    EXPECT_FALSE(outcome.is_error) << input << ": " << outcome.output;
    EXPECT_TRUE(is_utf8(outcome.output));
    EXPECT_LE(count_characters(outcome.output), tool_output_max);
    return outcome.output;
  }
  std::string bad(Tool& tool, const std::string& input) {
    const ToolOutcome outcome = bench.call(tool, input);
    EXPECT_TRUE(outcome.is_error) << input << ": " << outcome.output;
    return outcome.output;
  }
  Tool::Need need(Tool& tool, const std::string& input) {
    const Result<Tool::Prepared> prepared = tool.prepare(bench.context, input);
    EXPECT_TRUE(prepared) << prepared.error().message;
    return prepared ? prepared->need : Tool::Need{};
  }
};

TEST_F(FileTools, AWrongCallIsToldInWords) {
  EXPECT_EQ(bad(*read, "{}"), "`path` must be given.");
  EXPECT_EQ(bad(*read, R"({"path":1})"), "`path` must be a text.");
  EXPECT_EQ(bad(*read, R"({"path":"a","lines":3})"), "Unknown field `lines`. Known here: path, offset, limit.");
  EXPECT_EQ(bad(*read, R"([1])"), "The arguments must be a JSON object, as the tool's schema says.");
  EXPECT_TRUE(bad(*read, R"({"path":)").starts_with("The arguments are not valid JSON")) << bad(*read, "{");
  EXPECT_EQ(bad(*read, R"({"path":"a","offset":0})").substr(0, 40), "`offset` must be a whole number from 1 t");
  EXPECT_EQ(bad(*edit, R"({"path":"a","old_string":"x"})"), "`new_string` must be given.");
  EXPECT_EQ(bad(*glob, R"({"pattern":"/etc/*"})"), "`pattern` must be relative; give the folder in `path`.");
  EXPECT_TRUE(bad(*grep, R"({"pattern":"("})").contains("is not a regular expression"));
}

TEST_F(FileTools, ReadShowsLinesWithNumbers) {
  work.write("a.txt", "one\ntwo\r\n你好\n\nlast");
  EXPECT_EQ(good(*read, R"({"path":"a.txt"})"), "     1\tone\n     2\ttwo\n     3\t你好\n     4\t\n     5\tlast\n");
  EXPECT_EQ(good(*read, R"({"path":"a.txt","offset":2,"limit":1})"),
            "     2\ttwo\n[the file goes on; read it from offset 3 for more]\n");
  EXPECT_EQ(bad(*read, R"({"path":"a.txt","offset":9})"), "The file has 5 lines; offset 9 is behind them.");
  work.write("empty", "");
  EXPECT_EQ(good(*read, R"({"path":"empty"})"), "The file is empty.");
}

TEST_F(FileTools, ReadIsBoundedWhateverTheFileIs) {
  work.write("long", std::string(1 << 20, 'x') + "\nshort\n");
  const std::string text = good(*read, R"({"path":"long"})");
  EXPECT_TRUE(text.contains("more bytes of this line]\n     2\tshort\n")) << text.substr(1990, 200);
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += fmt::format("line {}\n", i);
  work.write("many", many);
  EXPECT_TRUE(good(*read, R"({"path":"many","limit":10000})").contains("[the file goes on; read it from offset "));
  EXPECT_TRUE(good(*read, R"({"path":"many","offset":49999})").contains("line 49998\n"));
  work.write("bytes", "\xff\xfe bad \xc3\n");
  EXPECT_EQ(good(*read, R"({"path":"bytes"})"), "     1\t\xef\xbf\xbd\xef\xbf\xbd bad \xef\xbf\xbd\n");
  work.write("binary", std::string("\x7f"
                                   "ELF\0\0\0",
                                   7));
  EXPECT_TRUE(bad(*read, R"({"path":"binary"})").starts_with("This is not text but "));
  work.write("image.png", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0", 29));
  EXPECT_TRUE(bad(*read, R"({"path":"image.png"})").starts_with("This is not text but "));
}

TEST_F(FileTools, WhatIsNoFileIsSaid) {
  fs::create_directory(work / "folder");
  ASSERT_EQ(::mkfifo((work / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(bad(*read, R"({"path":"folder"})").contains("a folder"));
  EXPECT_TRUE(bad(*read, R"({"path":"."})").contains("a folder"));
  EXPECT_TRUE(bad(*read, R"({"path":"pipe"})").contains("a fifo"));
  EXPECT_TRUE(bad(*read, R"({"path":"none"})").contains("no file of this name"));
  EXPECT_TRUE(bad(*list, R"({"path":"none"})").contains("no folder of this name"));
}

TEST_F(FileTools, InsideNobodyIsAskedToReadAndSomebodyToWrite) {
  work.write("src/a.cc", "x");
  EXPECT_FALSE(need(*read, R"({"path":"src/a.cc"})").ask);
  EXPECT_FALSE(need(*read, R"({"path":"src/../src/./a.cc"})").ask);
  EXPECT_FALSE(need(*read, fmt::format(R"({{"path":"{}/src/a.cc"}})", work.path())).ask);
  EXPECT_FALSE(need(*list, "{}").ask);
  EXPECT_FALSE(need(*grep, R"({"pattern":"x"})").ask);
  good(*read, R"({"path":"src/a.cc"})");
  const Tool::Need asks = need(*write, R"({"path":"./src//a.cc","content":""})");
  EXPECT_TRUE(asks.ask);
  EXPECT_EQ(asks.subject, "src/a.cc");
}

TEST_F(FileTools, OutsideIsAskedForByItsRealPath) {
  TestFolder other;
  other.write("secret", "s3cret");
  fs::create_symlink(other / "secret", work / "link");
  fs::create_directory_symlink(other.path(), work / "out");
  const std::string real = fs::canonical(other / "secret");
  for (const std::string& path :
       {real, std::string("link"), std::string("out/secret"), "../" + other.path().substr(5) + "/secret"}) {
    const std::string input = fmt::format(R"({{"path":"{}"}})", path);
    const Tool::Need asks = need(*read, input);
    EXPECT_TRUE(asks.ask) << path;
    EXPECT_EQ(asks.subject, real) << path;
    // Without a word, and with a word about another file, nothing is read.
    EXPECT_TRUE(bench.run(*read, bench.context, input).is_error) << path;
    ToolContext wrong = bench.context;
    wrong.permitted = real + "2";
    EXPECT_TRUE(bench.run(*read, wrong, input).is_error) << path;
    EXPECT_EQ(good(*read, input), "     1\ts3cret\n") << path;
  }
  EXPECT_TRUE(need(*grep, R"({"pattern":"x","path":"out"})").ask);
  EXPECT_EQ(need(*write, R"({"path":"out/new","content":""})").subject, fs::canonical(other.path()).string() + "/new");
}

// Between the question and the act the name comes to mean another file.
TEST_F(FileTools, ALinkThatIsSwappedLeadsNowhere) {
  TestFolder other;
  other.write("victim", "safe");
  work.write("sub/a", "mine");
  const std::string input = R"({"path":"sub/a","content":"evil"})";
  bench.call(*read, R"({"path":"sub/a"})");
  Result<Tool::Prepared> prepared = write->prepare(bench.context, input);
  ASSERT_TRUE(prepared);
  fs::rename(work / "sub", work / "was");
  other.write("a", "theirs");
  fs::create_directory_symlink(other.path(), work / "sub");
  ToolContext with = bench.context;
  with.permitted = prepared->need.subject;
  EXPECT_TRUE(bench.run(*prepared, with).output.contains("is not what was asked for"));
  EXPECT_TRUE(bench.run(*write, with, input).is_error);
  EXPECT_TRUE(bench.run(*read, bench.context, R"({"path":"sub/a"})").is_error);
  EXPECT_EQ(content_of(other / "a"), "theirs");
}

TEST_F(FileTools, ALinkThatStaysInsideIsAFileLikeAnother) {
  work.write("real/a", "text\n");
  fs::create_symlink("real/a", work / "link");
  EXPECT_FALSE(need(*read, R"({"path":"link"})").ask);
  EXPECT_EQ(good(*read, R"({"path":"link"})"), "     1\ttext\n");
  good(*edit, R"({"path":"link","old_string":"text","new_string":"new"})");
  EXPECT_EQ(content_of(work / "real/a"), "new\n");
  EXPECT_TRUE(fs::is_symlink(work / "link"));
}

TEST_F(FileTools, AddDirsAreInside) {
  TestFolder more;
  more.write("a", "x\n");
  const std::string input = fmt::format(R"({{"path":"{}"}})", more / "a");
  EXPECT_TRUE(need(*read, input).ask);
  bench.edit_task([&](Task& task) { task.launch.add_dirs = {more.path()}; });
  EXPECT_FALSE(need(*read, input).ask);
  EXPECT_EQ(good(*read, input), "     1\tx\n");
}

// R12.2: where the work dir is the home folder, keys and errand's own files are in it.
TEST_F(FileTools, SecretsAndErrandsOwnFilesAreAskedForEvenInside) {
  work.write("home/.ssh/id_ed25519", "KEY\n");
  work.write("home/notes", "KEY\n");
  work.write("data/token", "KEY\n");
  FileParts parts = bench.parts;
  parts.places.data_dir = work / "data";
  const auto reader = make_read(parts), searcher = make_grep(parts), finder = make_glob(parts);
  EXPECT_TRUE(need(*reader, R"({"path":"home/.ssh/id_ed25519"})").ask);
  EXPECT_TRUE(need(*reader, R"({"path":"~/.ssh/id_ed25519"})").ask);
  EXPECT_TRUE(need(*reader, R"({"path":"data/token"})").ask);
  EXPECT_FALSE(need(*reader, R"({"path":"home/notes"})").ask);
  EXPECT_EQ(good(*searcher, R"({"pattern":"KEY"})"), "home/notes:1:KEY\n");
  EXPECT_EQ(good(*finder, R"({"pattern":"**/token"})"), "No file matches **/token in ..\n");
  // What the task's own commands printed, and its artifacts, are its own.
  work.write("data/run/task_01__bash_ab.1/log", "printed\n");
  work.write("data/run/task_02__bash_ab.1/log", "another's\n");
  work.write("data/artifacts/task_01/a", "made\n");
  EXPECT_FALSE(need(*reader, R"({"path":"data/run/task_01__bash_ab.1/log"})").ask);
  EXPECT_TRUE(need(*reader, R"({"path":"data/run/task_02__bash_ab.1/log"})").ask);
  EXPECT_TRUE(need(*reader, R"({"path":"data/run"})").ask);
  EXPECT_FALSE(need(*reader, R"({"path":"data/artifacts/task_01/a"})").ask);
}

TEST_F(FileTools, WriteMakesAndReplacesWhatWasRead) {
  EXPECT_EQ(good(*write, R"({"path":"new/deep/a.txt","content":"one\ntwo\n"})"),
            "Made new/deep/a.txt: 2 lines, 8 bytes.");
  EXPECT_EQ(content_of(work / "new/deep/a.txt"), "one\ntwo\n");
  // What it wrote itself it has seen.
  EXPECT_EQ(good(*write, R"({"path":"new/deep/a.txt","content":"x"})"), "Replaced new/deep/a.txt: 1 lines, 1 bytes.");
  work.write("theirs", "precious");
  EXPECT_TRUE(bad(*write, R"({"path":"theirs","content":"x"})").contains("have not read"));
  EXPECT_EQ(content_of(work / "theirs"), "precious");
  good(*read, R"({"path":"theirs"})");
  work.write("theirs", "precious, and changed");
  EXPECT_TRUE(bad(*write, R"({"path":"theirs","content":"x"})").contains("has changed since you read it"));
  EXPECT_EQ(content_of(work / "theirs"), "precious, and changed");
  EXPECT_TRUE(bad(*write, R"({"path":".","content":"x"})").contains("folder"));
}

TEST_F(FileTools, EditReplacesExactlyOnePlace) {
  work.write("a.cc", "int a = 1;\nint b = 1;\nint c = 2;\n");
  EXPECT_TRUE(bad(*edit, R"({"path":"a.cc","old_string":"2","new_string":"3"})").contains("have not read"));
  good(*read, R"({"path":"a.cc"})");
  EXPECT_EQ(good(*edit, R"({"path":"a.cc","old_string":"c = 2","new_string":"c = 3"})"),
            "Changed one place in a.cc. Now it reads:\n     1\tint a = 1;\n     2\tint b = 1;\n     3\tint c = 3;\n    "
            " 4\t\n");
  EXPECT_TRUE(bad(*edit, R"({"path":"a.cc","old_string":"= 1","new_string":"= 5"})").contains("occurs 2 times"));
  good(*edit, R"({"path":"a.cc","old_string":"= 1","new_string":"= 5","replace_all":true})");
  EXPECT_EQ(content_of(work / "a.cc"), "int a = 5;\nint b = 5;\nint c = 3;\n");
  EXPECT_TRUE(bad(*edit, R"({"path":"a.cc","old_string":"nope","new_string":""})").contains("is not in the file"));
  work.write("a.cc", "somebody else was here\n");
  EXPECT_TRUE(bad(*edit, R"({"path":"a.cc","old_string":"else","new_string":""})").contains("has changed"));
}

TEST_F(FileTools, NobodyIsAskedForWhatCannotBeDone) {
  TestFolder other;
  work.write("a.cc", "one\n");
  other.write("secret", "s3cret");
  const auto refusal = [&](Tool& tool, const std::string& input) {
    const Result<Tool::Prepared> prepared = tool.prepare(bench.context, input);
    return prepared ? std::string("asks") : prepared.error().message;
  };
  const std::string one_to_two = R"({"path":"a.cc","old_string":"one","new_string":"two"})";
  EXPECT_TRUE(refusal(*edit, one_to_two).contains("have not read")) << refusal(*edit, one_to_two);
  EXPECT_TRUE(refusal(*write, R"({"path":"a.cc","content":"x"})").contains("have not read"));
  EXPECT_TRUE(refusal(*edit, R"({"path":"none","old_string":"a","new_string":"b"})").contains("no file"));
  good(*read, R"({"path":"a.cc"})");
  EXPECT_EQ(refusal(*edit, one_to_two), "asks");
  EXPECT_TRUE(refusal(*edit, R"({"path":"a.cc","old_string":"five","new_string":"b"})").contains("is not in the file"));
  EXPECT_EQ(refusal(*write, R"({"path":"a.cc","content":"x"})"), "asks");
  // What is outside is not looked at before somebody has allowed it.
  for (const std::string& path : {other / "secret", other / "nothing"})
    EXPECT_EQ(refusal(*edit, fmt::format(R"({{"path":"{}","old_string":"s3","new_string":"b"}})", path)), "asks");
  // A question that is open since before a restart is left to whoever answers it.
  work.write("a.cc", "changed\n");
  EXPECT_TRUE(refusal(*edit, one_to_two).contains("has changed"));
  bench.edit_task([&](Task& task) { task.asks.push_back({.request_id = bench.context.call_id}); });
  EXPECT_EQ(refusal(*edit, one_to_two), "asks");
}

// The sandbox of the launch holds for the tools that are outside of it too.
TEST_F(FileTools, InASandboxGitsHooksAndWhatIsOutsideStay) {
  TestFolder other;
  work.write(".git/config", "x");
  bench.edit_task([](Task& task) { task.launch.sandbox = Sandbox::workspace; });
  for (const std::string& path : {std::string(".git/hooks/pre-commit"), std::string(".git/config"), other / "new"})
    EXPECT_TRUE(bad(*write, fmt::format(R"({{"path":"{}","content":"x"}})", path)).contains("sandbox")) << path;
  good(*write, R"({"path":"a","content":"x"})");
}

TEST_F(FileTools, ListShowsWhatThereIs) {
  work.write("b.txt", "12345");
  work.write("sub/x", "");
  fs::create_symlink("b.txt", work / "link");
  fs::permissions(work / "b.txt", fs::perms::owner_all);
  EXPECT_EQ(good(*list, "{}"), "b.txt  5 bytes, executable\nlink -> b.txt\nsub/\n");
  EXPECT_EQ(good(*list, R"({"path":"sub"})"), "x  0 bytes\n");
  fs::create_directory(work / "empty");
  EXPECT_EQ(good(*list, R"({"path":"empty"})"), "empty is empty.");
  for (int i = 0; i < 1'200; ++i) work.write(fmt::format("many/{}", i), "");
  EXPECT_TRUE(good(*list, R"({"path":"many"})").contains("[200 more names"));
}

TEST_F(FileTools, GlobFindsTheNewestFirstAndLeavesIgnoredOut) {
  work.write(".gitignore", "/build/\n*.log\n!keep.log\n");
  work.write("a.cc", "");
  work.write("src/b.cc", "");
  work.write("build/c.cc", "");
  work.write("src/x.log", "");
  work.write("src/keep.log", "");
  work.write("src/.gitignore", "b2.cc\n");
  work.write("src/b2.cc", "");
  work.write(".hidden/d.cc", "");
  work.write(".git/e.cc", "");
  fs::last_write_time(work / "src/b.cc", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(good(*glob, R"({"pattern":"**/*.cc"})"), "src/b.cc\na.cc\n");
  EXPECT_EQ(good(*glob, R"({"pattern":"*.cc","path":"src"})"), "src/b.cc\n");
  EXPECT_EQ(good(*glob, R"({"pattern":"**/*.log"})"), "src/keep.log\n");
  EXPECT_EQ(good(*glob, R"({"pattern":".hidden/*"})"), ".hidden/d.cc\n");
  EXPECT_TRUE(good(*glob, R"({"pattern":"**/*.cc","ignored":true})").contains("build/c.cc"));
}

TEST_F(FileTools, GrepShowsMatchingLines) {
  work.write("a.cc", "int one;\n  // two\nint three;\nend");
  work.write("b/c.h", "#define TWO 2\n");
  work.write("b/binary", std::string("two\0two", 7));
  work.write("node_modules/x.cc", "two\n");
  work.write(".gitignore", "node_modules\n");
  work.write(".github/w.yml", "two: 2\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"two"})"), ".github/w.yml:1:two: 2\na.cc:2:  // two\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"two","ignore_case":true,"glob":"*.h"})"), "b/c.h:1:#define TWO 2\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"^int \\w+;$"})"), "a.cc:1:int one;\na.cc:3:int three;\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"two","path":"a.cc","context":1})"),
            "a.cc-1-int one;\na.cc:2:  // two\na.cc-3-int three;\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"int","mode":"files"})"), "a.cc\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"int","mode":"count"})"), "a.cc: 2\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"e;\\s+//"})").substr(0, 16), "No line matches ");
  EXPECT_EQ(good(*grep, R"({"pattern":"// t","literal":true})"), "a.cc:2:  // two\n");
  EXPECT_TRUE(good(*grep, R"({"pattern":"[a-z]","limit":2})").contains("[more lines match"));
}

TEST_F(FileTools, GrepShowsEachLineOnceHoweverTheContextsMeet) {
  work.write("a", "1\n2 x\n3\n4 x\n5\n6\n7\n8\n9 x\n");
  EXPECT_EQ(good(*grep, R"({"pattern":"x","context":1})"),
            "a-1-1\na:2:2 x\na-3-3\na:4:4 x\na-5-5\n--\na-8-8\na:9:9 x\n");
}

TEST_F(FileTools, GrepIsBoundedInALongLineAndALargeTree) {
  work.write("long", std::string(3 << 20, 'a') + "needle" + std::string(1 << 20, 'b'));
  const std::string text = good(*grep, R"({"pattern":"needle"})");
  EXPECT_TRUE(text.starts_with("long:1:aaa")) << text.substr(0, 100);
  EXPECT_LT(text.size(), 2'000u);
  for (int i = 0; i < 300; ++i) work.write(fmt::format("d/{}", i), std::string(200, 'z') + "needle\n");
  EXPECT_TRUE(good(*grep, R"({"pattern":"needle","limit":2000})").contains("[more lines match"));
}

TEST_F(FileTools, ACallThatIsGivenUpTellsNothing) {
  work.write("a", "x");
  bool told = false;
  auto run = read->prepare(bench.context, R"({"path":"a"})")->run(bench.context, [&](ToolOutcome) { told = true; });
  run.reset();
  good(*read, R"({"path":"a"})");
  EXPECT_FALSE(told);
}

TEST_F(FileTools, HaveSpecsThatModelsTake) {
  for (const Tool* tool : {read.get(), write.get(), edit.get(), list.get(), glob.get(), grep.get()}) {
    EXPECT_FALSE(tool->spec().description.empty());
    EXPECT_TRUE(Document::parse(tool->spec().input_schema)) << tool->spec().name;
  }
  EXPECT_EQ(read->summary(R"({"path":"a\nb","offset":3})"), "");
  EXPECT_EQ(read->summary(R"({"path":"a","offset":3})"), "a from line 3");
  EXPECT_EQ(grep->summary(R"({"pattern":"x","path":"src"})"), "x in src");
  EXPECT_EQ(write->summary("not json"), "");
}

}  // namespace
}  // namespace errand::builtin
