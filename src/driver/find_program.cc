#include "driver/find_program.h"

#include <filesystem>
#include <unistd.h>

#include "base/text.h"

namespace errand {

std::string find_program(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (!variable.starts_with("PATH=")) continue;
    for (const std::string_view folder : split(std::string_view(variable).substr(5), ':')) {
      if (!folder.starts_with('/')) continue;
      std::string file = std::string(folder) + "/" + std::string(name);
      if (::access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return {};
}

std::string own_program() {
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  return !error && ::access(program.c_str(), X_OK) == 0 ? program : std::string();
}

}  // namespace errand
