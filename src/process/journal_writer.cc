#include "process/journal_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "process/run.h"

namespace errand::process {
namespace {
// Bytes of one stream that come within this time share a record: an index of a flood stays small.
constexpr int64_t record_every_ms = 20;
}  // namespace

JournalWriter::JournalWriter(int runs, std::string run, JournalMode mode, int64_t output_limit)
    : runs_(runs), run_(std::move(run)), mode_(mode) {
  std::memcpy(header_.magic, journal_magic, sizeof journal_magic);
  header_.layout = mode == JournalMode::log ? Layout::of_log(output_limit) : Layout::of_protocol();
  header_.stored_end = -1;
}

bool JournalWriter::open() {
  auto open_file = [this](const char* name) {
    return ::openat(runs_, (run_ + "/" + name).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  };
  if (!log_) log_.reset(open_file(log_name));
  if (!index_) index_.reset(open_file(index_name));
  return log_ && index_;
}

bool JournalWriter::has_room(bool draining) {
  if (mode_ == JournalMode::log) return true;
  if (header_.total - released_ >= protocol_bound + (draining ? protocol_slack / 2 : 0)) return false;
  // A protocol is never cut, so the disk is asked before the child is.
  const Layout& layout = header_.layout;
  int64_t needed = std::min((header_.total / layout.span + 2) * layout.span, layout.ring);
  if (allocated_ >= needed) return true;
  if (!open()) return false;
  if (::fallocate(log_.get(), FALLOC_FL_KEEP_SIZE, allocated_, needed - allocated_) != 0 && errno == ENOSPC)
    return false;
  allocated_ = needed;
  return true;
}

void JournalWriter::append(Stream stream, std::string_view bytes, Time now) {
  if (!disk_full() && !open()) header_.stored_end = header_.total;
  const Layout& layout = header_.layout;
  while (!bytes.empty() && !disk_full()) {
    if (slot_.span != header_.total / layout.span) begin_span();
    if (needs_frame(stream, now)) begin_frame(stream, now);
    int64_t left = layout.span - header_.total % layout.span;
    if (slot_has_room()) left = std::min(left, journal_frame_max - int64_t{sum_.size});
    size_t size = std::min(bytes.size(), static_cast<size_t>(left));
    store(bytes.data(), size, log_.get(), layout.place(header_.total));
    if (!disk_full()) add_to_frame(bytes.substr(0, size));
    header_.total += static_cast<int64_t>(size);
    bytes.remove_prefix(size);
  }
  header_.total += static_cast<int64_t>(bytes.size());
  publish();
}

void JournalWriter::begin_span() {
  const Layout& layout = header_.layout;
  slot_ = {header_.total / layout.span, 0};
  int64_t kept_from = (slot_.span + 1) * layout.span - layout.ring;
  if (kept_from > std::max(header_.kept_from, layout.head)) {
    header_.kept_from = kept_from;
    publish();
  }
}

// A frame is a sum and a record.
bool JournalWriter::slot_has_room() const { return slot_.count + 2 <= header_.layout.slot_records(); }

bool JournalWriter::needs_frame(Stream stream, Time now) const {
  if (slot_.count == 0) return true;
  if (!slot_has_room()) return false;
  return stream != last_stream_ || now.ms - last_record_ms_ >= record_every_ms || sum_.size >= journal_frame_max;
}

void JournalWriter::begin_frame(Stream stream, Time now) {
  record_ = IndexRecord::make(header_.total, stream, now.ms);
  sum_ = {record_.offset_and_stream, 0, FrameSum::begin(record_)};
  fresh_ = true;
  last_stream_ = stream;
  last_record_ms_ = now.ms;
}

void JournalWriter::add_to_frame(std::string_view bytes) {
  sum_.size += static_cast<uint32_t>(bytes.size());
  sum_.sum = crc32c(bytes, sum_.sum);
  const int64_t entry = sizeof(IndexRecord);
  const int64_t slot = header_.layout.slot_place(header_.total);
  if (!std::exchange(fresh_, false)) return store(&sum_, sizeof sum_, index_.get(), slot + (slot_.count - 1) * entry);
  const std::array<IndexRecord, 2> frame = {std::bit_cast<IndexRecord>(sum_), record_};
  store(frame.data(), sizeof frame, index_.get(), slot + (slot_.count + 1) * entry);
  slot_.count += 2;
  store(&slot_, sizeof slot_, index_.get(), slot);
}

void JournalWriter::store(const void* bytes, size_t size, int fd, int64_t place) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    ssize_t n = ::pwrite(fd, next, size, place);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (!disk_full()) header_.stored_end = header_.total;
      return;
    }
    next += n;
    place += n;
    size -= static_cast<size_t>(n);
  }
}

void JournalWriter::publish() {
  if (!index_) return;
  // On a full disk this overwrites a block that exists, which still works.
  [[maybe_unused]] ssize_t n = ::pwrite(index_.get(), &header_, sizeof header_, 0);
}

void JournalWriter::release(int64_t offset) {
  if (mode_ != JournalMode::protocol) return;
  offset = std::min(offset, header_.total);
  if (offset <= released_) return;
  const Layout& layout = header_.layout;
  int64_t from = released_ / layout.span;
  int64_t to = offset / layout.span;
  released_ = offset;
  header_.kept_from = std::max(header_.kept_from, offset);
  publish();
  if (to == from || !log_) return;
  // The disk gets whole spans back. Where the file system cannot, the ring is the bound.
  for (int64_t span = from; span < to; ++span)
    ::fallocate(log_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, layout.place(span * layout.span), layout.span);
  allocated_ = 0;
}

}  // namespace errand::process
