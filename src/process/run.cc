#include "process/run.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>

#include <sys/stat.h>

#include "base/check.h"
#include "base/hash.h"
#include "process/fd.h"
#include "process/journal_format.h"

namespace errand::process {
namespace {

constexpr std::string_view how_names[] = {"exited", "signalled", "timeout", "stopped", "spawn_failed", "lost", "limit"};
constexpr const char* removed_prefix = ".removed.";
constexpr size_t run_name_max = 200;
constexpr size_t end_text_max = 1'400;  // The rest of the record is numbers: it fits end_room.

struct RecordHeader {
  uint64_t size;
  uint64_t checksum;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Calls `look` with each name until it answers false. False: the folder cannot be read.
template <class F>
bool each_name(int folder, F look) {
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!dir) {
    if (fd >= 0) ::close(fd);
    return false;
  }
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !look(name)) break;
  }
  ::closedir(dir);
  return true;
}

void remove_folder(int runs, const std::string& name) {
  Fd folder(::openat(runs, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder)
    for (const std::string& file : names_in(folder.get())) ::unlinkat(folder.get(), file.c_str(), 0);
  ::unlinkat(runs, name.c_str(), AT_REMOVEDIR);
}

}  // namespace

bool is_run_name(std::string_view run) {
  size_t dot = run.find('.');
  if (run.size() > run_name_max || dot == 0 || dot == std::string_view::npos || dot + 1 == run.size()) return false;
  return std::ranges::all_of(run.substr(0, dot), is_word) && std::ranges::all_of(run.substr(dot + 1), is_digit);
}

std::string run_marker(const std::string& folder) { return "ERRAND_RUN=" + folder; }

std::string_view name(RunEnd::How how) { return how_names[static_cast<size_t>(how)]; }

void put_end(FrameOut& out, const RunEnd& end) {
  out.add("how", name(end.how)).add("exit_code", end.exit_code).add("signal", end.signal);
  out.add("text", std::string_view(end.text).substr(0, end_text_max));
  out.add("cpu_us", static_cast<int64_t>(end.cpu_s * 1e6)).add("max_memory", end.max_memory_bytes);
  out.add("started_at", end.started_at.ms).add("ended_at", end.ended_at.ms).add("total", end.output_bytes);
  if (end.left_nothing) out.add("left_nothing", int64_t{1});
  if (end.limit.empty()) return;
  out.add("limit", end.limit).add("limit_value", end.limit_value).add("limit_seen", end.limit_seen);
}

RunEnd get_end(const Fields& fields) {
  RunEnd end;
  auto known = std::ranges::find(how_names, fields.text("how"));
  // A word that a newer supervisor uses: how it went is not known here.
  end.how = known == std::end(how_names) ? RunEnd::How::lost : static_cast<RunEnd::How>(known - std::begin(how_names));
  end.exit_code = static_cast<int>(fields.number("exit_code"));
  end.signal = static_cast<int>(fields.number("signal"));
  end.text = fields.text("text");
  end.cpu_s = static_cast<double>(fields.number("cpu_us")) / 1e6;
  end.max_memory_bytes = fields.number("max_memory");
  end.started_at.ms = fields.number("started_at");
  end.ended_at.ms = fields.number("ended_at");
  end.output_bytes = fields.number("total");
  end.left_nothing = fields.number("left_nothing") != 0;
  end.limit = fields.text("limit");
  end.limit_value = fields.number("limit_value");
  end.limit_seen = fields.number("limit_seen");
  return end;
}

std::string encode_end(const RunEnd& end) {
  FrameOut out;
  put_end(out, end);
  RecordHeader header{out.payload().size(), fnv_hash(out.payload())};
  std::string record(reinterpret_cast<const char*>(&header), sizeof header);
  return record.append(out.payload());
}

std::optional<RunEnd> decode_end(std::string_view record) {
  RecordHeader header;
  if (record.size() <= sizeof header) return std::nullopt;
  std::memcpy(&header, record.data(), sizeof header);
  record.remove_prefix(sizeof header);
  if (header.size == 0 || header.size > record.size()) return std::nullopt;
  std::string_view payload = record.substr(0, header.size);
  auto fields = fnv_hash(payload) == header.checksum ? Fields::parse(payload) : std::nullopt;
  return fields ? std::optional(get_end(*fields)) : std::nullopt;
}

std::optional<RunEnd> read_end(int folder) {
  Fd index(::openat(folder, index_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  char record[end_room];
  ssize_t n = index ? ::pread(index.get(), record, sizeof record, end_place) : -1;
  return n > 0 ? decode_end({record, static_cast<size_t>(n)}) : std::nullopt;
}

int write_end_soon(int runs, const std::string& run, std::string_view record) {
  ERRAND_CHECK(record.size() <= static_cast<size_t>(end_room), "an end fits its place");
  Fd index(::openat(runs, (run + "/" + index_name).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!index) return errno;
  errno = ENOSPC;  // What a short write means.
  return ::pwrite(index.get(), record.data(), record.size(), end_place) == static_cast<ssize_t>(record.size()) ? 0
                                                                                                               : errno;
}

// In the index, not in a file of its own: one sync brings both to disk. The checksum makes it atomic.
int write_end(int folder, std::string_view record) {
  ERRAND_CHECK(record.size() <= static_cast<size_t>(end_room), "an end fits its place");
  Fd index(::openat(folder, index_name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Somebody deleted the folder: trying again would never help.
  if (!index) return errno == ENOENT ? 0 : errno;
  errno = ENOSPC;  // What a short write means.
  if (::pwrite(index.get(), record.data(), record.size(), end_place) != static_cast<ssize_t>(record.size()))
    return errno;
  return ::fdatasync(index.get()) == 0 ? 0 : errno;
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  each_name(folder, [&](std::string_view name) {
    names.emplace_back(name);
    return true;
  });
  return names;
}

bool is_empty_folder(int folder) {
  bool empty = true;
  return each_name(folder, [&](std::string_view) { return empty = false; }) && empty;
}

int sync_name(int folder) {
  const Fd runs(::openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return runs && ::fsync(runs.get()) == 0 ? 0 : errno;
}

int remove_run(int runs, const std::string& run) {
  std::string removed = removed_prefix + run;
  if (::renameat(runs, run.c_str(), runs, removed.c_str()) != 0) return errno;
  remove_folder(runs, removed);
  return 0;
}

void sweep_removed(int runs) {
  for (const std::string& name : names_in(runs))
    if (name.starts_with(removed_prefix)) remove_folder(runs, name);
}

}  // namespace errand::process
