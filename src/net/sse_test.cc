#include "net/sse.h"

#include <gtest/gtest.h>

namespace errand::net {
namespace {

std::string frame(std::string_view id, std::string_view event, std::string_view data) {
  std::string out;
  append_sse_frame(out, id, event, data);
  return out;
}

TEST(Sse, FramesCannotBeBrokenByWhatTheyCarry) {
  EXPECT_EQ(frame("7", "output", "{}"), "id: 7\nevent: output\ndata: {}\n\n");
  EXPECT_EQ(frame("", "", "x"), "data: x\n\n");
  EXPECT_EQ(frame("1\nevent: evil", "a\r\ndata: evil", "x"), "id: 1event: evil\nevent: adata: evil\ndata: x\n\n");
  EXPECT_EQ(frame("", "", "a\nb\r\nc\rd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(frame("", "", "a\n\nevent: evil"), "data: a\ndata: \ndata: event: evil\n\n");
  EXPECT_EQ(frame("", "", ""), "data: \n\n");
}

TEST(Sse, RepliesAreNotStoredOrBuffered) {
  const Response response = sse_response();
  EXPECT_EQ(response.content_type, "text/event-stream");
  const std::vector<std::pair<std::string, std::string>> headers = {{"Cache-Control", "no-store"},
                                                                    {"X-Accel-Buffering", "no"}};
  EXPECT_EQ(response.headers, headers);
}

}  // namespace
}  // namespace errand::net
