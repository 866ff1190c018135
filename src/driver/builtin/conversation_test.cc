// What a model is given of a stored conversation, whatever was cut, copied or left out.
#include "driver/builtin/conversation.h"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/id.h"

namespace errand::builtin {
namespace {

using model::Block;
using model::Entry;

Part text(std::string words) { return {.type = PartType::text, .text = std::move(words)}; }
Part reasoning(std::string words, std::string opaque) {
  Part part{.type = PartType::reasoning, .text = std::move(words)};
  part.opaque = std::move(opaque);
  return part;
}
Part call(std::string id, std::string name = "bash", std::string input = R"({"command":"ls"})") {
  return {.type = PartType::tool_call, .call_id = std::move(id), .name = std::move(name), .input = std::move(input)};
}
Part result(std::string id, std::string words, bool is_error = false) {
  return {.type = PartType::tool_result, .text = std::move(words), .call_id = std::move(id), .is_error = is_error};
}
Part file(std::string name, std::string media, std::string url) {
  Part part{.type = PartType::file, .name = std::move(name)};
  part.media_type = std::move(media);
  part.url = std::move(url);
  return part;
}
Part notice(std::string name, std::string words, std::string opaque = {}) {
  Part part{.type = PartType::notice, .text = std::move(words), .name = std::move(name)};
  part.opaque = std::move(opaque);
  return part;
}

class Messages {
 public:
  Messages& add(Role role, std::vector<Part> parts, bool interrupted = false) {
    Message message;
    message.id = MessageId(fmt::format("msg_{}", list.size() + 1));
    message.seq = static_cast<int64_t>(list.size()) + 1;
    message.role = role;
    message.created_at = {message.seq * 10};
    message.completed_at = {message.seq * 10 + 5};
    message.interrupted = interrupted;
    message.parts = std::move(parts);
    list.push_back(std::move(message));
    return *this;
  }
  Messages& user(std::string words) { return add(Role::user, {text(std::move(words))}); }
  std::vector<Message> list;
};

std::string shown(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& entry : entries) {
    out += entry.role == Entry::Role::user ? "user\n" : "assistant\n";
    for (const Block& block : entry.blocks) {
      switch (block.type) {
        case Block::Type::text:
          out += "  text " + block.text + "\n";
          break;
        case Block::Type::reasoning:
          out += fmt::format("  reasoning {} [{}]\n", block.text, block.opaque);
          break;
        case Block::Type::tool_call:
          out += fmt::format("  call {} {} {}\n", block.call_id, block.name, block.input);
          break;
        case Block::Type::tool_result:
          out += fmt::format("  {} {} {}\n", block.is_error ? "error" : "result", block.call_id, block.text);
          break;
        case Block::Type::image:
          out += fmt::format("  image {} {}\n", block.media_type, block.data);
          break;
      }
    }
  }
  return out;
}

std::string shown(const Messages& messages) { return shown(conversation(messages.list)); }

TEST(Conversation, CallsAndTheirResultsAlternateAsProvidersWantThem) {
  Messages m;
  m.user("fix it");
  m.add(Role::assistant,
        {reasoning("hm", "sig"), text("I look."), call("c1"), call("c2"), result("c2", "two"), result("c1", "one")});
  m.add(Role::assistant, {text("Done.")});
  EXPECT_EQ(shown(m),
            "user\n  text fix it\n"
            "assistant\n  reasoning hm [sig]\n  text I look.\n  call c1 bash {\"command\":\"ls\"}\n"
            "  call c2 bash {\"command\":\"ls\"}\n"
            "user\n  result c1 one\n  result c2 two\n"
            "assistant\n  text Done.\n");
}

TEST(Conversation, AMessageOfSeveralStepsIsTakenApart) {
  Messages m;
  m.user("go");
  m.add(Role::assistant,
        {text("a"), call("c1"), result("c1", "1"), text("b"), call("c2"), result("c2", "2"), text("c")});
  EXPECT_EQ(shown(m),
            "user\n  text go\n"
            "assistant\n  text a\n  call c1 bash {\"command\":\"ls\"}\n"
            "user\n  result c1 1\n"
            "assistant\n  text b\n  call c2 bash {\"command\":\"ls\"}\n"
            "user\n  result c2 2\n"
            "assistant\n  text c\n");
}

TEST(Conversation, ACallWithoutAResultIsToldAsInterrupted) {
  Messages m;
  m.user("go");
  m.add(Role::assistant, {call("c1"), call("c2"), result("c1", "1")}, true);
  m.user("what happened?");
  EXPECT_EQ(shown(m), fmt::format("user\n  text go\n"
                                  "assistant\n  call c1 bash {{\"command\":\"ls\"}}\n  call c2 bash "
                                  "{{\"command\":\"ls\"}}\n"
                                  "user\n  result c1 1\n  error c2 {}\n  text what happened?\n",
                                  unknown_end));
}

TEST(Conversation, AResultInALaterMessageFindsItsCall) {
  Messages m;
  m.user("go");
  m.add(Role::assistant, {call("c1")}, true);
  m.add(Role::assistant, {result("c1", "late")});
  EXPECT_EQ(shown(m), "user\n  text go\nassistant\n  call c1 bash {\"command\":\"ls\"}\nuser\n  result c1 late\n");
}

TEST(Conversation, AResultWithoutACallIsLeftOut) {
  Messages m;
  m.user("go");
  m.add(Role::assistant, {result("c9", "of nobody"), text("hello")});
  EXPECT_EQ(shown(m), "user\n  text go\nassistant\n  text hello\n");
}

TEST(Conversation, ACutAnswerThatWasAskedForAgainSaysNothing) {
  Messages m;
  m.user("go");
  m.add(Role::assistant, {reasoning("half", ""), text("I was ab")}, true);
  m.add(Role::assistant, {text("I was about to say: done.")});
  EXPECT_EQ(shown(m), "user\n  text go\nassistant\n  text I was about to say: done.\n");
}

TEST(Conversation, ACutAnswerThatSomebodyRepliedToIsPartOfWhatWasSaid) {
  Messages m;
  m.user("go");
  m.add(Role::assistant, {text("First I del")}, true);
  m.user("stop, not that");
  EXPECT_EQ(shown(m), "user\n  text go\nassistant\n  text First I del\n[interrupted]\nuser\n  text stop, not that\n");
}

TEST(Conversation, FilesAreImagesTextsOrNames) {
  Messages m;
  m.add(Role::user, {text("look"), file("a.png", "image/png", "data:image/png;base64,iVBO"),
                     file("a.txt", "text/plain", "data:text/plain;base64,R3LDvMOfZQ=="),
                     file("a.zip", "application/zip", "data:application/zip;base64,UEs="),
                     file("b.c", "text/x-c", "file:///src/b.c")});
  EXPECT_EQ(shown(m),
            "user\n  text look\n  image image/png iVBO\n  text <file name=\"a.txt\">\nGrüße\n</file>\n"
            "  text [a.zip, application/zip: it cannot be shown here]\n  text [b.c, text/x-c is at file:///src/b.c]\n");
}

TEST(Conversation, NoticesOfChildrenAreTheUsersWords) {
  Messages m;
  m.user("go");
  m.add(Role::assistant, {text("I wait.")});
  m.add(Role::user, {notice("task", "Task x completed.")});
  EXPECT_EQ(shown(m),
            "user\n  text go\nassistant\n  text I wait.\nuser\n  text <notice>\nTask x completed.\n</notice>\n");
}

TEST(Conversation, ItBeginsAtTheLastCompactionWithWhatThatKept) {
  Messages m;
  m.user("old");                                                               // msg_1
  m.add(Role::assistant, {call("c1"), result("c1", "1")});                     // msg_2
  m.user("newer");                                                             // msg_3
  m.add(Role::assistant, {call("c2"), result("c2", "2")});                     // msg_4
  m.add(Role::system, {notice("compaction", "All so far.", "keep msg_4 1")});  // msg_5
  m.add(Role::assistant, {text("Done.")});
  EXPECT_EQ(shown(m),
            "user\n  text <summary>\nThe conversation so far, shortened by yourself because it had become too long:\n\n"
            "All so far.\n</summary>\n"
            "assistant\n  call c2 bash {\"command\":\"ls\"}\n"
            "user\n  result c2 2\n"
            "assistant\n  text Done.\n");
}

TEST(Conversation, InACopyWithOtherIdsTheNumberSaysWhatACompactionKept) {
  Messages m;
  m.user("old");
  m.user("kept");
  m.add(Role::assistant, {text("Kept too.")});
  m.add(Role::system, {notice("compaction", "All so far.", kept_mark(MessageId("msg_of_another"), 2))});
  m.user("new");
  const std::string all = shown(m);
  EXPECT_EQ(all.find("old"), std::string::npos);
  EXPECT_NE(all.find("All so far.\n</summary>\n  text kept\nassistant\n  text Kept too.\nuser\n  text new\n"),
            std::string::npos)
      << all;
}

TEST(Conversation, ItBeginsWithTheUserAlways) {
  Messages m;
  m.add(Role::assistant, {text("Hello.")});
  EXPECT_EQ(shown(m), "user\n  text (The conversation goes on here.)\nassistant\n  text Hello.\n");
}

TEST(Conversation, AMessageThatWasTakenAfterAnAnswerStandsBehindIt) {
  Messages m;
  m.user("one");                               // Taken at 15.
  m.user("two");                               // Came at 20, taken at 45: while the answer was under way.
  m.add(Role::assistant, {text("answer 1")});  // Began at 30.
  m.user("three");                             // Never taken.
  m.list[1].completed_at = {45};
  m.list[3].completed_at = {};
  const std::vector<Message> order = in_order_of_taking(m.list);
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(shown(conversation(order)), "user\n  text one\nassistant\n  text answer 1\nuser\n  text two\n");
}

// Whatever was stored: a random conversation is always one that providers take.
TEST(Conversation, AnyHistoryIsAValidConversation) {
  const uint64_t seed = SystemRandom().next();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  for (int round = 0; round < 2'000; ++round) {
    Messages m;
    const auto count = random.below(8);
    for (uint64_t i = 0; i < count; ++i) {
      std::vector<Part> parts;
      for (uint64_t p = random.below(5); p > 0; --p) {
        const std::string id = fmt::format("c{}", random.below(6));
        switch (random.below(5)) {
          case 0:
            parts.push_back(text(random.one_in(4) ? " " : "words"));
            break;
          case 1:
            parts.push_back(call(id));
            break;
          case 2:
            parts.push_back(result(id, "r"));
            break;
          case 3:
            parts.push_back(
                notice(random.one_in(2) ? "compaction" : "task", "n",
                       random.one_in(2) ? fmt::format("keep msg_{} {}", random.below(9), random.below(9)) : ""));
            break;
          default:
            parts.push_back(reasoning("hm", ""));
        }
      }
      m.add(static_cast<Role>(random.below(3)), std::move(parts), random.one_in(3));
    }
    const std::vector<Entry> entries = conversation(m.list);
    std::set<std::string> called;
    for (size_t i = 0; i < entries.size(); ++i) {
      ASSERT_FALSE(entries[i].blocks.empty());
      ASSERT_EQ(entries[i].role, i % 2 == 0 ? Entry::Role::user : Entry::Role::assistant);
      std::set<std::string> open, settled;
      for (const Block& block : entries[i].blocks)
        if (block.type == Block::Type::tool_call) {
          ASSERT_TRUE(called.insert(block.call_id).second);
          open.insert(block.call_id);
        }
      if (entries[i].role == Entry::Role::user) continue;
      if (!open.empty()) ASSERT_LT(i + 1, entries.size());
      if (i + 1 < entries.size())
        for (const Block& block : entries[i + 1].blocks)
          if (block.type == Block::Type::tool_result) ASSERT_TRUE(settled.insert(block.call_id).second);
      ASSERT_EQ(open, settled);
    }
  }
}

}  // namespace
}  // namespace errand::builtin
