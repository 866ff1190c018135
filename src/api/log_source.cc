#include "api/log_source.h"

namespace errand::api {
namespace {

class LogSource final : public files::Source {
 public:
  LogSource(const Driver& driver, TaskId task, int run) : driver_(driver), task_(std::move(task)), run_(run) {}

  Result<Chunk> read(int64_t offset, int64_t limit) override {
    Result<LogRead> read = driver_.read_log(task_, run_, offset, limit);
    // A run that was not begun, or a kind of task that prints nothing, has an empty log.
    if (!read && read.error().code == Code::not_found) return Chunk{.bytes = {}, .offset = offset, .next = offset};
    if (!read) return std::unexpected(read.error());
    Chunk chunk{.bytes = {}, .offset = read->pieces.empty() ? read->next : read->pieces.front().offset};
    chunk.next = std::max(read->next, offset);
    chunk.cut = read->cut;
    chunk.damaged = read->damaged;
    for (const LogPiece& piece : read->pieces) chunk.bytes += piece.bytes;
    return chunk;
  }
  int64_t size() override {
    const Result<LogRead> read = driver_.read_log(task_, run_, 0, 1);
    return read ? read->size : 0;
  }
  bool may_be_binary() const override { return false; }

 private:
  const Driver& driver_;
  const TaskId task_;
  const int run_;
};

}  // namespace

std::unique_ptr<files::Source> log_source(const Driver& driver, TaskId task, int run) {
  return std::make_unique<LogSource>(driver, std::move(task), run);
}

}  // namespace errand::api
