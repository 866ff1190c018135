#include "notify/web_push.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/encode.h"
#include "base/text.h"

namespace errand::notify {
namespace {

std::string raw(std::string_view text) { return from_base64(text).value(); }

// RFC 8291, section 5 and appendix A.
TEST(WebPush, TheExampleOfTheStandardIsEncryptedToTheByte) {
  const crypto::KeyPair once =
      crypto::KeyPair::from_private(raw("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")).value();
  const std::string key =
      raw("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
  const std::string body = encrypt_push("When I grow up, I want to be a watermelon", key, raw("BTBZMqHH6r4Tts7J_aSIgg"),
                                        once, raw("DGv6ra1nlYgDCS1FRnbzlw"));
  EXPECT_EQ(
      to_base64url(body),
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3"
      "jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN");
  EXPECT_EQ(encrypt_push("x", "no key", raw("BTBZMqHH6r4Tts7J_aSIgg"), once, std::string(16, 's')), "");
}

TEST(WebPush, WeVouchForARequestToOneServiceForHalfADay) {
  SeededRandom random(9);
  const crypto::KeyPair own = crypto::KeyPair::make(random);
  const std::string header = vapid(own, "https://push.example", "https://errand.example", Time{1'700'000'000'000});
  ASSERT_TRUE(header.starts_with("vapid t="));
  const size_t comma = header.find(", k=");
  ASSERT_NE(comma, std::string::npos);
  EXPECT_EQ(header.substr(comma + 4), to_base64url(own.public_key()));
  const std::string token = header.substr(8, comma - 8);
  const auto parts = split(token, '.');
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(raw(parts[0]), R"({"typ":"JWT","alg":"ES256"})");
  EXPECT_EQ(raw(parts[1]), R"({"aud":"https://push.example","exp":1700043200,"sub":"https://errand.example"})");
  EXPECT_TRUE(crypto::verify(own.public_key(), std::string(parts[0]) + "." + std::string(parts[1]), raw(parts[2])));
}

Notification asked() {
  return {.id = "ntf_1",
          .occasion = Occasion::asked,
          .task_id = TaskId("task_1"),
          .request_id = "req_1",
          .question = "permission",
          .title = "Tidy up",
          .text = "rm -r build"};
}

TEST(WebPush, ThePayloadSaysWhatTheWorkerNeeds) {
  EXPECT_EQ(push_payload(asked()),
            R"({"id":"ntf_1","type":"asked","task_id":"task_1","title":"Tidy up","question":"permission",)"
            R"("request_id":"req_1","reason":null,"text":"rm -r build"})");
}

TEST(WebPush, WhateverATaskIsCalledItFits) {
  Notification long_one = asked();
  long_one.title = std::string(5'000, '"');
  for (int i = 0; i < 2'000; ++i) long_one.text += "好";
  const std::string payload = push_payload(long_one);
  EXPECT_LE(payload.size(), push_plain_max);
  const boost::json::value read = boost::json::parse(payload);
  EXPECT_TRUE(is_utf8(payload));
  EXPECT_GT(read.at("title").as_string().size(), 500u);
}

TEST(WebPush, EachRequestHasAKeyAndASaltOfItsOwn) {
  SeededRandom random(1);
  const crypto::KeyPair own = crypto::KeyPair::make(random), phone = crypto::KeyPair::make(random);
  Target target;
  target.shape = Shape::push;
  target.url = "https://push.example:8443/send/abc";
  target.push_key = to_base64url(phone.public_key());
  target.push_auth = to_base64url(std::string(16, 'a'));
  const Time now{1'700'000'000'000};
  const http::Request first = push_request(target, asked(), own, random, "http://127.0.0.1:4747", now);
  const http::Request second = push_request(target, asked(), own, random, "http://127.0.0.1:4747", now);
  EXPECT_EQ(first.url, target.url);
  EXPECT_NE(first.body, second.body);
  EXPECT_NE(first.body.substr(0, 16), second.body.substr(0, 16));
  EXPECT_EQ(first.body.find("rm -r"), std::string::npos);
  const http::Headers& headers = first.headers;
  EXPECT_NE(std::ranges::find(headers, std::pair<std::string, std::string>("Content-Encoding", "aes128gcm")),
            headers.end());
  EXPECT_NE(std::ranges::find(headers, std::pair<std::string, std::string>("TTL", "86400")), headers.end());
  EXPECT_NE(std::ranges::find(headers, std::pair<std::string, std::string>("Urgency", "high")), headers.end());
}

}  // namespace
}  // namespace errand::notify
