// What a command leaves is hostile: names, links, sizes, files that change while they are read (R9.4, R12.2).
#include "driver/run/artifacts.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"
#include "base/text.h"
#include "files/copy.h"

namespace errand::run {
namespace {

namespace fs = std::filesystem;

struct ArtifactsTest : testing::Test {
  TestFolder data, work;
  Task task;
  std::string own = data / "artifacts/task_1";

  ArtifactsTest() {
    task.id = TaskId("task_1");
    task.launch.kind = TaskKind::command;
    task.launch.work_dir = work.path();
    task.state = TaskState::completed;
    fs::create_directories(own);
  }
  void leave(std::string_view name, std::string_view text) const {
    data.write("artifacts/task_1/" + std::string(name), text);
  }
  Artifacts make(ArtifactLimits limits = {}) const { return {data.path(), limits}; }

  static std::vector<std::string> names(const ArtifactList& list) {
    std::vector<std::string> all;
    for (const Artifact& file : list.files) all.push_back(file.name);
    return all;
  }
  static std::string read(const Driver::OpenArtifact& open) {
    std::string text(static_cast<size_t>(open.file.size), '\0');
    EXPECT_EQ(files::read_at(open.file, 0, text.data(), text.size()), open.file.size);
    return text;
  }
};
using Names = std::vector<std::string>;

TEST_F(ArtifactsTest, NothingIsGatheredWhereThereIsNothing) {
  Artifacts artifacts = make();
  EXPECT_TRUE(artifacts.nothing_to_gather(task));
  EXPECT_TRUE(artifacts.list(task)->files.empty());
  task.launch.artifacts = {"*.txt"};
  EXPECT_FALSE(artifacts.nothing_to_gather(task));
  EXPECT_TRUE(artifacts.gather(task)->files.empty());
}

TEST_F(ArtifactsTest, TheFolderAndThePatternsAreListedWithSizeTypeAndHash) {
  leave("report.txt", "all is well\n");
  leave("deep/er/data.bin", std::string("\0\1\2", 3));
  work.write("dist/app.js", "let x = 1;\n");
  work.write("dist/other.css", "");
  task.launch.artifacts = {"dist/*.js"};
  Artifacts artifacts = make();
  const ArtifactList list = *artifacts.gather(task);
  EXPECT_EQ(names(list), (Names{"deep/er/data.bin", "report.txt", "dist/app.js"}));
  EXPECT_EQ(list.left_out, 0);
  EXPECT_TRUE(list.gathered_at);
  const Artifact& report = list.files[1];
  EXPECT_EQ(report.size, 12);
  EXPECT_EQ(report.sha256, files::sha256("all is well\n"));
  EXPECT_EQ(report.media_type, "text/plain");
  EXPECT_EQ(report.source, ArtifactSource::folder);
  EXPECT_EQ(list.files[2].source, ArtifactSource::glob);
  EXPECT_EQ(*artifacts.list(task), list);
  // As another server finds it.
  EXPECT_EQ(*make().list(task), list);
  EXPECT_EQ(read(*artifacts.open(task, "report.txt")), "all is well\n");
  EXPECT_EQ(read(*artifacts.open(task, list.files[0].id)), std::string("\0\1\2", 3));
}

TEST_F(ArtifactsTest, WhatAPatternNamedStaysWhenTheWorkDirChanges) {
  work.write("out/a", "first");
  task.launch.artifacts = {"out/**"};
  Artifacts artifacts = make();
  ASSERT_TRUE(artifacts.gather(task));
  work.write("out/a", "second, and longer");
  EXPECT_EQ(read(*artifacts.open(task, "out/a")), "first");
  fs::remove_all(work / "out");
  EXPECT_EQ(read(*artifacts.open(task, "out/a")), "first");
  // Gathered again it is gone, and so is the copy.
  EXPECT_TRUE(artifacts.gather(task)->files.empty());
  EXPECT_FALSE(artifacts.open(task, "out/a"));
  int copies = 0;
  for (const auto& entry : fs::directory_iterator(data / "artifacts/task_1.kept"))
    copies += entry.path().filename() != "manifest.json";
  EXPECT_EQ(copies, 0);
}

TEST_F(ArtifactsTest, OfATaskAtWorkItIsWhatIsThereNow) {
  task.state = TaskState::running;
  leave("a", "1");
  Artifacts artifacts = make();
  EXPECT_EQ(names(*artifacts.list(task)), Names{"a"});
  ASSERT_TRUE(artifacts.gather(task));
  leave("b", "2");
  EXPECT_EQ(names(*artifacts.list(task)), (Names{"a", "b"}));
  EXPECT_FALSE(artifacts.list(task)->gathered_at);
  EXPECT_EQ(read(*artifacts.open(task, "b")), "2");
}

TEST_F(ArtifactsTest, LinksAndWhatIsNoFileAreLeftOut) {
  TestFolder outside;
  outside.write("secret", "not yours");
  fs::create_symlink(outside / "secret", own + "/link");
  fs::create_directory_symlink(outside.path(), own + "/folder");
  fs::create_symlink("/proc/self/environ", own + "/magic");
  ASSERT_EQ(::mkfifo((own + "/fifo").c_str(), 0600), 0);
  fs::create_directory_symlink(outside.path(), work / "dist");
  fs::create_symlink(outside / "secret", work / "x.txt");
  task.launch.artifacts = {"dist/**", "*.txt"};
  Artifacts artifacts = make();
  const ArtifactList list = *artifacts.gather(task);
  EXPECT_TRUE(list.files.empty());
  EXPECT_GE(list.left_out, 5);
  EXPECT_TRUE(list.left_out_why.contains("links")) << list.left_out_why;
  for (const char* name :
       {"link", "folder/secret", "magic", "fifo", "dist/secret", "x.txt", "../../token", "/etc/passwd"})
    EXPECT_FALSE(artifacts.open(task, name)) << name;
}

TEST_F(ArtifactsTest, HostileNamesAreNamesLikeOthers) {
  std::vector<std::string> hostile = {"new\nline", "quo\"te",   "back\\slash", "\xff\xfe not utf-8",  "-rf", " ",
                                      "<script>",  "a;b|c$(d)", "\x1b[31mred", std::string(255, 'x'), "..."};
  for (const std::string& name : hostile) leave(name, name);
  std::string deep;
  for (int i = 0; i < 12; ++i) deep += std::string(250, 'd') + "/";
  fs::path at = own;
  for (int i = 0; i < 12; ++i) at /= std::string(250, 'd');
  fs::create_directories(at);
  std::ofstream(at / "leaf") << "deep";
  Artifacts artifacts = make();
  const ArtifactList list = *artifacts.gather(task);
  ASSERT_EQ(list.files.size(), hostile.size() + 1);
  EXPECT_EQ(*artifacts.list(task), list);  // Also after a manifest was written and read.
  for (const Artifact& file : list.files) {
    EXPECT_TRUE(is_utf8(file.name));
    EXPECT_EQ(file.id.find_first_not_of("0123456789abcdef"), std::string::npos) << file.id;
    const Result<Driver::OpenArtifact> open = artifacts.open(task, file.id);
    ASSERT_TRUE(open) << file.name;
    EXPECT_EQ(files::sha256(read(*open)), file.sha256);
  }
}

TEST_F(ArtifactsTest, AHardLinkIsKeptAsTheFileThatItIs) {
  work.write("cache", "built");
  fs::create_hard_link(work / "cache", work / "app");
  task.launch.artifacts = {"app"};
  Artifacts artifacts = make();
  ASSERT_EQ(names(*artifacts.gather(task)), Names{"app"});
  std::ofstream(work / "cache", std::ios::trunc) << "changed";
  EXPECT_EQ(read(*artifacts.open(task, "app")), "built");
}

TEST_F(ArtifactsTest, AHugeSparseFileCostsNothing) {
  leave("huge", "head");
  fs::resize_file(own + "/huge", 1LL << 40);
  work.write("huge2", "head");
  fs::resize_file(work / "huge2", 1LL << 40);
  task.launch.artifacts = {"huge2"};
  Artifacts artifacts = make();
  const ArtifactList list = *artifacts.gather(task);
  EXPECT_EQ(names(list), Names{"huge"});  // It stays where it is; a copy is over the limit.
  EXPECT_EQ(list.files[0].size, 1LL << 40);
  EXPECT_EQ(list.files[0].sha256, "");
  EXPECT_EQ(list.left_out, 1);
  EXPECT_TRUE(list.left_out_why.contains("over the limit of 268435456 bytes: 1")) << list.left_out_why;
}

TEST_F(ArtifactsTest, TheLimitsHoldAndAreSaid) {
  for (int i = 0; i < 30; ++i) leave("f" + std::to_string(i), "x");
  for (int i = 0; i < 30; ++i) work.write("w" + std::to_string(i), std::string(100, 'x'));
  task.launch.artifacts = {"w*"};
  const ArtifactList few = *make({.files = 10}).gather(task);
  EXPECT_EQ(few.files.size(), 10u);
  EXPECT_EQ(few.left_out, 50);
  EXPECT_TRUE(few.left_out_why.contains("over the limit of 10 files: 50")) << few.left_out_why;
  const ArtifactList small = *make({.bytes = 1'050}).gather(task);
  EXPECT_EQ(small.files.size(), 40u);
  EXPECT_EQ(small.left_out, 20);
  const ArtifactList late = *make({.time_ms = 0}).gather(task);
  EXPECT_TRUE(late.left_out_why.contains("bound")) << late.left_out_why;
}

TEST_F(ArtifactsTest, FilesThatChangeAndVanishMeanwhile) {
  task.launch.artifacts = {"*"};
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; !done; i = (i + 1) % 50) {
      const std::string name = work / ("f" + std::to_string(i));
      if (i % 3 == 0)
        fs::remove(name);
      else
        std::ofstream(name, i % 2 ? std::ios::app : std::ios::trunc) << std::string(static_cast<size_t>(i * 1000), 'x');
    }
  });
  Artifacts artifacts = make();
  for (int round = 0; round < 6; ++round) {
    const Result<ArtifactList> list = artifacts.gather(task);
    ASSERT_TRUE(list) << list.error().message;
    for (const Artifact& file : list->files) {
      const Result<Driver::OpenArtifact> open = artifacts.open(task, file.id);
      ASSERT_TRUE(open) << file.name;
      EXPECT_EQ(files::sha256(read(*open)), file.sha256);  // What was kept is what was hashed.
    }
  }
  done = true;
  writer.join();
}

TEST_F(ArtifactsTest, GatheringsOfOneTaskWaitForEachOther) {
  for (int i = 0; i < 20; ++i) work.write("f" + std::to_string(i), std::string(10'000, 'x'));
  task.launch.artifacts = {"*"};
  Artifacts artifacts = make();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round) EXPECT_EQ(artifacts.gather(task)->files.size(), 20u);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Artifact& file : artifacts.list(task)->files) EXPECT_TRUE(artifacts.open(task, file.id));
}

TEST_F(ArtifactsTest, RemovedWithTheTaskAndNotMadeAgain) {
  leave("a", "1");
  work.write("b", "2");
  task.launch.artifacts = {"b"};
  Artifacts artifacts = make();
  ASSERT_TRUE(artifacts.gather(task));
  fs::create_directories(data / "artifacts/task_10");
  artifacts.remove(task.id);
  EXPECT_FALSE(fs::exists(own));
  EXPECT_FALSE(fs::exists(own + ".kept"));
  EXPECT_TRUE(fs::exists(data / "artifacts/task_10"));
  // A gathering that comes late makes nothing that nobody would remove.
  EXPECT_TRUE(artifacts.gather(task)->files.empty());
  EXPECT_FALSE(fs::exists(own + ".kept"));
}

TEST(Manifest, IsReadAsItWasWritten) {
  ManifestFile manifest{.entries = {}, .left_out = 3, .why = "Left out: \"x\"."};
  manifest.gathered_at = {1'763'208'000'000};
  manifest.generation = 7;
  manifest.entries.push_back({{.id = "a1",
                               .name = "\uFFFD",
                               .source = ArtifactSource::glob,
                               .run = 0,
                               .size = 1LL << 50,
                               .media_type = "text/plain",
                               .sha256 = "00",
                               .modified = {1'763'208'000'001}},
                              "\xff",
                              "7-0"});
  EXPECT_EQ(*decode_manifest(encode_manifest(manifest)), manifest);
}

// Whoever runs as the same user may have written it.
TEST(Manifest, AForgedOneLeadsNowhere) {
  const auto forged = [](std::string_view fields) {
    return decode_manifest(R"({"version":1,"files":[{"id":"a","name":"n","source":"glob","size":1)" +
                           std::string(fields) + "}]}");
  };
  EXPECT_TRUE(forged(""));
  for (const char* fields : {R"(,"kept":"../../token")", R"(,"kept":"/etc/passwd")", R"(,"kept":"manifest.json")",
                             R"(,"raw":"2e2e2f78")", R"(,"raw":"zz")", R"(,"raw":"2f657463")"})
    EXPECT_FALSE(forged(fields)) << fields;
  for (const char* text : {"", "{}", "[]", "null", R"({"version":2,"files":[]})", R"({"version":1,"files":{}})",
                           R"({"version":1,"files":[1]})", R"({"version":1,"files":[{"source":"x"}]})"})
    EXPECT_FALSE(decode_manifest(text)) << text;
}

}  // namespace
}  // namespace errand::run
