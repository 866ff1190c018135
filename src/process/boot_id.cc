#include "process/boot_id.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace errand::process {
namespace {

constexpr size_t id_max = 64;

std::string read_id(const std::string& file) {
  std::ifstream in(file);
  std::string id;
  std::getline(in, id);
  const bool good = !id.empty() && id.size() <= id_max &&
                    std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  return good ? id : std::string();
}

}  // namespace

std::string boot_id(const std::string& file) {
  std::string id = read_id(file);
  // A sandbox that makes one up for every reader would call each start of the server a boot, or hide one.
  return id == read_id(file) ? id : std::string();
}

}  // namespace errand::process
