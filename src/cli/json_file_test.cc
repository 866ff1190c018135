// A settings file of another program, which that program may write at any moment.
#include "cli/json_file.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"

namespace errand::cli {
namespace {

TEST(JsonFile, WhatItsProgramHasWrittenMeanwhileIsLeftAlone) {
  const TestFolder folder;
  folder.write("settings.json", R"({"a":1})");
  Result<JsonFile> file = JsonFile::read(folder / "settings.json");
  ASSERT_TRUE(file);
  file->object()["ours"] = true;
  folder.write("settings.json", R"({"a":2})");
  const Result<bool> written = file->write();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, "changed");
  EXPECT_EQ(read_user_file(folder / "settings.json"), R"({"a":2})");
  // One that was not there, and is now.
  Result<JsonFile> fresh = JsonFile::read(folder / "new.json");
  ASSERT_TRUE(fresh);
  fresh->object()["ours"] = true;
  folder.write("new.json", "{}");
  EXPECT_FALSE(fresh->write());
  EXPECT_EQ(read_user_file(folder / "new.json"), "{}");
}

TEST(JsonFile, KeepsItsModeUnderAStrictUmask) {
  const TestFolder folder;
  folder.write("settings.json", "{}");
  ASSERT_EQ(::chmod((folder / "settings.json").c_str(), 0664), 0);
  Result<JsonFile> file = JsonFile::read(folder / "settings.json");
  ASSERT_TRUE(file);
  file->object()["ours"] = true;
  const mode_t before = ::umask(077);
  const Result<bool> written = file->write();
  ::umask(before);
  ASSERT_TRUE(written) << written.error().message;
  struct stat about = {};
  ASSERT_EQ(::stat((folder / "settings.json").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0664u);
}

}  // namespace
}  // namespace errand::cli
