#include "process/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

#include <sys/stat.h>

#include "base/crc32c.h"
#include "process/fd.h"
#include "process/run.h"

namespace errand::process {
namespace {

constexpr Millis join_within_ms = 1'000;
constexpr int64_t latest_ms = 253'402'300'799'999;  // The year 9999; past it an index is damaged.
constexpr int64_t read_max = 16LL << 20;            // More in one call is answered in part.
constexpr int attempts = 3;

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
      if (result->damaged) first = offset;
      if (first < after->layout.head || first >= after->kept_from) return result;
    }
    return fail(Code::unavailable, "The log is written faster than it can be read; try again.");
  }

  int64_t size() override {
    std::lock_guard lock(mutex_);
    auto header = open_files();
    return header ? header->total : 0;
  }

  // Readers go on meanwhile: of what they share it takes the size alone, and files that stay open as long as this.
  Status sync() override {
    const std::lock_guard one_at_a_time(sync_mutex_);
    std::unique_lock lock(mutex_);
    auto header = open_files();
    const int log = log_.get(), index = index_.get();
    lock.unlock();
    if (!header || header->total == synced_) return {};
    // The end is written when the log is on disk: no need to ask for it again.
    bool log_is_there = read_end(folder_.get()).has_value();
    named_ = named_ || log_is_there || sync_name(folder_.get()) == 0;
    if (!named_ || (!log_is_there && ::fdatasync(log) != 0) || ::fdatasync(index) != 0)
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
      auto read = read_span(header, offset, end, stored, result);
      if (!read) return std::unexpected(read.error());
      const bool stopped = *read == offset || result.damaged;
      offset = *read;
      if (stopped) break;
    }
    result.next = offset;
    return result;
  }

  // What one record describes, within a span.
  struct Frame {
    int64_t begin = 0, end = 0;
    IndexRecord record{};
    std::optional<FrameSum> sum;  // None: an older supervisor wrote it.
  };

  static std::vector<Frame> frames_of(const std::vector<IndexRecord>& entries, int64_t begin, int64_t end) {
    std::vector<Frame> frames;
    for (size_t i = 0; i < entries.size(); ++i) {
      Frame frame{.begin = begin, .end = end, .record = entries[i], .sum = {}};
      if (i + 1 < entries.size())
        if ((frame.sum = FrameSum::of(entries[i], entries[i + 1]))) frame.record = entries[++i];
      if (!frames.empty()) {
        frame.begin = std::clamp(frame.record.offset(), frames.back().begin, end);
        frames.back().end = frame.begin;
      }
      frames.push_back(frame);
    }
    // Without a record (a slot that is another span's, or damaged) the bytes are still there.
    if (frames.empty()) frames.push_back({.begin = begin, .end = end, .record = {}, .sum = {}});
    return frames;
  }

  // The bytes from `offset` to the end of its span (or `end`). Answers where it stopped: before a damaged frame, or
  // behind one that it begins in.
  Result<int64_t> read_span(const JournalHeader& header, int64_t offset, int64_t end, int64_t stored,
                            JournalRead& result) {
    const Layout& layout = header.layout;
    const int64_t span = offset / layout.span;
    const int64_t span_end = (span + 1) * layout.span;
    end = std::min(end, span_end);
    // A frame that grows while it is read may look damaged: it does not a second time.
    for (int attempt = 1;; ++attempt) {
      std::vector<Frame> frames = frames_of(read_slot(layout, span), span * layout.span, span_end);
      std::erase_if(frames, [&](const Frame& frame) { return frame.end <= offset || frame.begin >= end; });
      // A sum is over the whole of its frame.
      int64_t from = offset, to = end;
      for (const Frame& frame : frames) {
        if (!frame.sum) continue;
        from = std::min(from, frame.begin);
        to = std::min(span_end, std::max(to, frame.begin + int64_t{frame.sum->size}));
      }
      std::string bytes(static_cast<size_t>(to - from), '\0');
      ssize_t n = ::pread(log_.get(), bytes.data(), bytes.size(), place(header, from));
      if (n <= offset - from) return std::unexpected(damaged("it is shorter than its index says"));
      bytes.resize(static_cast<size_t>(n));
      const auto bad = std::ranges::find_if(
          frames, [&](const Frame& frame) { return !is_whole(frame, bytes, from, std::min(frame.end, end)); });
      if (bad != frames.end() && attempt < attempts) continue;
      int64_t next = offset;
      for (auto frame = frames.begin(); frame != bad; ++frame) {
        const int64_t begin = std::max(frame->begin, offset);
        const int64_t until = std::min({frame->end, end, from + int64_t{n}});
        if (until <= begin) break;
        Time at{std::clamp<int64_t>(frame->record.at_ms, 0, latest_ms)};
        add_piece(
            result.pieces, frame->record.stream(), begin, at,
            std::string_view(bytes).substr(static_cast<size_t>(begin - from), static_cast<size_t>(until - begin)));
        next = until;
      }
      // The damage is said by the read that begins with it.
      if (bad == frames.end() || !result.pieces.empty() || result.cut > 0) return next;
      next = std::min(bad->end, stored);
      result.cut = next - offset;
      result.damaged = true;
      return next;
    }
  }

  // The bytes of the frame up to `until` are those that were written. `bytes` begin at `from`.
  static bool is_whole(const Frame& frame, std::string_view bytes, int64_t from, int64_t until) {
    if (!frame.sum) return true;
    const int64_t size = frame.sum->size;
    const int64_t begin = frame.begin - from;
    if (frame.begin + size < until || begin + size > std::ssize(bytes)) return false;
    const std::string_view own = bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(size));
    return crc32c(own, FrameSum::begin(frame.record)) == frame.sum->sum;
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

  const Fd folder_;
  std::mutex mutex_;
  Fd log_, index_;  // Opened once. Opening is guarded by mutex_.
  std::mutex sync_mutex_;
  int64_t synced_ = 0;  // Guarded by sync_mutex_.
  bool named_ = false;  // The folder itself is on disk. Guarded by sync_mutex_.
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
