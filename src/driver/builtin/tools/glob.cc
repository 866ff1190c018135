// `glob`: the files whose paths a pattern means.
#include "files/glob.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/tree.h"
#include "model/model.h"

namespace errand::builtin {
namespace {

constexpr size_t found_max = 20'000;  // Kept while the walk goes on,
constexpr size_t shown_max = 500;     // and shown.

struct Arguments {
  std::string pattern;
  std::string path = ".";
  bool ignored = false;
};

Result<Arguments> read_input(std::string_view input) {
  Arguments arguments;
  const Status good = read_arguments(input, [&](Fields& fields) {
    require(fields, "pattern");
    fields.text("pattern", arguments.pattern, path_rule);
    fields.text("path", arguments.path, path_rule);
    fields.flag("ignored", arguments.ignored);
    if (fields.failed()) return;
    if (arguments.pattern.starts_with('/'))
      fields.refuse("pattern", "must be relative; give the folder in `path`");
    else if (const auto glob = files::Glob::parse(arguments.pattern); !glob)
      fields.refuse("pattern", "must be a pattern such as `src/**/*.cc` without \"..\"");
  });
  if (!good) return std::unexpected(good.error());
  return arguments;
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

ToolOutcome find_files(const FileParts& parts, const Places& places, const Place& place, const Arguments& arguments,
                       const GivenUp& given_up) {
  const files::Glob glob = *files::Glob::parse(arguments.pattern);
  std::vector<Hit> hits;
  int64_t over = 0;
  const Result<TreeEnd> end = walk_tree(
      place, places, {.ignored = arguments.ignored}, parts.clock, given_up,
      [&](const std::string& folder) { return !glob.hopeful(states_of(glob, folder)); },
      [&](const TreeFile& file) {
        if (!glob.matches(file.path)) return true;
        if (hits.size() >= found_max)
          ++over;
        else
          hits.push_back({file.path, file.info.st_mtim.tv_sec * 1'000'000'000LL + file.info.st_mtim.tv_nsec});
        return true;
      });
  if (!end) return refused({end.error().code, place.shown + ": " + end.error().message, {}});
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

class GlobTool final : public Tool {
 public:
  explicit GlobTool(FileParts parts) : parts_(std::move(parts)) {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return true; }
  std::string summary(std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    if (!arguments) return {};
    return short_line(arguments->path == "." ? arguments->pattern
                                             : fmt::format("{} in {}", arguments->pattern, arguments->path));
  }
  Result<Need> need(const ToolContext& context, std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    if (!arguments) return std::unexpected(arguments.error());
    const Result<Place> place = Places(parts_.places, context).find(arguments->path, Access::read);
    if (!place) return std::unexpected(place.error());
    return need_of(*place, Access::read, "Look for files in");
  }
  std::unique_ptr<ToolRun> run(ToolContext context, std::string input, Done done) override {
    const auto work = [parts = parts_, context = std::move(context),
                       input = std::move(input)](const GivenUp& given_up) {
      const Result<Arguments> arguments = read_input(input);
      if (!arguments) return refused(arguments.error());
      const Places places(parts.places, context);
      const Result<Place> place = places.find_permitted(arguments->path, Access::read);
      if (!place) return refused(place.error());
      return find_files(parts, places, *place, *arguments, given_up);
    };
    return in_background(parts_.background, parts_.engine, work, std::move(done));
  }

 private:
  FileParts parts_;
  model::ToolSpec spec_{
      .name = "glob",
      .description =
          "Finds files by their paths: `src/**/*.cc`, `**/package.json`, `*.md`. `*` stands for a part of one name, "
          "`**` "
          "for any folders; a hidden name is found where the pattern's own part begins with a dot. What .gitignore "
          "names "
          "is left out. The newest come first, up to 500. To search in files use `grep`.",
      .input_schema = R"({"type":"object","properties":{)"
                      R"("pattern":{"type":"string","description":"A pattern for paths below `path`."},)"
                      R"("path":{"type":"string","description":"The folder to look in. Default: the work dir."},)"
                      R"("ignored":{"type":"boolean","description":"Also files that .gitignore names. Default false."})"
                      R"(},"required":["pattern"],"additionalProperties":false})"};
};

}  // namespace

std::unique_ptr<Tool> make_glob(FileParts parts) { return std::make_unique<GlobTool>(std::move(parts)); }

}  // namespace errand::builtin
