#include "driver/acp/files.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "files/beneath.h"
#include "files/write.h"

namespace errand::acp {

namespace {

struct Place {
  files::Root root;
  std::string path;  // Below it.
};

// The innermost of the folders that the path is below.
Result<Place> place_of(const std::vector<std::string>& folders, const std::string& path) {
  std::string_view best;
  for (std::string_view folder : folders) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
    const bool below = path.starts_with(folder) && (folder == "/" || path.substr(folder.size()).starts_with('/'));
    if (below && folder.size() > best.size()) best = folder;
  }
  if (best.empty())
    return fail(Code::forbidden, fmt::format("{} is outside of the task's folders (work_dir and add_dirs).", path));
  std::string_view below = std::string_view(path).substr(best.size());
  while (below.starts_with('/')) below.remove_prefix(1);
  Result<std::string> clean = files::clean_path(below);
  if (!clean) return std::unexpected(clean.error());
  Result<files::Root> root = files::Root::open(std::string(best));
  if (!root) return std::unexpected(root.error());
  return Place{std::move(*root), std::move(*clean)};
}

// `limit` lines from `line` on, both where they are above 0.
std::string_view lines_of(std::string_view text, int64_t line, int64_t limit) {
  for (int64_t i = 1; i < line && !text.empty(); ++i) {
    const size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (limit <= 0) return text;
  size_t end = 0;
  for (int64_t i = 0; i < limit && end < text.size(); ++i) {
    const size_t found = text.find('\n', end);
    end = found == std::string_view::npos ? text.size() : found + 1;
  }
  return text.substr(0, end);
}

}  // namespace

std::vector<std::string> folders_of(const Launch& launch) {
  std::vector<std::string> folders = launch.add_dirs;
  if (!launch.work_dir.empty()) folders.push_back(launch.work_dir);
  return folders;
}

bool is_within(const std::vector<std::string>& folders, std::string_view path) {
  if (!path.starts_with('/') || path.contains("/../") || path.ends_with("/..")) return false;
  return std::ranges::any_of(folders, [&](std::string_view folder) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
    if (folder == "/") return true;
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  });
}

Result<std::string> read_text(const std::vector<std::string>& folders, const FileRequest& request) {
  const Result<Place> place = place_of(folders, request.path);
  if (!place) return std::unexpected(place.error());
  const Result<files::File> file = place->root.open_file(place->path);
  if (!file) return std::unexpected(file.error());
  if (file->size > file_max)
    return fail(Code::invalid_argument, fmt::format("{} has {} bytes; at most {} are read. Read it with a command.",
                                                    request.path, file->size, file_max));
  std::string bytes(static_cast<size_t>(std::max<int64_t>(file->size, 0)), '\0');
  const int64_t got = bytes.empty() ? 0 : files::read_at(*file, 0, bytes.data(), bytes.size());
  if (got < 0) return fail(Code::unavailable, fmt::format("{} cannot be read.", request.path));
  bytes.resize(static_cast<size_t>(got));
  const std::string text = to_utf8(bytes);
  std::string out;
  JsonOut(out).object().field("content", lines_of(text, request.line, request.limit)).end();
  return out;
}

Status write_text(const std::vector<std::string>& folders, const FileRequest& request) {
  const Result<Place> place = place_of(folders, request.path);
  if (!place) return std::unexpected(place.error());
  const Result<files::Written> written = files::write_file(place->root, place->path, request.content);
  if (!written) return std::unexpected(written.error());
  return {};
}

}  // namespace errand::acp
