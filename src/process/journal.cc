#include "process/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

#include <sys/stat.h>

#include "process/fd.h"
#include "process/run.h"

namespace errand::process {
namespace {

constexpr Millis join_within_ms = 1'000;
constexpr int64_t latest_ms = 253'402'300'799'999;  // The year 9999; past it an index is damaged.
constexpr int64_t read_max = 16LL << 20;            // More in one call is answered in part.

Error damaged(const char* what) {
  return Error{Code::internal, std::string("The log of this run cannot be read: ") + what + ".", "corrupt"};
}

class FolderJournal final : public Journal {
 public:
  explicit FolderJournal(Fd folder) : folder_(std::move(folder)) {}

  Result<JournalRead> read(int64_t offset, int64_t limit) override {
    std::lock_guard lock(mutex_);
    if (offset < 0 || limit <= 0) return fail(Code::invalid_argument, "A log is read from offset 0 or later.");
    // A writer that overtakes the read makes it begin again, further on.
    for (int attempt = 0; attempt < 16; ++attempt) {
      auto header = open_files();
      if (!header) return JournalRead{{}, offset, 0};
      auto result = read_once(*header, offset, std::min(limit, read_max));
      if (!result) return result;
      auto after = read_header(index_.get());
      if (!after) return std::unexpected(damaged("its index changed"));
      int64_t first = result->pieces.empty() ? result->next : result->pieces.front().offset;
      if (first < after->layout.head || first >= after->kept_from) return result;
    }
    return fail(Code::unavailable, "The log is written faster than it can be read; try again.");
  }

  int64_t size() override {
    std::lock_guard lock(mutex_);
    auto header = open_files();
    return header ? header->total : 0;
  }

  Status sync() override {
    std::lock_guard lock(mutex_);
    auto header = open_files();
    if (!header || header->total == synced_) return {};
    // The end is written when the log is on disk: no need to ask for it again.
    bool log_is_there = read_end(folder_.get()).has_value();
    if ((!log_is_there && ::fdatasync(log_.get()) != 0) || ::fdatasync(index_.get()) != 0)
      return fail(Code::internal, std::string("The log could not be written to disk: ") + std::strerror(errno) + ".");
    synced_ = header->total;
    return {};
  }

 private:
  // The files appear with the first byte.
  std::optional<JournalHeader> open_files() {
    if (!index_) {
      index_.reset(::openat(folder_.get(), index_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      if (!index_) return std::nullopt;
    }
    auto header = read_header(index_.get());
    if (!header) return std::nullopt;
    if (!log_) {
      log_.reset(::openat(folder_.get(), log_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      if (!log_) return std::nullopt;
    }
    return header;
  }

  Result<JournalRead> read_once(const JournalHeader& header, int64_t offset, int64_t limit) {
    JournalRead result{{}, offset, 0};
    const int64_t stored = header.stored_end < 0 ? header.total : std::min(header.stored_end, header.total);
    const int64_t tail_from = std::max(header.kept_from, header.layout.head);
    bool cut_after_head = tail_from > header.layout.head;
    int64_t end = stored;
    if (offset < header.layout.head)
      end = cut_after_head ? std::min(stored, header.layout.head) : stored;
    else if (offset < tail_from) {
      result.cut = std::min(tail_from, header.total) - offset;
      result.next = offset += result.cut;
    }
    if (offset >= stored) {  // Nothing new, or what a full disk did not take.
      if (header.total > offset) result.cut += header.total - offset;
      result.next = std::max(result.next, header.total);
      return result;
    }
    end = std::min(end, offset + limit);
    while (offset < end) {
      auto read = read_span(header, offset, end, result.pieces);
      if (!read) return std::unexpected(read.error());
      offset = *read;
    }
    result.next = offset;
    return result;
  }

  // The bytes from `offset` to the end of its span (or `end`). Answers where it stopped.
  Result<int64_t> read_span(const JournalHeader& header, int64_t offset, int64_t end, std::vector<Piece>& pieces) {
    const Layout& layout = header.layout;
    int64_t span = offset / layout.span;
    end = std::min(end, (span + 1) * layout.span);
    std::vector<IndexRecord> records = read_slot(layout, span);
    std::string bytes(static_cast<size_t>(end - offset), '\0');
    ssize_t n = ::pread(log_.get(), bytes.data(), bytes.size(), place(header, offset));
    if (n <= 0) return std::unexpected(damaged("it is shorter than its index says"));
    end = offset + n;

    // The records that begin at or before each part of it.
    size_t next = 0;
    while (next + 1 < records.size() && records[next + 1].offset() <= offset) ++next;
    for (int64_t begin = offset; begin < end; ++next) {
      int64_t until = next + 1 < records.size() ? std::clamp(records[next + 1].offset(), begin, end) : end;
      Stream stream = next < records.size() ? records[next].stream() : Stream::out;
      Time at{next < records.size() ? std::clamp<int64_t>(records[next].at_ms, 0, latest_ms) : 0};
      std::string_view part(bytes.data() + (begin - offset), static_cast<size_t>(until - begin));
      add_piece(pieces, stream, begin, at, part);
      begin = until;
    }
    return end;
  }

  std::vector<IndexRecord> read_slot(const Layout& layout, int64_t span) {
    int64_t place = layout.slot_place(span * layout.span);
    Slot slot{};
    if (::pread(index_.get(), &slot, sizeof slot, place) != sizeof slot || slot.span != span) return {};
    slot.count = std::clamp<int64_t>(slot.count, 0, layout.slot_records());
    std::vector<IndexRecord> records(static_cast<size_t>(slot.count));
    size_t size = records.size() * sizeof(IndexRecord);
    ssize_t n = ::pread(index_.get(), records.data(), size, place + static_cast<int64_t>(sizeof slot));
    records.resize(n < 0 ? 0 : static_cast<size_t>(n) / sizeof(IndexRecord));
    return records;
  }

  // A log that was put in order replaced the one that this may still have open: only its size tells.
  int64_t place(const JournalHeader& header, int64_t offset) const {
    struct stat info{};
    bool in_order = header.final_size != 0 && ::fstat(log_.get(), &info) == 0 && info.st_size == header.final_size;
    if (in_order && offset >= header.layout.head) return header.final_size - (header.total - offset);
    return header.layout.place(offset);
  }

  static void add_piece(std::vector<Piece>& pieces, Stream stream, int64_t offset, Time at, std::string_view bytes) {
    if (bytes.empty()) return;
    if (!pieces.empty()) {
      Piece& last = pieces.back();
      if (last.stream == stream && at - last.at < join_within_ms) {
        last.bytes.append(bytes);
        return;
      }
    }
    pieces.push_back({stream, offset, at, std::string(bytes)});
  }

  std::mutex mutex_;
  const Fd folder_;
  Fd log_, index_;
  int64_t synced_ = 0;
};

}  // namespace

Result<std::shared_ptr<Journal>> Journal::open(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail(Code::not_found, "This run has no log; it was never started, or it was removed.");
  return std::make_shared<FolderJournal>(std::move(fd));
}

std::string run_folder(const std::string& data_dir, const std::string& run) {
  return data_dir + "/" + runs_name + "/" + run;
}

std::string log_file(const std::string& data_dir, const std::string& run) {
  return run_folder(data_dir, run) + "/" + log_name;
}

}  // namespace errand::process
