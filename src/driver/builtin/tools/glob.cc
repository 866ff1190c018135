// `glob`: the files whose paths a pattern means.
#include "files/glob.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/tools/file_tool.h"
#include "driver/builtin/tools/tree.h"

namespace errand::builtin {
namespace {

constexpr size_t found_max = 20'000;  // Kept while the walk goes on,
constexpr size_t shown_max = 500;     // and shown.

struct Arguments {
  std::string pattern;
  std::string path = ".";
  bool ignored = false;
};

void read_fields(Fields& fields, Arguments& arguments) {
  require(fields, "pattern");
  fields.text("pattern", arguments.pattern, path_rule);
  fields.text("path", arguments.path, path_rule);
  fields.flag("ignored", arguments.ignored);
  if (fields.failed()) return;
  if (arguments.pattern.starts_with('/'))
    fields.refuse("pattern", "must be relative; give the folder in `path`");
  else if (const auto glob = files::Glob::parse(arguments.pattern); !glob)
    fields.refuse("pattern", "must be a pattern such as `src/**/*.cc` without \"..\"");
}

struct Hit {
  std::string path;
  int64_t modified = 0;
};

// Where in the pattern a path is.
files::Glob::States states_of(const files::Glob& glob, std::string_view path) {
  files::Glob::States states = glob.start();
  for (const std::string_view name : split(path, '/')) states = glob.step(states, name);
  return states;
}

ToolOutcome find_files(const FileCall& call, const Arguments& arguments) {
  const Place& place = call.place;
  const files::Glob glob = *files::Glob::parse(arguments.pattern);
  std::vector<Hit> hits;
  int64_t over = 0;
  const Result<TreeEnd> end = walk_tree(
      place, call.places, {.ignored = arguments.ignored}, call.parts.clock, call.given_up,
      [&](const std::string& folder) { return !glob.hopeful(states_of(glob, folder)); },
      [&](const TreeFile& file) {
        if (!glob.matches(file.path)) return true;
        if (hits.size() >= found_max)
          ++over;
        else
          hits.push_back({file.path, file.info.st_mtim.tv_sec * 1'000'000'000LL + file.info.st_mtim.tv_nsec});
        return true;
      });
  if (!end) return call.refuse(end.error());
  const auto total = static_cast<int64_t>(hits.size()) + over;
  // The newest first: what somebody works on.
  std::ranges::sort(hits, [](const Hit& a, const Hit& b) {
    return a.modified != b.modified ? a.modified > b.modified : a.path < b.path;
  });
  std::string out;
  size_t given = 0;
  for (const Hit& hit : hits) {
    const std::string line = one_line(place.shown == "." ? hit.path : place.shown + "/" + hit.path) + "\n";
    if (given >= shown_max || out.size() + line.size() > tool_output_max - 300) break;
    out += line;
    ++given;
  }
  if (total == 0) out = fmt::format("No file matches {} in {}.\n", arguments.pattern, place.shown);
  if (static_cast<int64_t>(given) < total)
    out += fmt::format("[{} of {} files, the newest first; make the pattern narrower]\n", given, total);
  if (end->stopped) out += fmt::format("[the search {}; there may be more]\n", end->why);
  return {.output = std::move(out)};
}

std::string summary(const Arguments& arguments) {
  return arguments.path == "." ? arguments.pattern : fmt::format("{} in {}", arguments.pattern, arguments.path);
}

}  // namespace

std::unique_ptr<Tool> make_glob(FileParts parts) {
  return make_file_tool<Arguments>(
      std::move(parts),
      {.spec = {.name = "glob",
                .description = "Finds files by their paths: `src/**/*.cc`, `**/package.json`, `*.md`. `*` stands for a "
                               "part of one name, "
                               "`**` "
                               "for any folders; a hidden name is found where the pattern's own part begins with a "
                               "dot. What .gitignore "
                               "names "
                               "is left out. The newest come first, up to 500. To search in files use `grep`.",
                .input_schema =
                    R"({"type":"object","properties":{)"
                    R"("pattern":{"type":"string","description":"A pattern for paths below `path`."},)"
                    R"("path":{"type":"string","description":"The folder to look in. Default: the work dir."},)"
                    R"("ignored":{"type":"boolean","description":"Also files that .gitignore names. Default false."})"
                    R"(},"required":["pattern"],"additionalProperties":false})"},
       .access = Access::read,
       .act = "Look for files in",
       .read = read_fields,
       .summary = summary,
       .work = find_files});
}

}  // namespace errand::builtin
