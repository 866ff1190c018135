#include "base/home.h"

#include <cstdlib>

namespace errand {
namespace {

std::string_view home() {
  const char* const folder = std::getenv("HOME");
  std::string_view path = folder != nullptr && *folder == '/' ? folder : "";
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

std::string from_home(std::string_view path) {
  if (home().empty() || !is_below(path, "~")) return std::string(path);
  return std::string(home()) + std::string(path.substr(1));
}

std::string to_home(std::string_view path) {
  if (home().size() < 2 || !is_below(path, home())) return std::string(path);
  return "~" + std::string(path.substr(home().size()));
}

}  // namespace errand
