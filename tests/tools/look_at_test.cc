// look_at (R8.7): logs, artifacts, results and transcripts, bounded, and nothing outside the task's own files.
#include <fstream>

#include "tests/tools/tool_world.h"

namespace errand::tools {
namespace {

class LookAt : public ToolTest {
 protected:
  std::string run(const std::string& log) {
    commands->log = log;
    const std::string id = good("background_execute", R"({"command":"make"})").id();
    pass_until_rest(id);
    return id;
  }
  void leave(const std::string& name, const std::string& text) { std::ofstream(commands->folder + "/" + name) << text; }
};

TEST_F(LookAt, ReadsTheLogOfACommandWithoutItsEscapes) {
  const std::string id = run("one\n\x1b[31mtwo\x1b[0m\nthree\n");
  const Answer whole = good("look_at", about(id));
  EXPECT_EQ(whole.text, "one\ntwo\nthree\n");
  EXPECT_EQ(whole.at("path"), "run-1.log");
  EXPECT_EQ(good("look_at", about(id, R"(,"tail":1)")).at("text"), "three\n");
  const Answer found = good("look_at", about(id, R"(,"grep":"two")"));
  EXPECT_EQ(found.data.at("matches").as_int64(), 1);
  EXPECT_NE(found.text.find("two"), std::string::npos);
  EXPECT_EQ(found.text.find("three"), std::string::npos);
  EXPECT_EQ(good("look_at", about(id, R"(,"path":"run-1.log")")).text, whole.text);
  EXPECT_NE(bad("look_at", about(id, R"(,"path":"run-7.log")")).text.find("artifacts"), std::string::npos);
}

TEST_F(LookAt, PagesThroughALongLog) {
  std::string log;
  for (int i = 0; i < 20'000; ++i) log += "line " + std::to_string(i) + "\n";
  const std::string id = run(log);
  std::string seen;
  int64_t offset = 0;
  for (int pages = 0; pages < 100; ++pages) {
    const Answer page = good("look_at", about(id, R"(,"limit":64000,"offset":)" + std::to_string(offset)));
    EXPECT_LE(page.at("text").size(), 64'000U);
    seen += page.at("text");
    offset = page.data.at("next").as_int64();
    if (!page.data.at("more").as_bool()) break;
    EXPECT_NE(page.text.find("offset=" + std::to_string(offset)), std::string::npos)
        << page.text.substr(page.text.size() - 200);
  }
  EXPECT_EQ(seen, log);
}

TEST_F(LookAt, ReadsTheWholeOfAResultThatWasCut) {
  const std::string id = good("background_task", R"({"agent":"forker","prompt":"large"})").id();
  pass_until_rest(id);
  const std::string whole = *get(id).result;
  std::string seen;
  for (int64_t offset = 0; offset < static_cast<int64_t>(whole.size());) {
    const Answer page = good("look_at", about(id, R"(,"path":"result","offset":)" + std::to_string(offset)));
    ASSERT_GT(page.data.at("next").as_int64(), offset);
    seen += page.at("text");
    offset = page.data.at("next").as_int64();
  }
  EXPECT_EQ(seen, whole);
}

TEST_F(LookAt, ShowsTheTranscriptOfAnAgent) {
  const std::string id = ask("tools");
  pass_until_rest(id);
  const Answer shown = good("look_at", about(id));
  EXPECT_EQ(shown.at("path"), "transcript");
  for (const char* words : {"## user, turn 1\ntools", "## assistant", "(calls ", "(tool answered)", "(tool failed)"})
    EXPECT_NE(shown.text.find(words), std::string::npos) << words << ": " << shown.text;
  EXPECT_NE(bad("look_at", about(id, R"(,"path":"log")")).text.find("no log"), std::string::npos);
}

TEST_F(LookAt, ListsAndReadsArtifacts) {
  const std::string id = run("");
  EXPECT_EQ(good("look_at", about(id)).text, "(run-1.log is empty)");
  leave("report.txt", "all is well\n");
  const Answer list = good("look_at", about(id, R"(,"path":"artifacts")"));
  EXPECT_NE(list.text.find("- report.txt (text/plain, 12 bytes)"), std::string::npos) << list.text;
  EXPECT_NE(list.text.find("- run-1.log"), std::string::npos) << list.text;
  EXPECT_EQ(good("look_at", about(id, R"(,"path":"report.txt")")).text, "all is well\n");
}

TEST_F(LookAt, NothingOutsideTheTasksOwnFilesIsRead) {
  const std::string id = run("x\n");
  leave("real.txt", "mine");
  std::filesystem::create_symlink("/etc/passwd", commands->folder + "/link");
  std::filesystem::create_directory(commands->folder + "/folder");
  for (const std::string path :
       {"/etc/passwd", "../errand.db", "a/../../errand.db", "link", "folder", "no such file", ".", "..", "run-0.log",
        "run--1.log", "run-99999999999999999999.log", "//", "real.txt/x"}) {
    const Answer refused = bad("look_at", about(id, R"(,"path":)" + quoted(path)));
    EXPECT_EQ(refused.text.find("root:"), std::string::npos) << path;
  }
  EXPECT_EQ(good("look_at", about(id, R"(,"path":"real.txt")")).text, "mine");
}

TEST_F(LookAt, SaysWhatIsWrong) {
  const std::string id = ask("long 60");
  EXPECT_NE(bad("look_at", about(id, R"(,"path":"result")")).text.find("no result yet: it is running"),
            std::string::npos);
  EXPECT_NE(bad("look_at", about(id, R"(,"limit":100000)")).text.find("from 1 to 64000"), std::string::npos);
  EXPECT_NE(bad("look_at", "{}").text.find("`task_id` must be given"), std::string::npos);
  bad("look_at", about(id), SessionId("ses_other"));
  const std::string empty = run("a\n");
  EXPECT_EQ(good("look_at", about(empty, R"(,"grep":"zzz")")).text, "(no line contains this text)");
}

}  // namespace
}  // namespace errand::tools
