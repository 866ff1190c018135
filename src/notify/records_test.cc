#include "notify/records.h"

#include <gtest/gtest.h>

namespace errand::notify {
namespace {

Target whole_target() {
  return {.id = "hook_1",
          .name = "Ops \"room\"\n",
          .shape = Shape::ntfy,
          .url = "https://ntfy.sh/x",
          .secret = "whsec_a",
          .old_secret = "whsec_b",
          .old_until = {5},
          .token = "tk_1",
          .on = Occasions().add(Occasion::asked).add(Occasion::cancelled),
          .content = Content::text,
          .subtasks = true,
          .quiet = Quiet{60, 120},
          .enabled = false,
          .disabled_because = "The receiver answered 410.",
          .created_at = {7}};
}

Owed whole_owed() {
  return {.notification = {.id = "ntf_1",
                           .pos = 12,
                           .at = {13},
                           .occasion = Occasion::asked,
                           .task_id = TaskId("task_1"),
                           .kind = "agent",
                           .status = "running",
                           .reason = "r",
                           .request_id = "req \"1\"",
                           .question = "permission",
                           .title = "Ein Titel 标题",
                           .agent = "builtin",
                           .batch_id = "batch_1",
                           .text = "May I?\nReally?"},
          .tries = 3,
          .due = {99}};
}

TEST(Records, AreReadAsTheyWereWritten) {
  EXPECT_EQ(decode_target(encode(whole_target())), whole_target());
  EXPECT_EQ(decode_target(encode(Target{})), Target{});
  EXPECT_EQ(decode_owed(encode(whole_owed())), whole_owed());
  const Standing standing{
      .delivered = 1, .given_up = 2, .delivered_at = {3}, .error = "The receiver answered 500.", .error_at = {4}};
  EXPECT_EQ(decode_standing(encode(standing)), standing);
  EXPECT_EQ(decode_cursor(encode_cursor(1'234'567'890'123)), 1'234'567'890'123);
}

TEST(Records, APhoneIsOneTooAndOlderTargetsHaveNoKeys) {
  Target phone = whole_target();
  phone.shape = Shape::push;
  phone.push_key = "BCVx";
  phone.push_auth = "BTBZ";
  EXPECT_EQ(decode_target(encode(phone)), phone);
  std::string older = encode(whole_target());
  for (const std::string_view field : {R"("push_key":"",)", R"("push_auth":"",)"}) {
    ASSERT_NE(older.find(field), std::string::npos);
    older.erase(older.find(field), field.size());
  }
  EXPECT_EQ(decode_target(older), whole_target());
  EXPECT_EQ(decode_sender(encode_sender("a key")), "a key");
}

TEST(Records, OfANewerErrandAreReadWithoutWhatItAdded) {
  std::string newer = encode(whole_owed());
  newer.insert(1, R"("new":[1,{"a":null}],)");
  EXPECT_EQ(decode_owed(newer), whole_owed());
}

TEST(Records, ThatAreDamagedAreErrors) {
  for (const char* text : {"", "[]", "{}", "{\"id\":1}", "nonsense"}) {
    EXPECT_EQ(decode_target(text).error().reason, "corrupt") << text;
    EXPECT_EQ(decode_owed(text).error().reason, "corrupt") << text;
    EXPECT_EQ(decode_standing(text).error().reason, "corrupt") << text;
    EXPECT_EQ(decode_cursor(text).error().reason, "corrupt") << text;
    EXPECT_EQ(decode_sender(text).error().reason, "corrupt") << text;
  }
  std::string odd = encode(whole_target());
  odd.replace(odd.find("\"ntfy\""), 6, "\"fax\"");
  EXPECT_FALSE(decode_target(odd));
}

}  // namespace
}  // namespace errand::notify
