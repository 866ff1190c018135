#include "cli/complete.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cli/shape.h"

namespace errand::cli {
namespace {

using Words = std::vector<std::string>;

Words words_of(const Suggestions& given) {
  Words out;
  for (const Suggestion& one : given.words) out.push_back(one.word);
  return out;
}

bool has(const Words& words, const std::string& word) { return std::ranges::find(words, word) != words.end(); }

TEST(Complete, EveryOptionOfEveryVerbIsOffered) {
  int options = 0;
  for (const Verb& verb : verbs()) {
    const Words offered = words_of(suggest({verb.name, "-"}));
    std::vector<OptionShape> shapes = options_of(verb);
    std::ranges::move(global_options(), std::back_inserter(shapes));
    for (const OptionShape& option : shapes) {
      if (option.positional) continue;
      EXPECT_FALSE(option.help.empty()) << verb.name << " " << option.longest();
      for (const std::string& name : option.names) EXPECT_TRUE(has(offered, name)) << verb.name << " " << name;
      ++options;
    }
  }
  EXPECT_GT(options, 160);
}

TEST(Complete, VerbsStandFirstAndHiddenOnesNowhere) {
  EXPECT_EQ(words_of(suggest({"ca"})), Words{"cancel"});
  EXPECT_EQ(words_of(suggest({"help", "ca"})), Words{"cancel"});
  EXPECT_EQ(words_of(suggest({"--data-dir", "x", "--json", "ca"})), Words{"cancel"});
  EXPECT_FALSE(has(words_of(suggest({""})), "supervisor"));
  EXPECT_FALSE(has(words_of(suggest({"__"})), "__complete"));
  EXPECT_TRUE(suggest({"nonsense", ""}).words.empty());
  EXPECT_TRUE(suggest({}).words.empty());
}

TEST(Complete, ValuesComeFromTheOptionThatWaitsForThem) {
  EXPECT_EQ(words_of(suggest({"run", "--sandbox", "st"})), Words{"strict"});
  EXPECT_EQ(words_of(suggest({"run", "--sandbox=st"})), Words{"--sandbox=strict"});
  EXPECT_EQ(words_of(suggest({"list", "--status", "running,pen"})), Words{"running,pending"});
  EXPECT_EQ(words_of(suggest({"list", "--color", "a"})), (Words{"auto", "always"}));
  EXPECT_EQ(suggest({"ask", "--agent", ""}).lookup, Lookup::agents);
  EXPECT_EQ(suggest({"ask", "-a", "de"}).lookup, Lookup::agents);
  EXPECT_EQ(suggest({"run", "-b", ""}).lookup, Lookup::batches);
  EXPECT_EQ(words_of(suggest({"run", "-b", "n"})), Words{"new"});
  EXPECT_EQ(suggest({"run", "-C", ""}).lookup, Lookup::folders);
  EXPECT_EQ(suggest({"list", "--token-file", ""}).lookup, Lookup::files);
}

TEST(Complete, PositionalArgumentsCountWithoutOptions) {
  EXPECT_EQ(suggest({"show", ""}).lookup, Lookup::tasks);
  EXPECT_EQ(suggest({"ls", ""}).lookup, Lookup::none);
  EXPECT_EQ(suggest({"show", "01abc", ""}).lookup, Lookup::none);
  EXPECT_EQ(suggest({"cancel", "01abc", "--no-wait", "01"}).lookup, Lookup::tasks);
  EXPECT_EQ(suggest({"batch", ""}).lookup, Lookup::batches);
  EXPECT_EQ(words_of(suggest({"batch", "--json", "x", "re"})), (Words{"retry", "results"}));
  EXPECT_EQ(words_of(suggest({"completion", ""})), (Words{"bash", "zsh", "fish"}));
}

TEST(Complete, ACommandsWordsAreTheShells) {
  EXPECT_EQ(suggest({"run", ""}).lookup, Lookup::commands);
  EXPECT_EQ(suggest({"run", "--", "ma"}).lookup, Lookup::commands);
  EXPECT_EQ(suggest({"run", "--", "make", "--ti"}).lookup, Lookup::files);
  EXPECT_TRUE(suggest({"run", "make", "--ti"}).words.empty());
  EXPECT_EQ(words_of(suggest({"run", "--ti"})), (Words{"--title", "--timeout"}));
}

}  // namespace
}  // namespace errand::cli
