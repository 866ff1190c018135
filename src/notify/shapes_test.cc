#include "notify/shapes.h"

#include <gtest/gtest.h>

#include "base/encode.h"
#include "base/json_out.h"
#include "notify/signature.h"

namespace errand::notify {
namespace {

const Time noon{1'700'000'000'500};
const std::string page = "https://errand.example";

Notification failure() {
  return {.id = "ntf_1",
          .pos = 9,
          .at = {1'700'000'000'000},
          .occasion = Occasion::failed,
          .task_id = TaskId("task_1"),
          .kind = "command",
          .status = "failed",
          .reason = "exit",
          .title = "Build & <test>",
          .agent = "command"};
}

Target target(Shape shape, std::string url = "https://example.com/hook") {
  return {.id = "hook_1",
          .shape = shape,
          .url = std::move(url),
          .secret = "whsec_" + to_base64("0123456789abcdef0123456789abcdef")};
}

std::string header(const http::Request& request, std::string_view name) {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return {};
}

// The vector of the npm package standardwebhooks 1.1.1.
TEST(Signature, IsTheOneOfStandardWebhooks) {
  EXPECT_EQ(signature(target(Shape::standard), "msg_2b", Time{1'700'000'000'999}, R"({"type":"task.completed"})"),
            "v1,MrxNYbrWj2EDxCAAdNb35J7chOLGxq+9szePdL8vg/Q=");
}

TEST(Signature, IsMadeWithBothSecretsWhileOneReplacesTheOther) {
  Target both = target(Shape::standard);
  both.old_secret = "whsec_" + to_base64("abcdefghijklmnopqrstuvwxyzabcdef");
  both.old_until = noon + 1;
  const std::string two = signature(both, "a", noon, "b");
  EXPECT_EQ(two.find(signature(target(Shape::standard), "a", noon, "b") + " v1,"), 0u);
  both.old_until = noon;
  EXPECT_EQ(signature(both, "a", noon, "b"), signature(target(Shape::standard), "a", noon, "b"));
}

TEST(Secret, Has24To64Bytes) {
  SeededRandom random(1);
  EXPECT_EQ(secret_bytes(make_secret(random))->size(), 32u);
  EXPECT_NE(make_secret(random), make_secret(random));
  EXPECT_FALSE(secret_bytes("whsec_" + to_base64(std::string(23, 'a'))));
  EXPECT_FALSE(secret_bytes("whsec_" + to_base64(std::string(65, 'a'))));
  EXPECT_FALSE(secret_bytes(to_base64(std::string(32, 'a'))));
  EXPECT_FALSE(secret_bytes("whsec_!!!"));
}

TEST(Standard, IsSignedJson) {
  const http::Request request = request_for(target(Shape::standard), failure(), page, noon);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://example.com/hook");
  EXPECT_FALSE(request.follow_redirects);
  EXPECT_EQ(header(request, "Content-Type"), "application/json");
  EXPECT_EQ(header(request, "webhook-id"), "ntf_1");
  EXPECT_EQ(header(request, "webhook-timestamp"), "1700000000");
  EXPECT_EQ(header(request, "webhook-signature"), signature(target(Shape::standard), "ntf_1", noon, request.body));
  EXPECT_EQ(request.body,
            R"({"type":"task.failed","timestamp":"2023-11-14T22:13:20.000Z","data":{"id":"ntf_1","task_id":"task_1",)"
            R"("title":"Build & <test>","kind":"command","agent":"command","batch_id":null,"status":"failed",)"
            R"("reason":"exit","request_id":null,"question":null,"text":null,)"
            R"("url":"https://errand.example/chat?taskId=task_1"}})");
}

TEST(Standard, OfATestIsOfNoTask) {
  Notification test = test_notification(Time{1'700'000'000'000});
  test.id = "ntf_2";
  EXPECT_EQ(request_for(target(Shape::standard), test, "", noon).body,
            R"({"type":"test","timestamp":"2023-11-14T22:13:20.000Z","data":{"id":"ntf_2","task_id":null,)"
            R"("title":"errand can reach you here","kind":null,"agent":null,"batch_id":null,"status":null,)"
            R"("reason":null,"request_id":null,"question":null,"text":null,"url":null}})");
}

TEST(Ntfy, IsPublishedAsJsonToTheServersRoot) {
  Target ntfy = target(Shape::ntfy, "https://ntfy.example:8443/my_topic");
  ntfy.token = "tk_1";
  const http::Request request = request_for(ntfy, failure(), page, noon);
  EXPECT_EQ(request.url, "https://ntfy.example:8443/");
  EXPECT_EQ(header(request, "Authorization"), "Bearer tk_1");
  EXPECT_EQ(header(request, "webhook-signature"), "");
  EXPECT_EQ(request.body,
            R"({"topic":"my_topic","title":"Failed: Build & <test>","message":"exit","priority":4,"tags":["x"],)"
            R"("click":"https://errand.example/chat?taskId=task_1"})");
  ntfy.token.clear();
  EXPECT_EQ(header(request_for(ntfy, failure(), page, noon), "Authorization"), "");
}

TEST(Slack, MentionsNobodyWhateverATitleSays) {
  Notification hostile = failure();
  hostile.title = "<!channel> <@U1> <https://evil.test|errand> & more";
  hostile.text = "a < b > c";
  const http::Request request = request_for(target(Shape::slack), hostile, page, noon);
  EXPECT_EQ(request.body,
            R"({"text":"*Failed:* &lt;!channel&gt; &lt;@U1&gt; &lt;https://evil.test|errand&gt; &amp; more\n)"
            R"(a &lt; b &gt; c\n<https://errand.example/chat?taskId=task_1|Open in errand>",)"
            R"("unfurl_links":false,"unfurl_media":false})");
}

TEST(Discord, MentionsNobodyAndNamesNoLinkOtherwise) {
  Notification hostile = failure();
  hostile.title = "@everyone [errand](https://evil.test) **x** <@1>";
  hostile.text.clear();
  const http::Request request = request_for(target(Shape::discord), hostile, page, noon);
  std::string content;
  append_json_string(content,
                     "**Failed:** \\@everyone \\[errand\\]\\(https\\://evil.test\\) \\*\\*x\\*\\* \\<\\@1\\>\nexit\n"
                     "<https://errand.example/chat?taskId=task_1>");
  EXPECT_EQ(request.body, R"({"content":)" + content + R"(,"allowed_mentions":{"parse":[]}})");
}

TEST(Discord, StaysWithinTwoThousandCharacters) {
  Notification longest = failure();
  longest.title = std::string(80, '*');
  longest.text = std::string(text_characters_max, '*');
  // A mark is two characters of the message, and three of its JSON.
  const size_t marks = longest.title.size() + longest.text.size();
  EXPECT_LT(request_for(target(Shape::discord), longest, page, noon).body.size() - marks, 2'000u);
}

TEST(Shapes, WithoutATitleNameTheTask) {
  Notification bare = failure();
  bare.title.clear();
  bare.agent.clear();
  for (const Shape shape : {Shape::ntfy, Shape::slack}) {
    const http::Request request = request_for(target(shape, "https://ntfy.sh/x"), bare, "", noon);
    EXPECT_NE(request.body.find("task_1"), std::string::npos) << name(shape);
  }
  EXPECT_NE(request_for(target(Shape::discord), bare, "", noon).body.find(R"(task\\_1)"), std::string::npos);
}

}  // namespace
}  // namespace errand::notify
