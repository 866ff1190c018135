// `list`: what is in a folder.
#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/tools/file_tool.h"

namespace errand::builtin {
namespace {

constexpr size_t names_max = 100'000;  // Read,
constexpr size_t shown_max = 1'000;    // and shown.

struct Arguments {
  std::string path = ".";
};

void read_fields(Fields& fields, Arguments& arguments) { fields.text("path", arguments.path, path_rule); }

struct Close {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string line_of(int folder, const std::string& name) {
  struct stat info{};
  const std::string shown = one_line(name);
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return shown + "\n";
  if (S_ISDIR(info.st_mode)) return shown + "/\n";
  if (S_ISLNK(info.st_mode)) {
    char target[4096];
    const ssize_t n = ::readlinkat(folder, name.c_str(), target, sizeof target);
    return fmt::format("{} -> {}\n", shown,
                       one_line(std::string_view(target, static_cast<size_t>(std::max<ssize_t>(n, 0)))));
  }
  if (!S_ISREG(info.st_mode)) return shown + "  (no file)\n";
  return fmt::format("{}  {} bytes{}\n", shown, info.st_size, (info.st_mode & 0111) != 0 ? ", executable" : "");
}

ToolOutcome list_folder(Fd folder, const std::string& shown) {
  const std::unique_ptr<DIR, Close> entries(::fdopendir(folder.get()));
  if (!entries) return {.output = shown + " cannot be listed.", .is_error = true};
  folder.release();
  std::vector<std::string> names;
  bool cut = false;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() >= names_max) {
      cut = true;
      break;
    }
    names.emplace_back(name);
  }
  if (names.empty()) return {.output = shown + " is empty."};
  std::ranges::sort(names);
  std::string out;
  size_t given = 0;
  for (const std::string& name : names) {
    const std::string line = line_of(::dirfd(entries.get()), name);
    if (given >= shown_max || out.size() + line.size() > tool_output_max - 200) break;
    out += line;
    ++given;
  }
  if (given < names.size() || cut)
    out += fmt::format("[{}{} more names; use glob with a pattern]\n", cut ? "at least " : "", names.size() - given);
  return {.output = std::move(out)};
}

ToolOutcome list_place(const FileCall& call, const Arguments&) {
  Result<Fd> folder = open_place_folder(call.place);
  if (folder) return list_folder(std::move(*folder), call.place.shown);
  if (folder.error().code == Code::not_found)
    return call.refuse({Code::not_found, "There is no folder of this name.", {}});
  return call.refuse(folder.error());
}

std::string summary(const Arguments& arguments) { return arguments.path; }

}  // namespace

std::unique_ptr<Tool> make_list(FileParts parts) {
  return make_file_tool<Arguments>(
      std::move(parts),
      {.spec =
           {.name = "list",
            .description =
                "Lists a folder: its files with their sizes, folders with a slash behind, links with where they "
                "lead. Hidden names too. Up to 1,000 names; for whole trees use `glob`.",
            .input_schema =
                R"({"type":"object","properties":{)"
                R"("path":{"type":"string","description":"The folder, relative to the work dir or absolute. Default: the work dir."})"
                R"(},"additionalProperties":false})"},
       .access = Access::read,
       .act = "List",
       .read = read_fields,
       .summary = summary,
       .work = list_place});
}

}  // namespace errand::builtin
