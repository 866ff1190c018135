#include "engine/output_text.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace errand {
namespace {

// A log of both streams, taking turns, read as a journal is: whole pieces cut at the bounds of what is asked for.
class Log final : public Driver {
 public:
  void print(std::string stream, std::string bytes) {
    pieces_.push_back({std::move(stream), size_, {}, bytes});
    size_ += std::ssize(bytes);
  }
  int64_t size() const { return size_; }

  Capabilities capabilities() const override { return {}; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest, Sink&) override { return fail(Code::unsupported, "A log."); }
  Result<LogRead> read_log(const TaskId&, int, int64_t offset, int64_t limit) const override {
    LogRead out{.pieces = {}, .next = std::min(offset + limit, size_), .size = size_};
    for (LogPiece piece : pieces_) {
      const int64_t from = std::max(piece.offset, offset);
      const int64_t to = std::min(piece.offset + std::ssize(piece.bytes), out.next);
      if (from >= to) continue;
      piece.bytes = piece.bytes.substr(static_cast<size_t>(from - piece.offset), static_cast<size_t>(to - from));
      piece.offset = from;
      out.pieces.push_back(std::move(piece));
    }
    return out;
  }

 private:
  std::vector<LogPiece> pieces_;
  int64_t size_ = 0;
};

TEST(OutputText, IsOfOneStreamThoughTheOtherPrintedInTheSameRange) {
  Log log;
  std::string out, err;
  for (int i = 0; i < 3'000; ++i) {
    out += "out " + std::to_string(i) + "\n";
    err += "err " + std::to_string(i) + "\n";
    log.print("stdout", "out " + std::to_string(i) + "\n");
    log.print("stderr", "err " + std::to_string(i) + "\n");
  }
  ASSERT_GT(log.size(), std::ssize(out) + 1) << "the range of one stream holds both";
  ASSERT_LT(out.size(), output_text_max) << "and what one printed fits, though the range is over the bound";
  EXPECT_EQ(output_text(log, TaskId("task_a"), {"stdout", 1, 0, log.size()}), out);
  EXPECT_EQ(output_text(log, TaskId("task_a"), {"stderr", 1, 0, log.size()}), err);
}

TEST(OutputText, IsBoundedWithoutSplittingACharacter) {
  Log log;
  for (size_t i = 0; i < output_text_max / 2; ++i) log.print("stdout", "\xe4\xb8\xad");
  const std::string text = output_text(log, TaskId("task_a"), {"stdout", 1, 0, log.size()});
  EXPECT_LE(text.size(), output_text_max);
  EXPECT_GT(text.size(), output_text_max - 3);
  EXPECT_EQ(text.find("\xef\xbf\xbd"), std::string::npos);
  EXPECT_EQ(text.size() % 3, 0U);
}

TEST(OutputText, EndsWithItsRange) {
  Log log;
  log.print("stdout", "one");
  log.print("stdout", "two");
  EXPECT_EQ(output_text(log, TaskId("task_a"), {"stdout", 1, 0, 3}), "one");
  EXPECT_EQ(output_text(log, TaskId("task_a"), {"stdout", 1, 3, 3}), "two");
  EXPECT_EQ(output_text(log, TaskId("task_a"), {"stdout", 1, 6, 3}), "");
}

}  // namespace
}  // namespace errand
