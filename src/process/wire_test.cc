#include "process/wire.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/id.h"
#include "process/journal_format.h"
#include "process/protocol.h"
#include "process/run.h"

namespace errand::process {
namespace {

TEST(Wire, WhatIsWrittenIsRead) {
  FrameOut out;
  out.add("op", "spawn").add("n", int64_t{-5}).add("arg", "a").add("arg", "").add("arg", std::string("\0b", 2));
  FrameReader reader;
  std::string frame = out.take();
  reader.append(frame + frame);
  for (int i = 0; i < 2; ++i) {
    auto payload = reader.next();
    ASSERT_TRUE(payload);
    auto fields = Fields::parse(*payload);
    ASSERT_TRUE(fields);
    EXPECT_EQ(fields->text("op"), "spawn");
    EXPECT_EQ(fields->number("n"), -5);
    EXPECT_EQ(fields->all("arg"), (std::vector<std::string_view>{"a", "", std::string_view("\0b", 2)}));
  }
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.broken());
}

TEST(Wire, UnknownAndMissingKeysAreNoErrors) {
  FrameOut out;
  out.add("from_the_future", "x").add("known", "7");
  auto fields = Fields::parse(out.payload());
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->number("known"), 7);
  EXPECT_EQ(fields->number("missing", 3), 3);
  EXPECT_EQ(fields->text("missing"), "");
  EXPECT_FALSE(fields->has("missing"));
}

TEST(Wire, ANumberIsWholeOrTheDefault) {
  for (const char* text : {"", "x", "1x", " 1", "1 ", "99999999999999999999", "1.5", "--1"}) {
    FrameOut out;
    out.add("n", text);
    EXPECT_EQ(Fields::parse(out.payload())->number("n", 42), 42) << text;
  }
}

TEST(Wire, FramesArriveInAnyPieces) {
  SeededRandom random(20261115);
  std::string stream;
  for (int i = 0; i < 200; ++i)
    stream += FrameOut().add("i", int64_t{i}).add("x", std::string(random.below(2'000), 'x')).take();
  FrameReader reader;
  int next = 0;
  for (size_t at = 0; at < stream.size();) {
    size_t size = std::min<size_t>(1 + random.below(700), stream.size() - at);
    reader.append(std::string_view(stream).substr(at, size));
    at += size;
    while (auto payload = reader.next()) EXPECT_EQ(Fields::parse(*payload)->number("i"), next++);
  }
  EXPECT_EQ(next, 200);
}

TEST(Wire, SizesOverTheirBoundsAreRefused) {
  FrameReader reader;
  reader.append(std::string("\xff\xff\xff\x7f", 4));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.broken());
  FrameOut many;
  for (size_t i = 0; i <= frame_fields_max; ++i) many.add("k", "");
  EXPECT_FALSE(Fields::parse(many.payload()));
  FrameOut long_key;
  long_key.add(std::string(frame_key_max + 1, 'k'), "v");
  EXPECT_FALSE(Fields::parse(long_key.payload()));
  FrameOut empty_key;
  empty_key.add("", "v");
  EXPECT_FALSE(Fields::parse(empty_key.payload()));
  FrameOut big;
  big.add("k", std::string(frame_max, 'x'));
  EXPECT_FALSE(big.fits());
}

TEST(Wire, ATruncatedPayloadIsMalformed) {
  FrameOut out;
  out.add("key", "value");
  std::string payload(out.payload());
  for (size_t size = 1; size < payload.size(); ++size) EXPECT_FALSE(Fields::parse(payload.substr(0, size))) << size;
}

TEST(Wire, AnEndSurvivesTheDisk) {
  RunEnd end{
      .how = RunEnd::How::timeout, .exit_code = 3, .signal = 15, .text = "why", .cpu_s = 1.5, .max_memory_bytes = 7};
  end.started_at.ms = 1;
  end.ended_at.ms = 2;
  end.output_bytes = 1LL << 40;
  auto read = decode_end(encode_end(end));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->how, end.how);
  EXPECT_EQ(read->exit_code, 3);
  EXPECT_EQ(read->signal, 15);
  EXPECT_EQ(read->text, "why");
  EXPECT_DOUBLE_EQ(read->cpu_s, 1.5);
  EXPECT_EQ(read->output_bytes, 1LL << 40);
  EXPECT_EQ(read->ended_at.ms, 2);
}

TEST(Wire, TheLongestEndFitsItsPlace) {
  RunEnd end;
  end.how = RunEnd::How::spawn_failed;
  end.text = std::string(100'000, 'x');
  end.exit_code = end.signal = std::numeric_limits<int>::min();
  end.max_memory_bytes = end.output_bytes = end.started_at.ms = end.ended_at.ms = std::numeric_limits<int64_t>::min();
  end.cpu_s = 1e12;
  end.left_nothing = true;
  end.limit = "processes";
  end.limit_value = end.limit_seen = std::numeric_limits<int64_t>::min();
  std::string record = encode_end(end);
  EXPECT_LE(record.size(), static_cast<size_t>(end_room));
  ASSERT_TRUE(decode_end(record));
}

// A server and a supervisor of different builds: what one does not say is what the other did before there was a word.
TEST(Wire, WhatAnOlderOneDoesNotSayIsAsItWas) {
  const auto read = [](const SpawnRequest& request) {
    FrameOut out;
    put_spawn(out, request);
    return get_spawn(*Fields::parse(out.payload()));
  };
  SpawnRequest request{.run = "task_a.1", .argv = {"true"}, .work_dir = "/"};
  EXPECT_FALSE(read(request)->boot_stored);
  EXPECT_EQ(read(request)->artifacts, "");
  request.boot_stored = true;
  request.artifacts = "/data/artifacts/task_a";
  EXPECT_TRUE(read(request)->boot_stored);
  EXPECT_EQ(read(request)->artifacts, request.artifacts);
  request.artifacts = "artifacts/task_a";
  EXPECT_FALSE(read(request)) << "relative to whose folder?";
  EXPECT_FALSE(get_abilities(*Fields::parse(FrameOut().add("cgroup", int64_t{1}).payload())).artifacts);
  EXPECT_FALSE(get_end(*Fields::parse(FrameOut().add("how", "exited").payload())).left_nothing);
}

TEST(Wire, OnlyATaskAndANumberNameARun) {
  for (const char* good : {"task_01jcq5.1", "a.0", "A_9.123"}) EXPECT_TRUE(is_run_name(good)) << good;
  for (const char* bad :
       {"", ".", "..", ".1", "a.", "a", "a.1.1", "a/b.1", "../a.1", "a.1/", "a b.1", "a.x", "a-b.1", ".removed.a.1"})
    EXPECT_FALSE(is_run_name(bad)) << bad;
}

}  // namespace
}  // namespace errand::process
