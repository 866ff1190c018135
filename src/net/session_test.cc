#include "net/session.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"

namespace errand::net {
namespace {

constexpr std::string_view token = "a-token-of-this-server";

struct Fixture : testing::Test {
  SeededRandom random{7};
  Time now{1'763'200'000'000};
  Sessions sessions{token, "", random};
  Session session = sessions.open(now);
};
using SessionsTest = Fixture;

TEST_F(SessionsTest, NeedsCookieAndPageSecretOfTheSameSession) {
  EXPECT_TRUE(sessions.check(session.cookie, session.page_secret, now).ok);
  const Session other = sessions.open(now);
  EXPECT_NE(other.cookie, session.cookie);
  EXPECT_NE(other.page_secret, session.page_secret);
  for (const auto& [cookie, secret] : {std::pair(session.cookie, other.page_secret),
                                       {other.cookie, session.page_secret},
                                       {session.cookie, std::string()},
                                       {std::string(), session.page_secret},
                                       {session.page_secret, session.cookie}})
    EXPECT_FALSE(sessions.check(cookie, secret, now).ok) << cookie << " " << secret;
}

TEST_F(SessionsTest, AnyChangeOfTheCookieIsRefused) {
  for (size_t i = 0; i < session.cookie.size(); ++i) {
    std::string changed = session.cookie;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(sessions.check(changed, session.page_secret, now).ok) << i;
  }
  for (const char* junk : {"", ".", "..", "a.b", "a.1.b", "a.99999999999999999999.b", "a.-1.b", "a.1.b.c"})
    EXPECT_FALSE(sessions.check(junk, session.page_secret, now).ok) << junk;
}

TEST_F(SessionsTest, EndsAfterTwelveHoursWithoutUse) {
  EXPECT_EQ(session.expires_at, now + session_ms);
  EXPECT_TRUE(sessions.check(session.cookie, session.page_secret, now + session_ms - 1).ok);
  const Sessions::Checked late = sessions.check(session.cookie, session.page_secret, now + session_ms);
  EXPECT_FALSE(late.ok);
  EXPECT_TRUE(late.expired);
}

TEST_F(SessionsTest, SlidesWhileItIsUsedAndKeepsThePagesSecret) {
  EXPECT_FALSE(sessions.check(session.cookie, session.page_secret, now + 60'000).renewed) << "not with every request";
  std::string cookie = session.cookie;
  Time at = now;
  for (int day = 0; day < 5; ++day) {
    at = at + session_ms - 1000;
    const Sessions::Checked checked = sessions.check(cookie, session.page_secret, at);
    ASSERT_TRUE(checked.ok) << day;
    ASSERT_TRUE(checked.renewed);
    EXPECT_EQ(checked.renewed->page_secret, session.page_secret);
    cookie = checked.renewed->cookie;
  }
}

TEST_F(SessionsTest, SurvivesARestartAndNotAnotherToken) {
  Sessions restarted(token, "", random);
  EXPECT_TRUE(restarted.check(session.cookie, session.page_secret, now).ok);
  Sessions other("another-token", "", random);
  EXPECT_FALSE(other.check(session.cookie, session.page_secret, now).ok);
}

TEST_F(SessionsTest, AnEndedSessionStaysEndedAlsoAfterARestartAndARenewal) {
  const TestFolder folder;
  const std::string file = folder / "ended";
  {
    Sessions kept(token, file, random);
    const Session other = kept.open(now);
    const Session renewed = *kept.check(session.cookie, session.page_secret, now + 2 * session_renew_ms).renewed;
    kept.end(session.cookie, now + 2 * session_renew_ms);
    EXPECT_FALSE(kept.check(session.cookie, session.page_secret, now).ok);
    EXPECT_FALSE(kept.check(renewed.cookie, session.page_secret, now + 3 * session_renew_ms).ok);
    EXPECT_TRUE(kept.check(other.cookie, other.page_secret, now).ok) << "the others go on";
  }
  struct stat mode{};
  ASSERT_EQ(::stat(file.c_str(), &mode), 0);
  EXPECT_EQ(mode.st_mode & 0777, 0600u);
  Sessions restarted(token, file, random);
  EXPECT_FALSE(restarted.check(session.cookie, session.page_secret, now).ok);
}

}  // namespace
}  // namespace errand::net
