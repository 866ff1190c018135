// R12.1: the page's own files answer without credentials, and nothing else comes with them.
#include "net/page.h"

#include <gtest/gtest.h>

namespace errand::net {
namespace {

constexpr PageFile files[] = {
    {.path = "/index.html",
     .media_type = "text/html; charset=utf-8",
     .etag = "\"one\"",
     .plain = "<html>",
     .gzip = "GZ",
     .brotli = "BR"},
    {.path = "/assets/main-1234.js",
     .media_type = "text/javascript; charset=utf-8",
     .etag = "\"two\"",
     .plain = "code",
     .gzip = {},
     .brotli = {},
     .immutable = true},
};

Response get(std::string path, std::vector<std::pair<std::string, std::string>> headers = {},
             Method method = Method::get) {
  Request request;
  request.method = method;
  request.path = std::move(path);
  request.headers = std::move(headers);
  return page_reply(request, files);
}

std::string header(const Response& response, std::string_view wanted) {
  for (const auto& [name, value] : response.headers)
    if (name == wanted) return value;
  return {};
}

TEST(PageTest, ThePagesAddressesAreItsIndex) {
  for (const char* path :
       {"/", "/tasks", "/chat", "/agents", "/batches", "/attempts", "/usage", "/settings", "/index.html"}) {
    const Response response = get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, "<html>") << path;
    EXPECT_EQ(header(response, "Cache-Control"), "no-cache");
  }
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_EQ(get("/nowhere").body, "<html>");
}

TEST(PageTest, AHashedNameIsKeptForEverAndAMissingOneIsNoPage) {
  EXPECT_EQ(header(get("/assets/main-1234.js"), "Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(get("/assets/main-0000.js").status, 404);
  EXPECT_EQ(get("/assets/main-0000.js").content_type, "application/problem+json");
}

TEST(PageTest, TheBestCodingThatTheBrowserTakesIsChosen) {
  EXPECT_EQ(get("/", {{"accept-encoding", "gzip, deflate, br"}}).body, "BR");
  EXPECT_EQ(header(get("/", {{"accept-encoding", "gzip, br"}}), "Content-Encoding"), "br");
  EXPECT_EQ(get("/", {{"accept-encoding", "gzip"}}).body, "GZ");
  EXPECT_EQ(get("/", {{"accept-encoding", "br;q=0, GZIP;q=0.5"}}).body, "GZ");
  EXPECT_EQ(get("/", {{"accept-encoding", "identity"}}).body, "<html>");
  EXPECT_EQ(get("/assets/main-1234.js", {{"accept-encoding", "gzip, br"}}).body, "code");
  EXPECT_EQ(header(get("/"), "Vary"), "Accept-Encoding");
}

TEST(PageTest, WhatTheBrowserHasIsNotSentAgain) {
  EXPECT_EQ(get("/tasks", {{"if-none-match", "\"zero\", W/\"one\""}}).status, 304);
  EXPECT_EQ(get("/tasks", {{"if-none-match", "\"one\""}}).body, "");
  EXPECT_EQ(get("/tasks", {{"if-none-match", "\"two\""}}).status, 200);
  EXPECT_EQ(get("/nowhere", {{"if-none-match", "\"one\""}}).status, 404);
}

TEST(PageTest, EveryFileHasThePolicy) {
  for (const char* path : {"/", "/nowhere", "/assets/main-1234.js"}) {
    const std::string policy = header(get(path), "Content-Security-Policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none';")) << path;
    EXPECT_NE(policy.find("require-trusted-types-for 'script'"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  }
}

TEST(PageTest, OnlyReadingIsServed) {
  EXPECT_EQ(get("/", {}, Method::post).status, 405);
  EXPECT_EQ(header(get("/", {}, Method::post), "Allow"), "GET, HEAD");
  EXPECT_EQ(get("/", {}, Method::head).status, 200);
}

TEST(PageTest, TheBinaryHasAnIndex) {
  ASSERT_FALSE(page_files().empty());
  EXPECT_EQ(page_reply(Request{.path = "/"}, page_files()).status, 200);
}

}  // namespace
}  // namespace errand::net
