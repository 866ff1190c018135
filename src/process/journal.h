// Reads what a run printed, from its folder. The supervisor writes it; anybody may read beside it.
//
// Offsets count the child's bytes in the order in which they came, both streams together. `log` mode keeps head and
// tail: a read that falls into the cut says how much was left out and continues after it. Damaged bytes (a frame's
// checksum is wrong) are left out in the same way, with `damaged` set. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/syncable.h"
#include "base/time.h"
#include "process/journal_format.h"

namespace errand::process {

struct Piece {
  Stream stream = Stream::out;
  int64_t offset = 0;
  Time at;  // When it was read from the child.
  std::string bytes;
};

struct JournalRead {
  std::vector<Piece> pieces;  // In order; neighbours of one stream that came within a second are joined.
  int64_t next = 0;           // Where to go on.
  int64_t cut = 0;            // Bytes before the first piece that are no longer there;
  bool damaged = false;       // or, with no piece behind them, that are damaged on the disk.
};

class Journal : public Syncable {
 public:
  // `folder` is the run's. not_found where it has none.
  static Result<std::shared_ptr<Journal>> open(const std::string& folder);
  // When it returns, everything that the journal had at the time of the call is on disk.
  Status sync() override = 0;
  // At most `limit` bytes from `offset`. Nothing there yet: no pieces, next == offset.
  virtual Result<JournalRead> read(int64_t offset, int64_t limit) = 0;
  virtual int64_t size() = 0;  // All bytes so far, cut or not.
};

std::string run_folder(const std::string& data_dir, const std::string& run);
// The file a person may open: what came, as it came. Of a run past its limit, once it has ended: head, a line that says
// how much was left out, tail.
std::string log_file(const std::string& data_dir, const std::string& run);

}  // namespace errand::process
