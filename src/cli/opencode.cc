// errand opencode install | uninstall: one file in OpenCode's plugin folder, which OpenCode loads by itself. No file of
// the user's own is changed.
#include "cli/opencode.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "base/replace_file.h"
#include "base/version.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "settings/read.h"

namespace errand::cli {

namespace {

constexpr std::string_view first_words = "// Made by: errand opencode install";
constexpr std::string_view family_word = " --family ", wake_word = " --wake";
constexpr std::string_view places_hole = "/* installed */ {}", tools_hole = "/* tools */ []";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

void fill(std::string& text, std::string_view hole, std::string_view value) {
  const size_t at = text.find(hole);
  if (at != std::string::npos) text.replace(at, hole.size(), value);
}

// What is there: nothing, ours, or somebody else's.
enum class Found : uint8_t { nothing, ours, other };

Found look(const std::string& path, std::string& text) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) return Found::nothing;
  if (!S_ISREG(about.st_mode)) return Found::other;
  text = read_file(path);
  return is_opencode_plugin(text) ? Found::ours : Found::other;
}

Error failed(std::string_view what, const std::string& path) {
  return {Code::unavailable, fmt::format("Cannot {} {}: {}.", what, path, std::strerror(errno)), "file"};
}

// Whole or not at all.
Status write_file(const std::string& path, std::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  errno = replace_file(path, text, 0644, Durability::power);
  if (errno != 0) return std::unexpected(failed("write", path));
  return {};
}

int tell(const Context& context, bool changed, const std::string& path, const std::string& text,
         std::string_view next = {}) {
  if (context.screen.json()) {
    std::string out;
    JsonOut(out).object().field("changed", changed).field("path", path).field("text", text).end();
    context.screen.out_line(out);
  } else {
    context.screen.out_line(text);
    if (!next.empty()) context.screen.out_line(next);
  }
  return code(Exit::ok);
}

Error somebody_elses(const std::string& path) {
  return {Code::conflict,
          fmt::format("errand did not write {}, so nothing was changed. Move that file away and try again.", path),
          "not_ours"};
}

int install(Context& context, const OpencodeArgs& args, const std::string& path) {
  PluginOptions options{.wake = args.wake};
  if (!args.family.empty()) {
    options.family = args.family;
  } else if (const Result<Settings> settings = read_settings({.data_dir = context.globals.data_dir}, {})) {
    options.family = settings->engine.tools_family;
  }
  const Result<std::string> wanted =
      opencode_plugin(context.globals.data_dir, options, context.programs.tools_json(options.family));
  if (!wanted) return context.screen.fail(wanted.error());
  std::string there;
  const Found found = look(path, there);
  if (found == Found::other) return context.screen.fail(somebody_elses(path));
  if (there == *wanted) return tell(context, false, path, fmt::format("{} is up to date.", path));
  if (const Status written = write_file(path, *wanted); !written) return context.screen.fail(written.error());
  return tell(context, true, path, fmt::format("{} {}.", found == Found::ours ? "Updated" : "Wrote", path),
              "OpenCode has errand's tools after its next start. To undo: errand opencode uninstall");
}

int uninstall(Context& context, const std::string& path) {
  std::string there;
  switch (look(path, there)) {
    case Found::nothing:
      return tell(context, false, path, fmt::format("{} does not exist: nothing to undo.", path));
    case Found::other:
      return context.screen.fail(somebody_elses(path));
    case Found::ours:
      break;
  }
  if (::unlink(path.c_str()) != 0) return context.screen.fail(failed("remove", path));
  // The folder too where nothing else is in it.
  ::rmdir(std::filesystem::path(path).parent_path().c_str());
  return tell(context, true, path, fmt::format("Removed {}.", path),
              "Tasks and their results stay: errand list shows them.");
}

}  // namespace

Result<std::string> opencode_plugin_path() {
  std::string folder = variable("XDG_CONFIG_HOME");
  if (!folder.starts_with('/')) {
    folder = variable("HOME");
    if (!folder.starts_with('/'))
      return fail(Code::invalid_argument, "OpenCode's settings were not found: set HOME or XDG_CONFIG_HOME.",
                  "no_home");
    folder += "/.config";
  }
  return folder + "/opencode/plugin/errand.js";
}

bool is_opencode_plugin(std::string_view text) { return text.starts_with(first_words); }

PluginOptions opencode_plugin_options(std::string_view text) {
  const std::string_view line = first_line(text);
  PluginOptions options{.wake = line.find(wake_word) != std::string_view::npos};
  if (const size_t at = line.find(family_word); at != std::string_view::npos) {
    const std::string_view rest = line.substr(at + family_word.size());
    options.family = rest.substr(0, rest.find_first_of(" \r"));
  }
  return options;
}

Result<std::string> opencode_plugin(const std::string& data_dir, const PluginOptions& options,
                                    const std::string& tools_json) {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error || ::access(program.c_str(), X_OK) != 0)
    return fail(Code::unavailable, "The file of this errand was deleted or replaced. Run the new one.", "no_binary");
  std::string places;
  JsonOut(places)
      .object()
      .field("version", errand::version)
      .field("binary", program)
      .field("data_dir", data_dir)
      .field("wake", options.wake)
      .end();
  std::string text = fmt::format("{}{}{}{} ({})\n", first_words, options.wake ? wake_word : "", family_word,
                                 options.family, errand::version);
  text += opencode_plugin_source();
  fill(text, places_hole, places);
  fill(text, tools_hole, tools_json);
  return text;
}

int opencode(Context& context, const OpencodeArgs& args) {
  const Result<std::string> path = opencode_plugin_path();
  if (!path) return context.screen.fail(path.error());
  return args.install ? install(context, args, *path) : uninstall(context, *path);
}

}  // namespace errand::cli
