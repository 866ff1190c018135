#include "driver/work_dir.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace errand {

Status check_folder(std::string_view field, const std::string& path) {
  if (path.empty()) return {};
  const auto refuse = [](std::string message) {
    return fail(Code::invalid_argument, std::move(message), "bad_work_dir");
  };
  if (path.contains('\0') || !path.starts_with('/')) return refuse(fmt::format("{} must be an absolute path.", field));
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return refuse(
        fmt::format("The {} {} does not exist or cannot be reached; create it or name another.", field, path));
  if (!S_ISDIR(info.st_mode)) return refuse(fmt::format("The {} {} is not a folder; name one.", field, path));
  return {};
}

}  // namespace errand
