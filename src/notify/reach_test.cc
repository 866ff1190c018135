#include "notify/reach.h"

#include <gtest/gtest.h>

namespace errand::notify {
namespace {

TEST(Url, IsReadInItsPlainFormOnly) {
  const std::optional<Url> url = parse_url("HTTPS://Hooks.Example.com:8443/a/b?c=d%20e");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->origin(), "https://hooks.example.com:8443");
  EXPECT_EQ(url->path, "/a/b?c=d%20e");
  EXPECT_EQ(parse_url("https://[::1]:80")->host, "[::1]");
  EXPECT_EQ(parse_url("https://example.com?x")->path, "/?x");
  for (const char* wrong :
       {"", "example.com", "ftp://example.com", "https://", "https:///x", "https://user@example.com/",
        "https://example.com\\@evil.test/", "https://example.com/a b", "https://example.com/\r\nX: y",
        "https://example.com/#x", "https://exämple.com/", "https://example.com:/", "https://example.com:80a/",
        "https://example.com:123456/", "https://[::1", "https://[::1]x/", "https://[/]/", "https://a_b.test/"})
    EXPECT_FALSE(parse_url(wrong)) << wrong;
  EXPECT_FALSE(parse_url("https://example.com/" + std::string(url_max, 'a')));
}

TEST(Url, IsShownWithoutWhatMayBeSecret) {
  EXPECT_EQ(masked("https://hooks.slack.com/services/T0/B0/secret"), "https://hooks.slack.com/…");
  EXPECT_EQ(masked("https://example.com:8443/?token=secret"), "https://example.com:8443/…");
  EXPECT_EQ(masked("https://example.com/"), "https://example.com");
  EXPECT_EQ(masked("whatever"), "…");
}

TEST(Shape, IsGuessedFromTheHost) {
  EXPECT_EQ(guess_shape("https://hooks.slack.com/services/T0/B0/x"), Shape::slack);
  EXPECT_EQ(guess_shape("https://discord.com/api/webhooks/1/x"), Shape::discord);
  EXPECT_EQ(guess_shape("https://ptb.discord.com/api/webhooks/1/x"), Shape::discord);
  EXPECT_EQ(guess_shape("https://notdiscord.com/api/webhooks/1/x"), Shape::standard);
  EXPECT_EQ(guess_shape("https://ntfy.sh/topic"), Shape::ntfy);
  EXPECT_EQ(guess_shape("https://example.com/hook"), Shape::standard);
}

std::string reason(const Reach& reach, const std::string& url, Shape shape = Shape::standard) {
  const Status status = reach.check(url, shape);
  return status ? "" : status.error().reason.empty() ? "invalid" : status.error().reason;
}

TEST(Reach, IsTheOpenInternetOverHttps) {
  const Reach reach({});
  EXPECT_EQ(reason(reach, "https://example.com/hook"), "");
  EXPECT_EQ(reason(reach, "http://example.com/hook"), "not_https");
  EXPECT_EQ(reason(reach, "nonsense"), "invalid");
  for (const char* own : {"https://localhost/", "https://x.localhost/", "https://127.0.0.1/", "https://10.1.2.3:8443/",
                          "https://192.168.0.1/", "https://169.254.169.254/latest/", "https://[::1]/",
                          "https://[fe80::1]/", "https://0.0.0.0/", "http://127.0.0.1/"})
    EXPECT_EQ(reason(reach, own), "private_address") << own;
}

TEST(Reach, GoesFurtherWhereTheSettingsSay) {
  const Reach reach({"127.0.0.1:8080", " NTFY.lan "});
  EXPECT_EQ(reason(reach, "http://127.0.0.1:8080/hook"), "");
  EXPECT_EQ(reason(reach, "http://127.0.0.1:8081/hook"), "private_address") << "this port only";
  EXPECT_EQ(reason(reach, "http://ntfy.lan/topic"), "");
  EXPECT_EQ(reason(reach, "https://ntfy.lan:9/topic"), "") << "any port";
  EXPECT_EQ(reason(reach, "http://sub.ntfy.lan/topic"), "not_https");
  EXPECT_TRUE(Reach({"example.com:443"}).may_be_private(*parse_url("https://example.com/x")));
}

TEST(Reach, APhoneIsToldThroughAPushServiceAlone) {
  const Reach reach({"push.lan:8443"});
  for (const char* known :
       {"https://fcm.googleapis.com/fcm/send/x", "https://updates.push.services.mozilla.com/wpush/v2/x",
        "https://web.push.apple.com/x", "https://wns2-am3p.notify.windows.com/w/?token=x", "http://push.lan:8443/x"})
    EXPECT_EQ(reason(reach, known, Shape::push), "") << known;
  for (const char* other : {"https://example.com/x", "https://fcm.googleapis.com.example.com/x",
                            "https://evilnotify.windows.com/x", "https://googleapis.com/x"})
    EXPECT_EQ(reason(reach, other, Shape::push), "no_push_service") << other;
  EXPECT_EQ(reason(reach, "http://fcm.googleapis.com/x", Shape::push), "not_https");
  EXPECT_EQ(reason(reach, "https://127.0.0.1/x", Shape::push), "private_address");
}

TEST(Reach, KnowsWhatATopicIs) {
  const Reach reach({});
  EXPECT_EQ(reason(reach, "https://ntfy.sh/my_topic-1", Shape::ntfy), "");
  for (const char* wrong : {"https://ntfy.sh", "https://ntfy.sh/", "https://ntfy.sh/a/b", "https://ntfy.sh/a?b"})
    EXPECT_EQ(reason(reach, wrong, Shape::ntfy), "invalid") << wrong;
}

}  // namespace
}  // namespace errand::notify
