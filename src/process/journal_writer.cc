#include "process/journal_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

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
    if (slot_.span != header_.total / layout.span)
      begin_span(stream, now);
    else if (stream != last_stream_ || now.ms - last_record_ms_ >= record_every_ms)
      add_record(stream, now);
    int64_t left = layout.span - header_.total % layout.span;
    size_t size = std::min(bytes.size(), static_cast<size_t>(left));
    store(bytes.data(), size, log_.get(), layout.place(header_.total));
    header_.total += static_cast<int64_t>(size);
    bytes.remove_prefix(size);
  }
  header_.total += static_cast<int64_t>(bytes.size());
  publish();
}

void JournalWriter::begin_span(Stream stream, Time now) {
  const Layout& layout = header_.layout;
  slot_ = {header_.total / layout.span, 0};
  int64_t kept_from = (slot_.span + 1) * layout.span - layout.ring;
  if (kept_from > std::max(header_.kept_from, layout.head)) {
    header_.kept_from = kept_from;
    publish();
  }
  add_record(stream, now);
}

void JournalWriter::add_record(Stream stream, Time now) {
  const Layout& layout = header_.layout;
  if (slot_.count == layout.slot_records()) return;
  int64_t place = layout.slot_place(header_.total);
  IndexRecord record = IndexRecord::make(header_.total, stream, now.ms);
  ++slot_.count;
  store(&record, sizeof record, index_.get(), place + slot_.count * static_cast<int64_t>(sizeof record));
  store(&slot_, sizeof slot_, index_.get(), place);
  last_stream_ = stream;
  last_record_ms_ = now.ms;
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
