// A phone becomes a device, logs in with its key, may what it may, and is gone when it is revoked (R17.1).
#include <gtest/gtest.h>

#include "base/encode.h"
#include "crypto/p256.h"
#include "tests/api/site.h"

namespace errand::net {
namespace {

namespace json = boost::json;

struct DeviceTest : testing::Test {
  Site site;
  crypto::KeyPair pair = crypto::KeyPair::make(site.world.random);

  void SetUp() override { site.auth.add_port(4747); }

  Response post(const std::string& path, const json::object& body, Principal who = {}) {
    return site.call({.method = Method::post, .path = path, .body = json::serialize(body), .who = std::move(who)});
  }
  json::value good(const std::string& path, const json::object& body, int status = 200) {
    const Response response = post(path, body);
    EXPECT_EQ(response.status, status) << response.body;
    return json::parse(response.body);
  }
  json::value opened(const std::string& body = "{}") {
    return site.json({.method = Method::post, .path = "/api/devices/codes", .body = body}, 201);
  }
  json::object wish(const json::value& code) {
    return {{"code", code}, {"name", "Pixel"}, {"key", to_base64url(pair.public_key())}};
  }
  json::value paired() { return good("/api/pair", wish(opened().at("code")), 201); }
  std::string challenge(const std::string& device) {
    return text_in(good("/api/login/challenge", {{"device", device}}).at("challenge"));
  }
  json::object signed_login(const std::string& device, const std::string& asked) {
    return {{"device", device},
            {"challenge", asked},
            {"signature", to_base64url(pair.sign(std::string(signed_prefix) + asked))}};
  }
  // Whom the server takes the holder of this session for.
  std::optional<Principal> caller(const std::string& session) {
    Request request;
    request.path = "/api/tasks";
    request.peer = "10.0.0.9";
    request.headers = {{"host", "localhost:4747"}, {"authorization", "Bearer " + session}};
    if (site.auth.check(request, 0)) return std::nullopt;
    return request.who;
  }
};

TEST_F(DeviceTest, ACodeMakesADeviceWithTheScopesOfAPhone) {
  const json::value code = opened();
  EXPECT_EQ(text_in(code.at("page")), "https://errand.example/pair");
  EXPECT_EQ(text_in(code.at("url")).find("https://errand.example/pair#"), 0u);
  const std::string watched = "/api/devices/codes/" + text_in(code.at("id"));
  EXPECT_EQ(text_in(site.json({.path = watched}).at("state")), "open");
  const json::value made = good("/api/pair", wish(code.at("code")), 201);
  const json::value& device = made.at("device");
  EXPECT_EQ(text_in(device.at("name")), "Pixel");
  EXPECT_EQ(json::serialize(device.at("scopes")), R"(["read","tasks","approve"])");
  const json::value after = site.json({.path = watched});
  EXPECT_EQ(text_in(after.at("state")), "used");
  EXPECT_EQ(after.at("device").at("id"), device.at("id"));

  const std::optional<Principal> who = caller(text_in(made.at("session")));
  ASSERT_TRUE(who);
  EXPECT_EQ(who->id, text_in(device.at("id")));
  EXPECT_TRUE(who->may(Scope::approve) && who->may(Scope::tasks) && !who->may(Scope::exec) && !who->may(Scope::admin));
  EXPECT_EQ(site.call({.path = "/api/tasks", .who = *who}).status, 200);
  EXPECT_EQ(site.call({.path = "/api/tokens", .who = *who}).status, 403);
  EXPECT_EQ(site.call({.path = "/api/devices", .who = *who}).status, 403);
  EXPECT_EQ(
      site.call({.method = Method::post, .path = "/api/tasks", .body = R"({"command":"true"})", .who = *who}).status,
      403);
  EXPECT_EQ(site.call({.path = "/api/devices/" + who->id, .who = *who}).status, 200);
}

TEST_F(DeviceTest, AWrongOrUsedCodeMakesNone) {
  EXPECT_EQ(post("/api/pair", wish("AAAAAAAA")).status, 401);
  const json::value code = opened();
  good("/api/pair", wish(code.at("code")), 201);
  EXPECT_EQ(post("/api/pair", wish(code.at("code"))).status, 401);
  json::object no_key = wish(opened().at("code"));
  no_key["key"] = "AAAA";
  EXPECT_EQ(post("/api/pair", no_key).status, 400);
  EXPECT_EQ(site.devices.list().size(), 1u);
  for (int i = 0; i < 20; ++i) post("/api/pair", wish("AAAAAAAA"));
  EXPECT_EQ(post("/api/pair", wish("AAAAAAAA")).status, 429) << "who guesses is slowed down";
}

TEST_F(DeviceTest, NoPhoneIsAnAdministrator) {
  EXPECT_EQ(site.call({.method = Method::post, .path = "/api/devices/codes", .body = R"({"scopes":["admin"]})"}).status,
            400);
  const json::value code = opened(R"({"scopes":["read"]})");
  const json::value made = good("/api/pair", wish(code.at("code")), 201);
  EXPECT_EQ(json::serialize(made.at("device").at("scopes")), R"(["read"])");
}

TEST_F(DeviceTest, ItsKeyOpensAShortSession) {
  const std::string device = text_in(paired().at("device").at("id"));
  const json::value in = good("/api/login/device", signed_login(device, challenge(device)));
  const std::string session = text_in(in.at("session"));
  ASSERT_TRUE(caller(session));
  EXPECT_EQ(caller(session)->id, device);
  std::string other = session;
  other.back() = other.back() == 'A' ? 'B' : 'A';
  EXPECT_FALSE(caller(other));
  site.world.clock.advance(device_session_ms);
  EXPECT_FALSE(caller(session)) << "an hour later it is over";
  EXPECT_TRUE(caller(text_in(good("/api/login/device", signed_login(device, challenge(device))).at("session"))));
}

TEST_F(DeviceTest, AChallengeIsSignedByTheDeviceOnceAndSoon) {
  const std::string device = text_in(paired().at("device").at("id"));
  const std::string asked = challenge(device);
  json::object wrong = signed_login(device, asked);
  wrong["signature"] = to_base64url(crypto::KeyPair::make(site.world.random).sign(std::string(signed_prefix) + asked));
  EXPECT_EQ(post("/api/login/device", wrong).status, 401) << "of another key";
  EXPECT_EQ(post("/api/login/device", signed_login(device, "made.1900000000.up")).status, 401) << "of our own making";
  EXPECT_EQ(post("/api/login/device", signed_login(device, challenge("dev_other"))).status, 401) << "of another device";
  good("/api/login/device", signed_login(device, asked));
  EXPECT_EQ(post("/api/login/device", signed_login(device, asked)).status, 409) << "once";
  const std::string late = challenge(device);
  site.world.clock.advance(challenge_ms + 1'000);
  EXPECT_EQ(post("/api/login/device", signed_login(device, late)).status, 409) << "soon";
}

TEST_F(DeviceTest, WhatIsRevokedIsOverAtOnce) {
  const json::value made = paired();
  const std::string device = text_in(made.at("device").at("id")), session = text_in(made.at("session"));
  const auto reader = site.open({.path = "/api/stream", .who = *caller(session)});
  EXPECT_FALSE(reader->ended);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/devices/" + device}).status, 204);
  EXPECT_EQ(site.ended_stale, 1) << "what it has open is closed";
  EXPECT_FALSE(caller(session));
  EXPECT_EQ(post("/api/login/device", signed_login(device, challenge(device))).status, 401);
  reader->pump();
  EXPECT_TRUE(reader->ended);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/devices/" + device}).status, 404);
}

TEST_F(DeviceTest, OneDeviceKnowsNothingOfAnotherAndMayForgetItself) {
  const json::value first = paired();
  const json::value second = paired();
  const Principal who = *caller(text_in(first.at("session")));
  const std::string other = "/api/devices/" + text_in(second.at("device").at("id"));
  EXPECT_EQ(site.call({.path = other, .who = who}).status, 404);
  EXPECT_EQ(site.call({.method = Method::del, .path = other, .who = who}).status, 404);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/devices/" + who.id, .who = who}).status, 204);
  EXPECT_EQ(site.devices.list().size(), 1u);
}

TEST_F(DeviceTest, DevicesOutliveTheServer) {
  const std::string device = text_in(paired().at("device").at("id"));
  Devices again(*site.world.store, site.world.clock, site.world.random);
  ASSERT_TRUE(again.load());
  ASSERT_NE(again.find(device), nullptr);
  EXPECT_EQ(again.find(device)->key, pair.public_key());
  EXPECT_EQ(again.find(device)->scopes, site.devices.find(device)->scopes);
}

TEST_F(DeviceTest, ThereAreOnlySoMany) {
  for (size_t i = 0; i < devices_max; ++i) paired();
  const Response refused = site.call({.method = Method::post, .path = "/api/devices/codes", .body = "{}"});
  EXPECT_EQ(refused.status, 503) << refused.body;
}

}  // namespace
}  // namespace errand::net
