#include "net/problem.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace errand::net {
namespace {

TEST(Problem, HasTheFieldsOfRfc9457AndOurs) {  // R10.4
  const Response response = problem(Error{Code::not_found, "There is no such task.", "expired"});
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(boost::json::parse(response.body), boost::json::parse(R"({"type":"urn:errand:problem:not_found",
      "title":"Not Found","status":404,"detail":"There is no such task.","code":"not_found","reason":"expired"})"));
}

TEST(Problem, EveryCodeHasAStatusOfItsKind) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const Code code = static_cast<Code>(i);
    const int status = http_status(code);
    EXPECT_GE(status, 400) << name(code);
    EXPECT_NE(status_text(status), "Status") << name(code);
    EXPECT_EQ(status == 500, code == Code::internal) << name(code);
  }
}

TEST(Problem, SaysWhenToTryAgainAndHowToProveWhoYouAre) {
  EXPECT_EQ(problem(Error{Code::exhausted, "", ""}).headers.at(0).first, "Retry-After");
  EXPECT_EQ(problem(Error{Code::unavailable, "", ""}).headers.at(0).first, "Retry-After");
  EXPECT_EQ(problem(Error{Code::unauthorized, "", ""}).headers.at(0).first, "WWW-Authenticate");
  EXPECT_TRUE(problem(Error{Code::not_found, "", ""}).headers.empty());
}

}  // namespace
}  // namespace errand::net
