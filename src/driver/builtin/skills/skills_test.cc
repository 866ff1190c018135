#include "driver/builtin/skills/skills.h"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "driver/builtin/skills/skill_head.h"
#include "driver/builtin/tools/tool_bench_test.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

std::string skill(std::string_view name, std::string_view description, std::string_view body = "Do it well.\n") {
  return fmt::format("---\nname: {}\ndescription: {}\n---\n\n{}", name, description, body);
}

TEST(SkillHead, IsReadInTheFormsThatPeopleWrite) {
  const auto read = [](std::string_view text) {
    const Result<SkillHead> head = parse_skill_head(text);
    return head ? head->name + "|" + head->description + "|" + std::string(text.substr(head->body))
                : "error: " + head.error().message;
  };
  EXPECT_EQ(read("---\nname: pdf\ndescription: Reads PDFs: all of them.\n---\nbody"),
            "pdf|Reads PDFs: all of them.|body");
  EXPECT_EQ(read("\xef\xbb\xbf---\r\nname: \"pdf\"\r\ndescription: 'It''s good'\r\n---\r\nbody"), "pdf|It's good|body");
  EXPECT_EQ(read("---\ndescription: >-\n  Two lines\n  are one.\nlicense: MIT\nmetadata:\n  name: other\n---\n"),
            "|Two lines are one.|");
  EXPECT_EQ(read("---\nname: a # comment\ndescription: |\n  x\n\n  y\n...\nz"), "a|x y|z");
  EXPECT_EQ(read("---\nname: a\ndescription: plain\n  that goes on\n---\n"), "a|plain that goes on|");
  EXPECT_EQ(read("---\nname: a\ndescription: \"tab\\tquote\\\" \x1b[31mred\"\n---\n"), "a|tab quote\" red|");
}

TEST(SkillHead, WhatCannotBeUsedIsRefused) {
  for (const char* text : {"", "name: x\n", "---\nname: x\ndescription: y\n", "---\nname: x\n---\n",
                           "---\nname: ../x\ndescription: y\n---\n", "---\nname: a b\ndescription: y\n---\n",
                           "---\nname: .x\ndescription: y\n---\n"})
    EXPECT_FALSE(parse_skill_head(text)) << text;
  EXPECT_FALSE(parse_skill_head("---\nname: " + std::string(65, 'a') + "\ndescription: y\n---\n"));
  EXPECT_FALSE(parse_skill_head("---\nx: " + std::string(1 << 20, 'a') + "\ndescription: y\n---\n"));
  const Result<SkillHead> head = parse_skill_head("---\ndescription: " + std::string(5'000, 'a') + "\n---\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->description.size(), skill_description_max);
}

struct Skills : testing::Test {
  ToolBench bench;
  TestFolder home;
  SkillPlaces places{.roots = {bench.work.path()}, .user_folders = user_skill_folders(home.path(), ""), .hidden = {}};
};

TEST_F(Skills, AreFoundInTheProjectAndTheUsersPlacesTheFirstOfANameCounts) {
  bench.work.write(".claude/skills/pdf/SKILL.md", skill("pdf", "The project's."));
  bench.work.write(".agents/skills/unnamed/SKILL.md", "---\ndescription: Named by its folder.\n---\n");
  bench.work.write(".errand/skills/own/SKILL.md", skill("own", "Own."));
  bench.work.write(".claude/skills/no_skill/README.md", "x");
  home.write(".claude/skills/pdf/SKILL.md", skill("pdf", "The user's."));
  home.write(".config/errand/skills/mine/SKILL.md", skill("mine", "Mine."));
  const FoundSkills found = find_skills(places);
  std::string all;
  for (const Skill& one : found.skills) all += one.name + "=" + one.description + " ";
  EXPECT_EQ(all, "own=Own. pdf=The project's. unnamed=Named by its folder. mine=Mine. ");
  EXPECT_TRUE(found.warnings.empty());
  EXPECT_TRUE(skills_text(found.skills).contains("- pdf: The project's.\n"));
  EXPECT_EQ(skills_text({}), "");
  EXPECT_EQ(user_skill_folders("/h", "/c"), (std::vector<std::string>{"/c/errand/skills", "/h/.claude/skills"}));
}

TEST_F(Skills, AProjectsSkillIsInTheProjectAndAHostileOneIsLeftOut) {
  TestFolder other;
  other.write("evil/SKILL.md", skill("evil", "x"));
  fs::create_directories(bench.work / ".claude/skills");
  fs::create_directory_symlink(other / "evil", bench.work / ".claude/skills/evil");
  fs::create_symlink(other / "evil/SKILL.md", (bench.work / ".claude") + "/x");
  bench.work.write(".claude/skills/bad/SKILL.md", "no head");
  bench.work.write(".claude/skills/large/SKILL.md", skill("large", "x", std::string(skill_bytes_max, 'x')));
  fs::create_directories(bench.work / ".claude/skills/linked");
  fs::create_symlink(other / "evil/SKILL.md", bench.work / ".claude/skills/linked/SKILL.md");
  // The user's own may be links: people keep them in repositories.
  fs::create_directories(home / ".claude/skills");
  fs::create_directory_symlink(other / "evil", home / ".claude/skills/good");
  const FoundSkills found = find_skills(places);
  ASSERT_EQ(found.skills.size(), 1u);
  EXPECT_EQ(found.skills[0].folder, fs::canonical(other / "evil").string());
  EXPECT_EQ(found.warnings.size(), 4u);
}

TEST_F(Skills, OneIsLoadedWithItsFolder) {
  bench.work.write(".claude/skills/pdf/SKILL.md",
                   skill("pdf", "x", "First read forms.md.\n" + std::string(50'000, 'y')));
  bench.work.write(".claude/skills/pdf/forms.md", "x");
  const auto tool = make_skill_tool(bench.background, bench.engine, find_skills(places).skills);
  const ToolOutcome loaded = bench.call(*tool, R"({"name":"pdf"})");
  EXPECT_FALSE(loaded.is_error);
  EXPECT_TRUE(loaded.output.starts_with("Skill pdf, in the folder ")) << loaded.output.substr(0, 200);
  EXPECT_TRUE(loaded.output.contains("- forms.md\n"));
  EXPECT_TRUE(loaded.output.contains("\nFirst read forms.md.\n"));
  EXPECT_LE(count_characters(loaded.output), tool_output_max);
  EXPECT_EQ(bench.call(*tool, R"({"name":"nope"})").output, "There is no skill \"nope\". There are: pdf.");
  EXPECT_FALSE(tool->prepare(bench.context, R"({"name":"pdf"})")->need.ask);
}

TEST_F(Skills, AreBounded) {
  for (int i = 0; i < 300; ++i)
    bench.work.write(fmt::format(".claude/skills/s{}/SKILL.md", i),
                     skill(fmt::format("s{}", i), std::string(900, 'x')));
  const FoundSkills found = find_skills(places);
  EXPECT_EQ(found.skills.size(), skills_max);
  EXPECT_LT(skills_text(found.skills).size(), 13'000u);
}

}  // namespace
}  // namespace errand::builtin
