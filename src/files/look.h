// Looking at text of any size, within bounds: a page of it, its last lines, the lines that contain something. What an
// agent's `look_at` and the previews of artifacts are made of; a file and a run's log are read alike.
//
// Whatever the bytes are, what is given is UTF-8 without terminal escapes (where `strip`) and no longer than asked for,
// and it takes a bounded time: past `scan_max` bytes or `patience_ms` a search stops and says how far it came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "files/beneath.h"

namespace errand::files {

// Bytes that are read by offset, and may grow meanwhile. Threads: one at a time; blocking.
class Source {
 public:
  virtual ~Source() = default;
  struct Chunk {
    std::string bytes;
    int64_t offset = 0;    // Of the first of them.
    int64_t next = 0;      // Where to go on. Not beyond `offset` and no bytes: there is nothing (yet).
    int64_t cut = 0;       // Bytes before `offset` that are no longer there: the source kept head and tail only;
    bool damaged = false;  // or they are not what was written.
  };
  virtual Result<Chunk> read(int64_t offset, int64_t limit) = 0;
  virtual int64_t size() = 0;
  // False: it is always text, as a log is.
  virtual bool may_be_binary() const { return true; }
};

std::unique_ptr<Source> file_source(File file);

inline constexpr int64_t look_limit_default = 16 * 1024;
inline constexpr int64_t look_limit_max = 8 << 20;
inline constexpr int look_tail_max = 100'000;
inline constexpr int look_context_max = 50;
inline constexpr size_t look_line_max = 64 * 1024;  // A longer line is given, and searched, in parts.

struct Look {
  int64_t offset = 0;                  // In bytes; a negative one counts from the end.
  int64_t limit = look_limit_default;  // Bytes of text that are given, at most.
  std::optional<int> tail;             // The last so many lines (that match); `offset` does not count.
  std::string grep;          // Only lines that contain it: plain text, not a pattern. Compared as it is shown.
  int context = 0;           // With grep: so many lines around each.
  bool line_numbers = true;  // With grep: "12:line" and, for context, "11-line". Only where it began at offset 0.
  bool strip = true;         // Without terminal escapes.
  Millis patience_ms = 2'000;
  int64_t scan_max = 256LL << 20;
};

struct Seen {
  std::string text;      // UTF-8; a cut source says so in it.
  int64_t offset = 0;    // Where the text begins,
  int64_t next = 0;      // and where to go on.
  int64_t size = 0;      // All that there is now.
  int64_t matches = 0;   // With grep.
  bool more = false;     // Something follows (with tail: came before) that was not given.
  bool stopped = false;  // The search took too long and ended at `next`.
  bool binary = false;   // It is not text; `text` is empty.
};

// Reads what `what` asks for; its limit, tail and context are first cut to their bounds. Blocking.
Result<Seen> look(Source& source, Look what, Clock& clock);

// A word for the reader where a look did not give all: "Bytes 0 to 16384 of 99000; ask for offset=16384 to go on."
// Empty where it did.
std::string describe(const Seen& seen);

}  // namespace errand::files
