#include "tests/store/power_disk.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sqlite3.h>

#include <fmt/format.h>

namespace errand {
namespace {

constexpr int64_t sector = 512;

// SQLite allocates it; the first member is SQLite's.
struct Handle {
  sqlite3_file base;
  PowerDisk* disk;
  std::shared_ptr<PowerDisk::File>* file;
  std::string* path;
  bool delete_on_close;
};

Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }

int close(sqlite3_file* file) {
  Handle& h = handle(file);
  {
    const std::lock_guard lock(h.disk->mutex());
    PowerDisk::File& f = **h.file;
    f.locks.erase(&h);
    f.shared_locks.erase(&h);
    f.exclusive_locks.erase(&h);
    if (h.delete_on_close) h.disk->forget(*h.path);
  }
  delete h.file;
  delete h.path;
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  if (!h.disk->powered()) return SQLITE_IOERR_READ;
  const std::string& now = (*h.file)->now;
  const int64_t there = std::clamp<int64_t>(static_cast<int64_t>(now.size()) - offset, 0, size);
  if (there > 0) std::memcpy(into, now.data() + offset, static_cast<size_t>(there));
  if (there == size) return SQLITE_OK;
  std::memset(static_cast<char*>(into) + there, 0, static_cast<size_t>(size - there));
  return SQLITE_IOERR_SHORT_READ;
}

void put(std::string& content, int64_t offset, std::string_view bytes) {
  const size_t end = static_cast<size_t>(offset) + bytes.size();
  if (content.size() < end) content.resize(end);
  content.replace(static_cast<size_t>(offset), bytes.size(), bytes);
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  if (!h.disk->powered()) return SQLITE_IOERR_WRITE;
  PowerDisk::File& f = **h.file;
  if (!h.disk->fits(f, offset + size)) return SQLITE_FULL;
  const std::string_view bytes(static_cast<const char*>(from), static_cast<size_t>(size));
  f.writers.insert(&h);
  // Remembered even where it is the one that the power goes at: some of it may be there.
  f.unsynced.push_back({offset, std::string(bytes)});
  if (!h.disk->spend()) return SQLITE_IOERR_WRITE;
  put(f.now, offset, bytes);
  return SQLITE_OK;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  if (!h.disk->spend()) return SQLITE_IOERR_TRUNCATE;
  PowerDisk::File& f = **h.file;
  f.unsynced.push_back({.truncate_to = size});
  f.now.resize(static_cast<size_t>(size));
  return SQLITE_OK;
}

int sync(sqlite3_file* file, int) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  if (!h.disk->spend() || h.disk->syncs_fail()) return SQLITE_IOERR_FSYNC;
  PowerDisk::File& f = **h.file;
  f.synced = f.now;
  f.unsynced.clear();
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  if (!h.disk->powered()) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>((*h.file)->now.size());
  return SQLITE_OK;
}

int lock_file(sqlite3_file* file, int level) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  std::map<const void*, int>& locks = (*h.file)->locks;
  int highest = SQLITE_LOCK_NONE;
  for (const auto& [owner, held] : locks)
    if (owner != &h) highest = std::max(highest, held);
  if (locks[&h] >= level) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED && highest >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
  if (level == SQLITE_LOCK_RESERVED && highest >= SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
  if (level == SQLITE_LOCK_EXCLUSIVE && highest >= SQLITE_LOCK_SHARED) return SQLITE_BUSY;
  locks[&h] = level;
  return SQLITE_OK;
}

int unlock_file(sqlite3_file* file, int level) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  (*h.file)->locks[&h] = level;
  return SQLITE_OK;
}

int check_reserved(sqlite3_file* file, int* out) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  *out = std::ranges::any_of((*h.file)->locks, [](const auto& held) { return held.second >= SQLITE_LOCK_RESERVED; });
  return SQLITE_OK;
}

int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return sector; }
// As the unix VFS promises: bytes beside those written stay what they were.
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  auto& regions = (*h.file)->shared;
  while (static_cast<int>(regions.size()) <= region) {
    if (!extend) {
      *out = nullptr;
      return SQLITE_OK;
    }
    regions.push_back(std::make_unique<char[]>(static_cast<size_t>(size)));
  }
  *out = regions[static_cast<size_t>(region)].get();
  return SQLITE_OK;
}

int lock_shared(sqlite3_file* file, int first, int count, int flags) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  PowerDisk::File& f = **h.file;
  const uint32_t mask = ((1u << count) - 1) << first;
  if (flags & SQLITE_SHM_UNLOCK) {
    f.shared_locks[&h] &= ~mask;
    f.exclusive_locks[&h] &= ~mask;
    return SQLITE_OK;
  }
  const auto held_by_others = [&](const std::map<const void*, uint32_t>& locks) {
    return std::ranges::any_of(locks, [&](const auto& held) { return held.first != &h && (held.second & mask) != 0; });
  };
  if (held_by_others(f.exclusive_locks)) return SQLITE_BUSY;
  if ((flags & SQLITE_SHM_EXCLUSIVE) && held_by_others(f.shared_locks)) return SQLITE_BUSY;
  (flags & SQLITE_SHM_EXCLUSIVE ? f.exclusive_locks : f.shared_locks)[&h] |= mask;
  return SQLITE_OK;
}

void barrier(sqlite3_file*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

int unmap_shared(sqlite3_file* file, int remove) {
  Handle& h = handle(file);
  const std::lock_guard lock(h.disk->mutex());
  PowerDisk::File& f = **h.file;
  f.shared_locks.erase(&h);
  f.exclusive_locks.erase(&h);
  if (remove) f.shared.clear();
  return SQLITE_OK;
}

constexpr sqlite3_io_methods methods = {2,
                                        close,
                                        read,
                                        write,
                                        truncate,
                                        sync,
                                        file_size,
                                        lock_file,
                                        unlock_file,
                                        check_reserved,
                                        control,
                                        sector_size,
                                        characteristics,
                                        map_shared,
                                        lock_shared,
                                        barrier,
                                        unmap_shared,
                                        nullptr,
                                        nullptr};

PowerDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<PowerDisk*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  PowerDisk& disk = disk_of(vfs);
  Handle& h = handle(file);
  h.base.pMethods = nullptr;
  static std::atomic<int> unnamed = 0;
  const std::string path = name ? name : fmt::format("temporary-{}", ++unnamed);
  const std::lock_guard lock(disk.mutex());
  if (!disk.powered()) return SQLITE_CANTOPEN;
  std::shared_ptr<PowerDisk::File> opened = disk.open(path, (flags & SQLITE_OPEN_CREATE) != 0);
  if (!opened) return SQLITE_CANTOPEN;
  h.disk = &disk;
  h.file = new std::shared_ptr(std::move(opened));
  h.path = new std::string(path);
  h.delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  h.base.pMethods = &methods;
  if (out_flags) *out_flags = flags;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int) {
  PowerDisk& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex());
  if (!disk.spend()) return SQLITE_IOERR_DELETE;
  disk.forget(name);
  return SQLITE_OK;
}

int access_file(sqlite3_vfs* vfs, const char* name, int, int* out) {
  PowerDisk& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex());
  *out = disk.exists(name);
  return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

}  // namespace

PowerDisk::PowerDisk() {
  static std::atomic<int> made = 0;
  name_ = fmt::format("power-{}", ++made);
  const sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  vfs_ = std::make_unique<sqlite3_vfs>(*system);
  vfs_->iVersion = 1;
  vfs_->szOsFile = sizeof(Handle);
  vfs_->mxPathname = 512;
  vfs_->pNext = nullptr;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = open_file;
  vfs_->xDelete = delete_file;
  vfs_->xAccess = access_file;
  vfs_->xFullPathname = full_path;
  sqlite3_vfs_register(vfs_.get(), 0);
}

PowerDisk::~PowerDisk() { sqlite3_vfs_unregister(vfs_.get()); }

void PowerDisk::cut_power_after(int64_t operations) {
  const std::lock_guard lock(mutex_);
  left_ = operations;
}

bool PowerDisk::has_power() {
  const std::lock_guard lock(mutex_);
  return left_ != 0;
}

bool PowerDisk::spend() {
  if (left_ == 0) return false;
  ++operations_;
  if (left_ > 0) --left_;
  return left_ != 0;
}

int64_t PowerDisk::operations() {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::shared_ptr<PowerDisk::File> PowerDisk::open(const std::string& path, bool create) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  if (!create) return nullptr;
  return files_[path] = std::make_shared<File>();
}

void PowerDisk::restore_power(SeededRandom& random) {
  const std::lock_guard lock(mutex_);
  for (auto& [path, file] : files_) {
    std::string content = file->synced;
    for (const Unsynced& change : file->unsynced) {
      if (change.truncate_to >= 0) {
        if (random.one_in(2)) content.resize(static_cast<size_t>(change.truncate_to));
        continue;
      }
      const int64_t end = change.offset + static_cast<int64_t>(change.bytes.size());
      for (int64_t from = change.offset; from < end;) {
        const int64_t to = std::min(end, (from / sector + 1) * sector);
        std::string_view piece(change.bytes.data() + (from - change.offset), static_cast<size_t>(to - from));
        const uint64_t fate = random.below(10);  // 0-4 kept, 5-8 lost, 9 torn.
        if (fate == 9) piece = piece.substr(0, random.below(piece.size() + 1));
        if (fate < 5 || fate == 9) put(content, from, piece);
        from = to;
      }
    }
    auto after = std::make_shared<File>();
    after->now = after->synced = std::move(content);
    file = std::move(after);
  }
  left_ = -1;
  syncs_fail_ = false;
}

void PowerDisk::fail_syncs(bool failing) {
  const std::lock_guard lock(mutex_);
  syncs_fail_ = failing;
}

void PowerDisk::set_capacity(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

int64_t PowerDisk::used_locked() const {
  int64_t sum = reserved_;
  for (const auto& [path, file] : files_) sum += static_cast<int64_t>(file->now.size());
  return sum;
}

int64_t PowerDisk::used() {
  const std::lock_guard lock(mutex_);
  return used_locked();
}

bool PowerDisk::reserve(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (capacity_ != 0 && bytes > 0 && used_locked() + bytes > capacity_) return false;
  reserved_ += bytes;
  return true;
}

size_t PowerDisk::writers(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return files_.contains(path) ? files_.at(path)->writers.size() : 0;
}

bool PowerDisk::fits(const File& file, int64_t new_size) const {
  const int64_t growth = new_size - static_cast<int64_t>(file.now.size());
  return capacity_ == 0 || growth <= 0 || used_locked() + growth <= capacity_;
}

std::string PowerDisk::read(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(path);
  return file == files_.end() ? std::string() : file->second->now;
}

void PowerDisk::replace(const std::string& path, std::string bytes) {
  const std::lock_guard lock(mutex_);
  auto file = std::make_shared<File>();
  file->now = file->synced = std::move(bytes);
  files_[path] = std::move(file);
}

}  // namespace errand
