#include "changes/diff.h"

#include <gtest/gtest.h>

#include "changes/listing.h"
#include "changes/repo_test.h"

namespace errand::changes {
namespace {

using namespace std::string_literals;

TEST(Diff, RawAndNumstatAreReadTogether) {
  const std::string text =
      ":100644 100644 aa bb M\0mod\0:100644 100644 aa bb R090\0old\0new\0:000000 100644 00 cc A\0bin\0"s +
      "3\t1\tmod\0"s + "0\t2\t\0old\0new\0"s + "-\t-\tbin\0"s;
  const auto files = parse_changes(text);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].added, 3);
  EXPECT_EQ((*files)[1].old_path, "old");
  EXPECT_EQ((*files)[1].path, "new");
  EXPECT_EQ((*files)[1].removed, 2);
  EXPECT_TRUE((*files)[2].binary);
  for (size_t cut = 1; cut < text.size(); ++cut) (void)parse_changes(std::string_view(text).substr(0, cut));
  for (const char* bad : {":1", "x", ":100644 100644 aa bb M", "1\t2\tnobody"})
    EXPECT_FALSE(parse_changes(std::string(bad) + '\0')) << bad;
}

TEST(Diff, SectionsOfAWholePatchFollowItsFiles) {
  const std::string_view patch = "diff --git a/x b/x\n-1\n+diff --git a/q b/q\ndiff --git a/y b/y\n+2\n";
  const auto sections = patch_sections(patch);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_TRUE(sections[1].starts_with("diff --git a/y"));
  EXPECT_TRUE(patch_sections("nonsense").empty());
}

TEST(Diff, NamesSurviveTheUrl) {
  EXPECT_EQ(percent_decoded(percent_encoded("a b/\xff\n%")), "a b/\xff\n%");
  EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
  EXPECT_TRUE(is_generated("web/package-lock.json"));
  EXPECT_FALSE(is_generated("src/distance/vendor.cc"));
}

TEST(Diff, AListAndItsPatchesAreThereWhileItWorksAndBehindItsEnd) {
  const TestRepo repo;
  repo.write("edited", "1\n2\n3\n4\n5\n6\n");
  repo.write("moved", "the same text\nin both\nplaces\nof it\n");
  repo.write("gone", "x\n");
  repo.commit();
  repo.write("mine", "the user's\n");
  EXPECT_TRUE(repo.carry_out("begin").contains("\"watched\":true"));
  repo.write("edited", "1\n2\nthree\n4\n5\n6\n");
  repo.sh("mv moved there && rm gone && printf 'a\\0b' >bin");
  const std::string live = repo.carry_out("list");
  EXPECT_TRUE(live.contains("\"state\":\"live\"")) << live;
  EXPECT_TRUE(live.contains("\"old_path\":\"moved\"")) << live;
  EXPECT_TRUE(live.contains("\"status\":\"deleted\"")) << live;
  EXPECT_TRUE(live.contains("\"binary\":true")) << live;
  EXPECT_FALSE(live.contains("mine")) << live;
  Order one = repo.order("file");
  one.path = "edited";
  EXPECT_TRUE(carry_out(one).contains("-3\\n+three")) << carry_out(one);
  EXPECT_TRUE(repo.carry_out("finish").contains("\"state\":\"final\""));
  repo.write("edited", "later\n");
  EXPECT_TRUE(carry_out(one).contains("-3\\n+three"));
  EXPECT_FALSE(repo.carry_out("list").contains("\"state\":\"live\""));
  // The repository goes, the patch stays.
  std::filesystem::remove_all(repo.top() + "/.git/objects");
  EXPECT_TRUE(carry_out(one).contains("-3\\n+three")) << carry_out(one);
  EXPECT_TRUE(repo.carry_out("patch").contains(R"("file":"changes.patch")"));
  EXPECT_TRUE(file_text(task_folder(repo.data(), "task_01") + "/changes.patch").contains("GIT binary patch"));
  EXPECT_TRUE(repo.carry_out("forget").contains("\"reply\":null"));
  EXPECT_TRUE(repo.carry_out("list").contains("no_changes"));
}

TEST(Diff, TwoTasksInOneFolderAreNotCertain) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  Order other = repo.order("begin");
  other.task = "task_02";
  repo.carry_out("begin");
  repo.write("a", "2\n");
  EXPECT_TRUE(repo.carry_out("list").contains("\"certain\":true"));
  carry_out(other);
  EXPECT_TRUE(repo.carry_out("list").contains("\"certain\":true")) << "it changed before the other was there";
  repo.write("a", "3\n");
  const std::string list = repo.carry_out("list");
  EXPECT_TRUE(list.contains("\"certain\":false")) << list;
  EXPECT_TRUE(list.contains("\"shared_with\":[\"task_02\"]")) << list;
}

TEST(Diff, OrdersAreReadBackAsTheyWereGiven) {
  Order order{.order = "list", .data_dir = "/d\xff", .home = "/h", .task = "task_1", .isolate = true};
  order.sandboxed = true;
  order.setup_run = "task_1__setup_1.0";
  order.now = "12";
  order.max_bytes = "34";
  EXPECT_EQ(decode_order(encode(order)).value(), order);
  order.task = "../x";
  EXPECT_FALSE(decode_order(encode(order)));
}

}  // namespace
}  // namespace errand::changes
