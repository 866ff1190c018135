#include "serve/found_programs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "driver/find_program.h"
#include "programs/known.h"

namespace errand::serve {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t file_max = 64 << 10;

using Places = std::map<std::string, std::string>;  // By the program's name: its file.

std::set<std::string> names() {
  std::set<std::string> out = {"node"};  // Many of them are scripts of it.
  for (const programs::Known& known : programs::all())
    for (const char* name : {known.program, known.beside})
      if (*name != 0) out.emplace(name);
  return out;
}

// What is damaged is found anew.
Places read(const std::string& file) {
  Places places;
  std::error_code error;
  if (fs::file_size(file, error) > file_max || error) return places;
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  boost::system::error_code wrong;
  const boost::json::value value = boost::json::parse(text, wrong);
  if (const boost::json::object* object = wrong ? nullptr : value.if_object())
    for (const auto& one : *object)
      if (one.value().is_string()) places.emplace(one.key(), one.value().get_string());
  return places;
}

void write(const std::string& file, const Places& places) {
  std::string text;
  JsonOut out(text);
  out.object();
  for (const auto& [name, path] : places) out.field(name, path);
  out.end();
  if (const int failed = replace_file(file, text, 0600, Durability::process); failed != 0)
    log_warning("serve", "cannot write " + file + ": " + std::generic_category().message(failed));
}

bool is_program(const std::string& name, const std::string& path) {
  std::error_code error;
  return path.starts_with('/') && path.ends_with("/" + name) && path.find(':') == std::string::npos &&
         fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

void add_to_path(std::vector<std::string>& environment, const std::string& folder) {
  const auto path =
      std::ranges::find_if(environment, [](const std::string& variable) { return variable.starts_with("PATH="); });
  if (path == environment.end())
    environment.push_back("PATH=" + folder);
  else
    *path += (path->ends_with('=') ? "" : ":") + folder;
}

}  // namespace

std::vector<std::string> with_found_programs(std::vector<std::string> environment, const std::string& data_dir) {
  const std::string file = data_dir + "/programs.json";
  const Places before = read(file);
  Places now;
  std::vector<std::string> folders;
  for (const std::string& name : names()) {
    if (std::string path = find_program(environment, name); !path.empty()) {
      now.emplace(name, std::move(path));
      continue;
    }
    const auto known = before.find(name);
    if (known == before.end() || !is_program(name, known->second)) continue;
    now.insert(*known);
    folders.push_back(known->second.substr(0, known->second.rfind('/')));
    log_info("serve", name + " is not on PATH; using " + known->second + ", where it was before");
  }
  for (const std::string& folder : folders)
    if (!folder.empty()) add_to_path(environment, folder);
  if (now != before) write(file, now);
  return environment;
}

}  // namespace errand::serve
