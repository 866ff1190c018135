// Writes a run's output to its folder (journal_format.h). One writer a run, in the supervisor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "process/fd.h"
#include "process/journal_format.h"

namespace errand::process {

class JournalWriter {
 public:
  // `runs` is the folder of all runs, borrowed, and outlives this. The keeper makes the files: they are opened with the
  // first byte.
  JournalWriter(int runs, std::string run, JournalMode mode, int64_t output_limit);

  // May more be read from the child? False for a protocol at its bound, or with no disk for the next span. `draining`:
  // what an ended run left in its pipes fits above the bound, so that nobody has to wait for a reader.
  bool has_room(bool draining = false);
  // Takes all of it. A log on a full disk stops storing and goes on counting.
  void append(Stream stream, std::string_view bytes, Time now);
  // A protocol's bytes before `offset` are no longer needed.
  void release(int64_t offset);

  int64_t total() const { return header_.total; }
  bool disk_full() const { return header_.stored_end >= 0; }

 private:
  bool open();
  void begin_span();
  bool slot_has_room() const;
  bool needs_frame(Stream stream, Time now) const;
  void begin_frame(Stream stream, Time now);
  // The bytes of the frame that were stored count from now on.
  void add_to_frame(std::string_view bytes);
  void store(const void* bytes, size_t size, int fd, int64_t place);
  void publish();

  const int runs_;
  const std::string run_;
  const JournalMode mode_;
  Fd log_, index_;
  JournalHeader header_{};
  Slot slot_{-1, 0};
  IndexRecord record_{};  // Of the frame that is being written,
  FrameSum sum_{};        // its sum,
  bool fresh_ = false;    // and whether it is in the index yet.
  Stream last_stream_ = Stream::out;
  int64_t last_record_ms_ = 0;
  int64_t released_ = 0;
  int64_t allocated_ = 0;  // A protocol's ring has disk blocks up to here.
};

}  // namespace errand::process
