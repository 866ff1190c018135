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
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/in_background.h"
#include "model/model.h"

namespace errand::builtin {
namespace {

constexpr size_t names_max = 100'000;  // Read,
constexpr size_t shown_max = 1'000;    // and shown.

Result<std::string> read_input(std::string_view input) {
  std::string path = ".";
  const Status good = read_arguments(input, [&](Fields& fields) { fields.text("path", path, path_rule); });
  if (!good) return std::unexpected(good.error());
  return path;
}

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

class List final : public Tool {
 public:
  explicit List(FileParts parts) : parts_(std::move(parts)) {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return true; }
  std::string summary(std::string_view input) const override {
    const Result<std::string> path = read_input(input);
    return path ? short_line(*path) : std::string();
  }
  Result<Need> need(const ToolContext& context, std::string_view input) const override {
    const Result<std::string> path = read_input(input);
    if (!path) return std::unexpected(path.error());
    const Result<Place> place = Places(parts_.places, context).find(*path, Access::read);
    if (!place) return std::unexpected(place.error());
    return need_of(*place, Access::read, "List");
  }
  std::unique_ptr<ToolRun> run(ToolContext context, std::string input, Done done) override {
    const auto work = [parts = parts_, context = std::move(context), input = std::move(input)](const GivenUp&) {
      const Result<std::string> path = read_input(input);
      if (!path) return refused(path.error());
      const Result<Place> place = Places(parts.places, context).find_permitted(*path, Access::read);
      if (!place) return refused(place.error());
      Result<Fd> folder = open_place_folder(*place);
      if (!folder)
        return refused({folder.error().code,
                        folder.error().code == Code::not_found ? place->shown + ": There is no folder of this name."
                                                               : place->shown + ": " + folder.error().message,
                        {}});
      return list_folder(std::move(*folder), place->shown);
    };
    return in_background(parts_.background, parts_.engine, work, std::move(done));
  }

 private:
  FileParts parts_;
  model::ToolSpec spec_{
      .name = "list",
      .description =
          "Lists a folder: its files with their sizes, folders with a slash behind, links with where they "
          "lead. Hidden names too. Up to 1,000 names; for whole trees use `glob`.",
      .input_schema =
          R"({"type":"object","properties":{)"
          R"("path":{"type":"string","description":"The folder, relative to the work dir or absolute. Default: the work dir."})"
          R"(},"additionalProperties":false})"};
};

}  // namespace

std::unique_ptr<Tool> make_list(FileParts parts) { return std::make_unique<List>(std::move(parts)); }

}  // namespace errand::builtin
