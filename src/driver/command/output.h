// From a journal's pieces to `output` reports: pure, so that every way of cutting a stream of bytes can be tested.
//
// Each byte of a stream is in exactly one report of that stream. A character is never split between two: the bytes of
// one that is not whole yet wait for the next report, and are part of the mark that is stored with this one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"
#include "process/journal.h"

namespace errand::command {

// How far the output was reported: a run's checkpoint. As text: the offset, and behind it only what there is of
// "out@FROM-TO=HEX" and "err@FROM-TO=HEX" (bytes of a character that is not whole yet), "cut", "watch=STATE" and, as
// long as nothing was printed, "boot=ID".
struct OutputMark {
  struct Held {  // Not always neighbours: bytes of the other stream may lie between them.
    int64_t offset = 0;
    int64_t end = 0;
    std::string bytes;
    bool operator==(const Held&) const = default;
  };
  int64_t next = 0;
  Held held[2];           // By process::Stream.
  bool cut_said = false;  // The reader was told that the log is over its limit.
  std::string boot;       // In which boot the run was started; empty: its folder was synced before. No blanks.
  std::string watch;      // Where the watch for lines stands (watch.h); no blanks.
  bool operator==(const OutputMark&) const = default;
};
std::string encode_mark(const OutputMark& mark);
Result<OutputMark> decode_mark(std::string_view text);

inline constexpr size_t segments_max = 16;  // Reports of one call; past it they are joined to one a stream.

class OutputReports {
 public:
  explicit OutputReports(OutputMark mark = {}) : mark_(std::move(mark)) {}

  // What was read from mark().next on.
  void add(const process::JournalRead& read);
  // Goes on at `to` without having read what is before: it is reported with no text, for both streams.
  void skip(int64_t to);
  // Nothing follows: a character that is not whole will never be.
  void finish();
  // The reports of all that was added since the last call; none where nothing was.
  std::vector<Report> take(const std::shared_ptr<Syncable>& log);

  const OutputMark& mark() const { return mark_; }
  void set_watch(std::string state) { mark_.watch = std::move(state); }

 private:
  struct Range {
    int64_t offset = 0;
    int64_t end = 0;
  };
  // The bytes of one stream in [offset, end).
  struct Segment {
    process::Stream stream = process::Stream::out;
    int64_t offset = 0;
    int64_t end = 0;
    int64_t lines = 0;
    std::string text;
    bool full = false;  // `text` is at its bound, or ends before `end`: nothing is appended any more.
  };
  void add_piece(const process::Piece& piece);
  void add_bytes(process::Stream stream, Range range, std::string_view bytes);
  void append(process::Stream stream, Range range, std::string_view bytes);
  void release_held();
  void join();
  OutputMark::Held& held(process::Stream stream) { return mark_.held[static_cast<size_t>(stream)]; }

  OutputMark mark_;
  std::vector<Segment> segments_;
  bool joined_ = false;  // Too many for one call: from now on one segment a stream, whose ranges overlap.
  bool cut_ = false;
};

}  // namespace errand::command
