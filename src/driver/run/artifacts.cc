#include "driver/run/artifacts.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "driver/run/artifact_manifest.h"
#include "files/copy.h"
#include "files/media_type.h"
#include "files/walk.h"

namespace errand::run {
namespace {

namespace fs = std::filesystem;

constexpr char manifest_name[] = "manifest.json";

Result<files::Root> work_root(const Task& task) {
  // The launch named it: a link there is the launcher's own.
  Fd fd(::open(task.launch.work_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(Code::not_found, "The work dir of this task is no longer there.", "no_file");
  return files::Root::of(std::move(fd));
}

std::string head_of(const files::File& file) {
  std::string head(files::media_type_bytes, '\0');
  head.resize(static_cast<size_t>(std::max<int64_t>(0, files::read_at(file, 0, head.data(), head.size()))));
  return head;
}

std::string id_of(ArtifactSource source, std::string_view path) {
  return "a" + files::sha256(std::string(name(source)) + ":" + std::string(path)).substr(0, 16);
}

// It is on disk, whole, when it returns.
Status write_whole(const Fd& folder, const std::string& text) {
  const int error = replace_file(folder.get(), manifest_name, text, 0600, Durability::power);
  if (error == 0) return {};
  return fail(error == ENOSPC || error == EDQUOT ? Code::storage_full : Code::unavailable,
              fmt::format("The list of artifacts could not be stored: {}.", std::strerror(error)));
}

}  // namespace

// What is left out, and why, as one sentence.
struct Artifacts::Left {
  int64_t links = 0, over_count = 0, over_bytes = 0, unreadable = 0;
  bool stopped = false;

  int64_t count() const { return links + over_count + over_bytes + unreadable; }
  std::string why(const ArtifactLimits& limits) const {
    std::vector<std::string> reasons;
    if (links > 0) reasons.push_back(fmt::format("links, fifos, sockets and devices: {}", links));
    if (over_count > 0) reasons.push_back(fmt::format("over the limit of {} files: {}", limits.files, over_count));
    if (over_bytes > 0) reasons.push_back(fmt::format("over the limit of {} bytes: {}", limits.bytes, over_bytes));
    if (unreadable > 0) reasons.push_back(fmt::format("could not be read or copied: {}", unreadable));
    if (stopped) reasons.emplace_back("the search met its bound, there may be more");
    std::string text;
    for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    return text.empty() ? text : text + ".";
  }
};

std::string Artifacts::folder(const TaskId& task) const { return data_dir_ + "/artifacts/" + task.value; }
// A task's id has no dot in it: it is nobody's artifact folder.
std::string Artifacts::kept_folder(const TaskId& task) const { return folder(task) + ".kept"; }

bool Artifacts::nothing_to_gather(const Task& task) const {
  if (!task.launch.artifacts.empty()) return false;
  if (::access((kept_folder(task.id) + "/" + manifest_name).c_str(), F_OK) == 0) return false;
  const Result<files::Root> root = files::Root::open(folder(task.id));
  return !root || files::is_empty(*root);
}

// What is there now: names, sizes, types.
Artifacts::Manifest Artifacts::look(const Task& task, Time deadline) const {
  Manifest manifest;
  Left left;
  files::WalkLimits limits{.files = static_cast<size_t>(limits_.files), .deadline = deadline};
  const auto take = [&](const files::Root& root, const std::vector<files::Glob>& globs, ArtifactSource source) {
    const files::Walked walked = files::walk(root, globs, limits, clock_);
    limits.files -= std::min(limits.files, walked.files.size());
    left.links += walked.links;
    left.over_count += walked.over;
    left.stopped = left.stopped || walked.stopped;
    for (const files::Found& found : walked.files) {
      const Result<files::File> file = root.open_file(found.path);
      if (!file) {
        left.unreadable += file.error().code == Code::not_found ? 0 : 1;  // It may be gone by now, which is no news.
        continue;
      }
      Entry entry{.info = {}, .raw = found.path, .kept = {}};
      entry.info = {.id = id_of(source, found.path),
                    .name = to_utf8(found.path),
                    .source = source,
                    .run = 0,
                    .size = file->size,
                    .media_type = files::media_type(head_of(*file)),
                    .sha256 = {},
                    .modified = file->modified};
      manifest.entries.push_back(std::move(entry));
    }
  };
  if (const Result<files::Root> root = files::Root::open(folder(task.id))) take(*root, {}, ArtifactSource::folder);
  std::vector<files::Glob> globs;
  for (const std::string& pattern : task.launch.artifacts)
    if (Result<files::Glob> glob = files::Glob::parse(pattern)) globs.push_back(*std::move(glob));
  if (!globs.empty())
    if (const Result<files::Root> root = work_root(task)) take(*root, globs, ArtifactSource::glob);
  manifest.left_out = left.count();
  manifest.why = left.why(limits_);
  return manifest;
}

// Hashes what stays where it is, copies what would not.
Status Artifacts::keep(const Task& task, const Fd& kept, Manifest& manifest, Time deadline) const {
  const Result<files::Root> own = files::Root::open(folder(task.id));
  const Result<files::Root> work = work_root(task);
  int64_t hash_left = limits_.bytes, copy_left = limits_.bytes;
  Left left;
  std::vector<Entry> stay;
  std::vector<Fd> unsynced;
  for (Entry& entry : manifest.entries) {
    const bool copy = entry.info.source == ArtifactSource::glob;
    const Result<files::Root>& root = copy ? work : own;
    Result<files::File> file = root ? root->open_file(entry.raw) : fail(Code::not_found, "");
    if (!file) continue;
    entry.info.size = file->size;
    entry.info.modified = file->modified;
    if (!copy) {
      if (file->size <= hash_left) {
        hash_left -= file->size;
        if (Result<std::string> hash = files::sha256_of(*file, file->size, deadline, clock_)) {
          entry.info.sha256 = *std::move(hash);
          unsynced.push_back(std::move(file->fd));
        }
      }
      stay.push_back(std::move(entry));
      continue;
    }
    if (file->size > copy_left) {
      ++left.over_bytes;
      continue;
    }
    const std::string copy_name = fmt::format("{}-{}", manifest.generation, stay.size());
    Result<files::Copied> copied = files::copy_file(*file, kept, copy_name, deadline, clock_);
    if (!copied) {
      ++left.unreadable;
      continue;
    }
    copy_left -= copied->size;
    unsynced.push_back(std::move(copied->fd));
    entry.kept = copy_name;
    entry.info.size = copied->size;
    entry.info.sha256 = copied->sha256;
    stay.push_back(std::move(entry));
  }
  manifest.entries = std::move(stay);
  manifest.left_out += left.count();
  if (left.count() > 0) manifest.why += (manifest.why.empty() ? "" : " ") + left.why(limits_);
  return files::sync_files(unsynced);
}

Status Artifacts::write_manifest(const Fd& kept, const Manifest& manifest) const {
  if (Status written = write_whole(kept, encode_manifest(manifest)); !written) return written;
  // The names that lead to it are on disk too.
  const Fd parent(::open((data_dir_ + "/artifacts").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) ::fsync(parent.get());
  return {};
}

Result<Artifacts::Manifest> Artifacts::read_manifest(const TaskId& task) const {
  const Result<files::Root> root = files::Root::open(kept_folder(task));
  if (!root) return std::unexpected(root.error());
  const Result<files::File> file = root->open_file(manifest_name);
  if (!file) return std::unexpected(file.error());
  if (file->size > manifest_bytes_max) return fail(Code::internal, "The list of artifacts is damaged.", "corrupt");
  std::string text(static_cast<size_t>(file->size), '\0');
  if (files::read_at(*file, 0, text.data(), text.size()) != file->size)
    return fail(Code::unavailable, "The list of artifacts cannot be read.");
  return decode_manifest(text);
}

class Artifacts::Turn {
 public:
  Turn(Artifacts& artifacts, const TaskId& task) : artifacts_(artifacts), task_(task.value) {
    std::unique_lock lock(artifacts_.mutex_);
    artifacts_.free_.wait(lock, [&] { return !artifacts_.busy_.contains(task_); });
    artifacts_.busy_.insert(task_);
  }
  ~Turn() {
    std::lock_guard lock(artifacts_.mutex_);
    artifacts_.busy_.erase(task_);
    artifacts_.free_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Artifacts& artifacts_;
  const std::string task_;
};

Result<ArtifactList> Artifacts::gather(const Task& task) {
  const Turn turn(*this, task.id);
  // It was never begun, or it was removed meanwhile: nothing is made that nobody would remove.
  if (::access(folder(task.id).c_str(), F_OK) != 0) return ArtifactList{};
  if (Status answers = work_dir_answers(task); !answers) return std::unexpected(answers.error());
  const Time deadline = clock_.steady() + limits_.time_ms;
  const std::string path = kept_folder(task.id);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Code::unavailable, fmt::format("The folder {} cannot be made: {}.", path, std::strerror(errno)));
  const Fd kept(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!kept) return fail(Code::unavailable, fmt::format("The folder {} cannot be opened.", path));
  const Result<Manifest> before = read_manifest(task.id);
  Manifest manifest = look(task, deadline);
  manifest.generation = (before ? before->generation : 0) + 1;
  if (Status synced = keep(task, kept, manifest, deadline); !synced) return std::unexpected(synced.error());
  manifest.gathered_at = clock_.wall();
  if (Status written = write_manifest(kept, manifest); !written) return std::unexpected(written.error());

  // What the list no longer names.
  std::set<std::string, std::less<>> named{manifest_name};
  for (const Entry& entry : manifest.entries) named.insert(entry.kept);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (!named.contains(entry.path().filename().native())) fs::remove_all(entry.path(), error);
  return to_list(manifest);
}

// All else that is looked at is in the data folder.
Status Artifacts::work_dir_answers(const Task& task) const {
  return task.launch.artifacts.empty() ? Status() : reach_.answers(task.launch.work_dir);
}

Result<Artifacts::Manifest> Artifacts::current(const Task& task) const {
  if (!at_work(task.state) && !task.stopping)
    if (Result<Manifest> manifest = read_manifest(task.id)) return manifest;
  if (Status answers = work_dir_answers(task); !answers) return std::unexpected(answers.error());
  return look(task, clock_.steady() + limits_.time_ms);
}

ArtifactList Artifacts::to_list(const Manifest& manifest) {
  ArtifactList list{.files = {}, .left_out = manifest.left_out, .left_out_why = manifest.why};
  list.gathered_at = manifest.gathered_at;
  for (const Entry& entry : manifest.entries) list.files.push_back(entry.info);
  return list;
}

Result<ArtifactList> Artifacts::list(const Task& task) const {
  const Result<Manifest> manifest = current(task);
  if (!manifest) return std::unexpected(manifest.error());
  return to_list(*manifest);
}

Result<Driver::OpenArtifact> Artifacts::open_entry(const Task& task, const Entry& entry) const {
  const bool copied = !entry.kept.empty();
  const Result<files::Root> root = copied                                      ? files::Root::open(kept_folder(task.id))
                                   : entry.info.source == ArtifactSource::glob ? work_root(task)
                                                                               : files::Root::open(folder(task.id));
  if (!root) return std::unexpected(root.error());
  Result<files::File> file = root->open_file(copied ? entry.kept : entry.raw);
  if (!file) return std::unexpected(file.error());
  Driver::OpenArtifact open{.info = entry.info, .file = *std::move(file)};
  // Somebody wrote to it since: the hash is another's.
  if (open.info.size != open.file.size) open.info.sha256.clear();
  open.info.size = open.file.size;
  return open;
}

Result<Driver::OpenArtifact> Artifacts::open(const Task& task, std::string_view id_or_name) const {
  const Result<Manifest> manifest = current(task);
  if (!manifest) return std::unexpected(manifest.error());
  for (const bool by_id : {true, false})
    for (const Entry& entry : manifest->entries)
      if ((by_id ? entry.info.id : entry.info.name) == id_or_name) return open_entry(task, entry);
  return fail(Code::not_found, "This task has no artifact of that name; GET .../artifacts lists them.", "no_artifact");
}

void Artifacts::remove(const TaskId& task) {
  const Turn turn(*this, task);
  for (const std::string& path : {folder(task), kept_folder(task)}) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) log_warning("command", fmt::format("artifacts stay at {}: {}", path, error.message()));
  }
}

}  // namespace errand::run
