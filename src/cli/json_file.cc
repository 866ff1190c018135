#include "cli/json_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/replace_file.h"

namespace errand::cli {

namespace json = boost::json;

namespace {

constexpr uintmax_t bytes_max = 16u << 20;
constexpr mode_t new_mode = 0600;

// As most programs write it: a line a value, empty ones closed at once.
void print(std::string& out, const json::value& value, const std::string& step, const std::string& indent) {
  const std::string deeper = indent + step;
  const char* between = "";
  if (const json::object* object = value.if_object(); object && !object->empty()) {
    out += '{';
    for (const auto& [name, member] : *object) {
      out += fmt::format("{}\n{}{}: ", std::exchange(between, ","), deeper, json::serialize(json::string(name)));
      print(out, member, step, deeper);
    }
    out += fmt::format("\n{}}}", indent);
  } else if (const json::array* array = value.if_array(); array && !array->empty()) {
    out += '[';
    for (const json::value& member : *array) {
      out += fmt::format("{}\n{}", std::exchange(between, ","), deeper);
      print(out, member, step, deeper);
    }
    out += fmt::format("\n{}]", indent);
  } else if (const double* number = value.if_double()) {
    out += fmt::format("{}", *number);
  } else {
    out += json::serialize(value);
  }
}

// What stands before the first member.
std::string indentation(const std::string& text) {
  const size_t line = text.find('\n');
  if (line == std::string::npos) return "  ";
  const size_t word = text.find_first_not_of(" \t", line + 1);
  return word == std::string::npos || word == line + 1 ? "  " : text.substr(line + 1, word - line - 1);
}

std::string behind_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// The file that we have just made is whoever's runs this, and has less of its mode under a strict umask. As far as may
// be: rights are not given to another group than before.
void give_back(const std::string& path, const struct stat& before) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat now = {};
  if (!file || ::fstat(file.get(), &now) != 0 || now.st_uid != ::geteuid() || now.st_nlink != 1) return;
  if (::fchown(file.get(), before.st_uid, before.st_gid) == 0)
    std::ignore = ::fchmod(file.get(), before.st_mode & 07777);
}

Error failed(std::string_view what, const std::string& path, int number) {
  return {Code::unavailable, fmt::format("Cannot {} {}: {}.", what, path, std::strerror(number)), "file"};
}

}  // namespace

Result<std::string> read_user_file(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) return std::string();
    return std::unexpected(failed("read", path, errno));
  }
  if (!S_ISREG(about.st_mode) || static_cast<uintmax_t>(about.st_size) > bytes_max)
    return fail(Code::conflict, fmt::format("{} is not a settings file, so nothing was changed.", path), "not_ours");
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::unexpected(failed("read", path, errno));
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return std::unexpected(failed("read", path, EIO));
  return text.str();
}

Result<bool> write_user_file(const std::string& path, const std::string& before, const std::string& text) {
  if (before == text) return false;
  const std::string target = behind_links(path);
  const Result<std::string> now = read_user_file(path);
  if (!now) return std::unexpected(now.error());
  if (*now != before)
    return fail(Code::conflict,
                fmt::format("Another program has just written {}, so it was left as it is. Run this again.", path),
                "changed");
  if (text.empty()) {
    if (::unlink(target.c_str()) != 0 && errno != ENOENT) return std::unexpected(failed("remove", path, errno));
    return true;
  }
  struct stat about = {};
  const bool there = ::stat(target.c_str(), &about) == 0;
  const mode_t mode = there ? about.st_mode & 07777 : new_mode;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(target).parent_path(), error);
  if (const int number = replace_file(target, text, mode, Durability::power); number != 0)
    return std::unexpected(failed("write", path, number));
  if (there) give_back(target, about);
  return true;
}

JsonFile::JsonFile() = default;
JsonFile::JsonFile(JsonFile&&) noexcept = default;
JsonFile& JsonFile::operator=(JsonFile&&) noexcept = default;
JsonFile::~JsonFile() = default;

Result<JsonFile> JsonFile::read(const std::string& path) {
  Result<std::string> text = read_user_file(path);
  if (!text) return std::unexpected(text.error());
  JsonFile file;
  file.path_ = path;
  file.object_ = std::make_unique<json::object>();
  if (text->find_first_not_of(" \t\r\n") != std::string::npos) {
    boost::system::error_code error;
    json::value value = json::parse(*text, error);
    if (error || !value.is_object())
      return fail(Code::conflict,
                  fmt::format("{} is not plain JSON ({}), so nothing was changed. Mend it, or add errand by hand: "
                              "docs/claude.md says what.",
                              path, error ? error.message() : "not an object"),
                  "not_json");
    *file.object_ = std::move(value.get_object());
  }
  file.read_ = std::make_unique<json::object>(*file.object_);
  file.before_ = *std::move(text);
  return file;
}

Result<bool> JsonFile::write() {
  if (*object_ == *read_) return false;
  std::string text;
  if (!object_->empty()) {
    print(text, *object_, indentation(before_), "");
    if (before_.empty() || before_.ends_with('\n')) text += '\n';
  }
  return write_user_file(path_, before_, text);
}

}  // namespace errand::cli
