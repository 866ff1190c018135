#include "driver/run/log.h"

#include <algorithm>
#include <utility>

namespace errand::run {

Result<LogRead> read_log(process::Journal& journal, int64_t offset, int64_t limit) {
  LogRead out;
  out.size = journal.size();
  const int64_t from = std::clamp<int64_t>(offset < 0 ? out.size + offset : offset, 0, out.size);
  Result<process::JournalRead> read = journal.read(from, limit);
  if (!read) return std::unexpected(read.error());
  out.next = read->next;
  out.cut = read->cut;
  out.damaged = read->damaged;
  for (process::Piece& piece : read->pieces)
    out.pieces.push_back(
        {piece.stream == process::Stream::out ? "stdout" : "stderr", piece.offset, piece.at, std::move(piece.bytes)});
  return out;
}

}  // namespace errand::run
