// How a run's output lies on disk, for its one writer (the supervisor) and its readers.
//
// `log` holds the bytes as they came. They are numbered from 0, both streams together. The first `head` bytes stay;
// what follows goes into a ring of `ring` bytes behind them. So an output that fits is one plain file, and a longer one
// keeps its head and its tail in bounded space. (A protocol's journal has no head; its ring is never overrun, since the
// supervisor stops reading first.)
//
// `index` is a header, the place for the run's end, then one slot for each `span` bytes of `log`: the records that tell
// streams and times apart. A record says from which offset on, until the next one, the bytes are of this stream and
// came about this time. Every span begins with a record of its own, so a reader needs one slot. A slot that is full
// takes no more records: the bytes stay right, only streams that alternate more than once in 256 bytes are no longer
// told apart.
//
// A frame is what one record describes: 16 KiB at most, while its slot has room. Before its record stands its sum: how
// many bytes it has, and their CRC-32C together with the record's. A sum looks like a record of no bytes (it has the
// offset of the record behind it), so an errand that knows no sums reads these journals too, and a journal without sums
// is read as it always was. A frame whose sum is wrong is left out, and said (Journal::read).
//
// Order of writing: `kept_from` moves before what it gives up is overwritten; bytes come before the sum that counts
// them; `total` moves last. A reader that looks at the header again behind its read knows whether what it has is whole.
//
// When a run has ended past its limit, `log` is rewritten for people (head, a line that says what was left out, tail in
// order) and replaced; `final_size` tells a reader which of the two it has opened.
#pragma once

#include <cstdint>
#include <optional>

#include "process/client.h"

namespace errand::process {

enum class Stream : uint8_t { out, err };

inline constexpr char journal_magic[8] = {'e', 'r', 'r', 'j', 'r', 'n', 'l', '1'};
inline constexpr int64_t default_output_limit = 64LL << 20;
inline constexpr int64_t min_output_limit = 64LL << 10;
inline constexpr int64_t protocol_bound = 64LL << 20;  // Unreleased bytes, past which a protocol is not read.
inline constexpr int64_t protocol_slack = 4LL << 20;  // What its ring holds more: a read may begin below and end above.

struct Layout {
  int64_t head = 0;
  int64_t ring = 0;
  int64_t span = 0;

  static Layout of_log(int64_t output_limit);
  static Layout of_protocol();

  int64_t place(int64_t offset) const { return offset < head ? offset : head + (offset - head) % ring; }
  int64_t slot_records() const { return span / 128 - 1; }
  int64_t slot_place(int64_t offset) const;
};

// The first bytes of `index`.
struct JournalHeader {
  char magic[8];
  Layout layout;
  int64_t total;       // Bytes so far.
  int64_t kept_from;   // Behind the head, bytes before this are gone.
  int64_t stored_end;  // Where the disk was full and storing stopped; -1: nowhere.
  int64_t final_size;  // Of a log that was rewritten; 0: it was not.

  bool wrapped() const { return total > layout.head + layout.ring; }
};
static_assert(sizeof(JournalHeader) == 64);

// Between the header and the slots: how the run ended (run.h).
inline constexpr int64_t end_place = sizeof(JournalHeader);
inline constexpr int64_t slots_place = 2'048;
inline constexpr int64_t end_room = slots_place - end_place;

struct Slot {
  int64_t span;   // Which span of the output it describes.
  int64_t count;  // Its records.
};

struct IndexRecord {
  uint64_t offset_and_stream;  // The stream is the highest bit.
  int64_t at_ms;

  static IndexRecord make(int64_t offset, Stream stream, int64_t at_ms) {
    return {static_cast<uint64_t>(offset) | (stream == Stream::err ? err_bit : 0), at_ms};
  }
  int64_t offset() const { return static_cast<int64_t>(offset_and_stream & ~err_bit); }
  Stream stream() const { return offset_and_stream & err_bit ? Stream::err : Stream::out; }

  static constexpr uint64_t err_bit = 1ull << 63;
};
static_assert(sizeof(Slot) == sizeof(IndexRecord));

// A frame's sum, where a record might stand.
struct FrameSum {
  uint64_t offset_and_stream;  // The record's.
  uint32_t size;
  uint32_t sum;

  // Of a frame's bytes so far, its record first.
  static uint32_t begin(const IndexRecord& record);
  // What the two entries are, where they are a sum and its record.
  static std::optional<FrameSum> of(const IndexRecord& entry, const IndexRecord& record);
};
static_assert(sizeof(FrameSum) == sizeof(IndexRecord));
inline constexpr int64_t journal_frame_max = 16 << 10;

// The two files, empty. 0 or errno.
int make_journal(int folder);

// Nothing where the index is empty (no output yet) or not ours.
std::optional<JournalHeader> read_header(int index);
int64_t journal_total(int folder);

// For a run that has ended: its log is on disk, and one past its limit is put in order. The index follows with the end
// (write_end). 0 or errno.
int finish_journal(int folder);

}  // namespace errand::process
