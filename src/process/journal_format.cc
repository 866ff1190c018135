#include "process/journal_format.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/crc32c.h"
#include "process/fd.h"
#include "process/run.h"

namespace errand::process {
namespace {

constexpr const char* new_log_name = "log.new";

// Appends `length` bytes at `from` of one file to another, inside the kernel where the file system can.
int append_range(int source, int64_t from, int target, int64_t length) {
  char buffer[64 * 1024];
  while (length > 0) {
    off_t place = from;
    ssize_t n = ::copy_file_range(source, &place, target, nullptr, static_cast<size_t>(length), 0);
    if (n < 0) {
      n = ::pread(source, buffer, static_cast<size_t>(std::min<int64_t>(length, sizeof buffer)), from);
      if (n > 0) n = ::write(target, buffer, static_cast<size_t>(n));
    }
    if (n < 0) return errno;
    if (n == 0) return EIO;  // Shorter than its header says.
    from += n;
    length -= n;
  }
  return 0;
}

int put_in_order(int folder, int log, int index, JournalHeader header) {
  const Layout& layout = header.layout;
  int64_t cut = header.kept_from - layout.head;
  char line[96];
  int length =
      std::snprintf(line, sizeof line, "\n[errand: %lld bytes were left out here]\n", static_cast<long long>(cut));
  int64_t tail = header.total - header.kept_from;
  // The sizes of the two kinds must differ: that is how they are told apart.
  if (layout.head + length + tail == layout.head + layout.ring) line[length++] = '\n';

  Fd target(::openat(folder, new_log_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!target) return errno;
  if (int error = append_range(log, 0, target.get(), layout.head)) return error;
  if (::write(target.get(), line, static_cast<size_t>(length)) != length) return errno ? errno : ENOSPC;
  int64_t begin = layout.place(header.kept_from);
  int64_t first = std::min(tail, layout.head + layout.ring - begin);
  if (int error = append_range(log, begin, target.get(), first)) return error;
  if (int error = append_range(log, layout.head, target.get(), tail - first)) return error;
  if (::fdatasync(target.get()) != 0) return errno;

  header.final_size = layout.head + length + tail;
  if (::pwrite(index, &header, sizeof header, 0) != sizeof header || ::fdatasync(index) != 0) return errno;
  return ::renameat(folder, new_log_name, folder, log_name) == 0 ? 0 : errno;
}

}  // namespace

Layout Layout::of_log(int64_t output_limit) {
  if (output_limit <= 0) output_limit = default_output_limit;
  output_limit = std::max(output_limit, min_output_limit);
  auto span = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(output_limit / 16)));
  span = std::clamp<int64_t>(span, 4096, 1 << 20);
  int64_t spans = output_limit / span;
  return {.head = spans / 2 * span, .ring = (spans - spans / 2) * span, .span = span};
}

Layout Layout::of_protocol() { return {.head = 0, .ring = protocol_bound + protocol_slack, .span = 1 << 20}; }

uint32_t FrameSum::begin(const IndexRecord& record) {
  return crc32c({reinterpret_cast<const char*>(&record), sizeof record});
}

std::optional<FrameSum> FrameSum::of(const IndexRecord& entry, const IndexRecord& record) {
  if (entry.offset() != record.offset()) return std::nullopt;
  return std::bit_cast<FrameSum>(entry);
}

int64_t Layout::slot_place(int64_t offset) const {
  int64_t slot_bytes = static_cast<int64_t>(sizeof(Slot)) + slot_records() * static_cast<int64_t>(sizeof(IndexRecord));
  return slots_place + place(offset) / span * slot_bytes;
}

int make_journal(int folder) {
  for (const char* name : {log_name, index_name}) {
    Fd file(::openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return errno;
  }
  return 0;
}

std::optional<JournalHeader> read_header(int index) {
  JournalHeader header;
  if (::pread(index, &header, sizeof header, 0) != sizeof header) return std::nullopt;
  const Layout& layout = header.layout;
  bool ours = std::memcmp(header.magic, journal_magic, sizeof journal_magic) == 0;
  // What follows divides by these: a damaged header must not.
  bool sane = layout.span >= 4096 && layout.span <= (1 << 20) && layout.ring >= layout.span && layout.head >= 0 &&
              layout.ring < (1LL << 50) && layout.head < (1LL << 50) && layout.ring % layout.span == 0 &&
              layout.head % layout.span == 0 && header.total >= 0 && header.kept_from >= 0 &&
              header.kept_from <= header.total + layout.span && header.stored_end >= -1;
  return ours && sane ? std::optional(header) : std::nullopt;
}

int64_t journal_total(int folder) {
  Fd index(::openat(folder, index_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  auto header = index ? read_header(index.get()) : std::nullopt;
  return header ? header->total : 0;
}

int finish_journal(int folder) {
  Fd index(::openat(folder, index_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!index) return errno == ENOENT ? 0 : errno;  // The crash came before the files.
  auto header = read_header(index.get());
  if (!header) return 0;  // It printed nothing.
  Fd log(::openat(folder, log_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!log) return errno;
  if (::fdatasync(log.get()) != 0) return errno;
  bool cut = header->wrapped() && header->layout.head > 0 && header->stored_end < 0 && header->final_size == 0;
  // For people only: where it fails (a full disk), the log stays as it is, and is as good for readers.
  if (cut && put_in_order(folder, log.get(), index.get(), *header) != 0) ::unlinkat(folder, new_log_name, 0);
  return 0;
}

}  // namespace errand::process
