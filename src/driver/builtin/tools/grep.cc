// `grep`: lines that a regular expression means, in a tree of files.
#include <algorithm>
#include <deque>
#include <fcntl.h>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/tools/file_tool.h"
#include "driver/builtin/tools/tree.h"
#include "files/glob.h"

namespace errand::builtin {
namespace {

constexpr size_t pattern_max = 2'000;
constexpr int64_t file_bytes_max = 32 << 20;  // Larger files are passed by, and said.
constexpr size_t piece_bytes = 256 << 10;     // Searched at once: between two pieces the time is looked at.
constexpr size_t line_characters = 400;
constexpr int64_t regex_memory = 16 << 20;
constexpr Millis patience_ms = 15'000;

enum class Mode : uint8_t { lines, files, count };
std::optional<Mode> parse_mode(std::string_view text) {
  if (text == "lines") return Mode::lines;
  if (text == "files") return Mode::files;
  if (text == "count") return Mode::count;
  return std::nullopt;
}

struct Arguments {
  std::string pattern;
  std::string path = ".";
  std::string glob;
  bool ignore_case = false;
  bool literal = false;
  bool ignored = false;
  int64_t context = 0;
  int64_t limit = 200;
  Mode mode = Mode::lines;
};

// Matches in one line: "^" and "$" mean its ends, and nothing reaches over them.
std::unique_ptr<re2::RE2> compile(const Arguments& arguments) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!arguments.ignore_case);
  options.set_max_mem(regex_memory);
  options.set_never_nl(true);
  const std::string body = arguments.literal ? re2::RE2::QuoteMeta(arguments.pattern) : arguments.pattern;
  return std::make_unique<re2::RE2>("(?m)" + body, options);
}

// A glob without a slash means names in every folder.
Result<files::Glob> name_glob(const std::string& text) {
  return files::Glob::parse(text.contains('/') ? text : "**/" + text, files::Dots::any);
}

void read_fields(Fields& fields, Arguments& arguments) {
  require(fields, "pattern");
  fields.text("pattern", arguments.pattern, {.bytes_max = pattern_max, .may_be_blank = true});
  fields.text("path", arguments.path, path_rule);
  fields.text("glob", arguments.glob, path_rule);
  fields.flag("ignore_case", arguments.ignore_case);
  fields.flag("literal", arguments.literal);
  fields.flag("ignored", arguments.ignored);
  fields.integer("context", arguments.context, 0, 20);
  fields.integer("limit", arguments.limit, 1, 2'000);
  fields.name_of<Mode>("mode", arguments.mode, parse_mode, "lines, files or count");
  if (fields.failed()) return;
  if (arguments.pattern.empty()) return fields.refuse("pattern", "must not be empty", "empty");
  if (arguments.pattern.contains('\n')) return fields.refuse("pattern", "must be for one line: it has a line break");
  if (!arguments.glob.empty() && !name_glob(arguments.glob))
    return fields.refuse("glob", "must be a pattern such as `*.cc` or `src/**/*.h`");
  if (const auto regex = compile(arguments); !regex->ok())
    fields.refuse("pattern", "is not a regular expression (RE2): " + to_utf8(regex->error()) +
                                 "; set `literal` to search for plain text");
}

class Search {
 public:
  Search(const Arguments& arguments, Clock& clock, const GivenUp& given_up)
      : arguments_(arguments),
        regex_(compile(arguments)),
        clock_(clock),
        given_up_(given_up),
        deadline_(clock.steady() + patience_ms) {}

  // False: enough.
  bool file(int folder, const std::string& name, const std::string& shown) {
    files::File file;
    file.fd.reset(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat info{};
    if (!file.fd || ::fstat(file.fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return true;
    file.size = info.st_size;
    return file_in(file, shown);
  }

  bool file_in(const files::File& file, const std::string& shown) {
    if (file.size > file_bytes_max) {
      ++too_large_;
      return true;
    }
    text_.resize(static_cast<size_t>(file.size));
    const int64_t n = files::read_at(file, 0, text_.data(), text_.size());
    if (n <= 0) return true;
    text_.resize(static_cast<size_t>(n));
    if (std::string_view(text_).substr(0, 8192).contains('\0')) return true;  // No text.
    ++files_;
    return search(shown);
  }

  ToolOutcome outcome(const TreeEnd& end, const std::string& where) {
    std::string out = std::move(out_);
    if (matches_ == 0) out = fmt::format("No line matches in {} ({} files were searched).\n", where, files_);
    if (full_) out += fmt::format("[more lines match; make the search narrower, or raise `limit`]\n");
    if (late_)
      out += fmt::format("[the search took longer than {} and was given up; name a folder or a glob]\n",
                         format_duration(patience_ms));
    else if (end.stopped && !end.why.empty())
      out += fmt::format("[the search {}; there may be more]\n", end.why);
    if (too_large_ > 0) out += fmt::format("[{} files over 32 MiB were skipped]\n", too_large_);
    return {.output = std::move(out)};
  }

 private:
  struct Line {
    size_t begin = 0, end = 0;
  };

  bool search(const std::string& shown) {
    const std::string_view text = text_;
    int64_t found = 0;
    int64_t number = 1;  // Of the line at `counted`.
    size_t counted = 0;
    size_t told = 0;  // Up to here lines were shown.
    size_t at = 0;
    while (at < text.size()) {
      if (given_up_ || clock_.steady() >= deadline_) {
        late_ = true;
        break;
      }
      // A piece of whole lines; a line longer than that is searched in parts.
      size_t stop = std::min(at + piece_bytes, text.size());
      if (stop < text.size())
        if (const size_t end = text.rfind('\n', stop); end != std::string_view::npos && end > at) stop = end + 1;
      const re2::StringPiece piece(text.data() + at, stop - at);
      size_t from = 0;
      re2::StringPiece match;
      while (from < piece.size() && regex_->Match(piece, from, piece.size(), re2::RE2::UNANCHORED, &match, 1)) {
        const size_t hit = at + static_cast<size_t>(match.data() - piece.data());
        if (hit >= stop) break;
        const Line line = line_at(hit);
        number += std::ranges::count(text.substr(counted, line.begin - counted), '\n');
        counted = line.begin;
        ++found;
        ++matches_;
        if (arguments_.mode == Mode::lines && !show(shown, line, number, told)) return false;
        if (arguments_.mode == Mode::files) break;
        from = line.end + 1 - at;
      }
      if (arguments_.mode == Mode::files && found > 0) break;
      at = stop;
    }
    if (found > 0 && arguments_.mode != Mode::lines) {
      const std::string line = arguments_.mode == Mode::files ? shown + "\n" : fmt::format("{}: {}\n", shown, found);
      if (++shown_ > arguments_.limit || out_.size() + line.size() > tool_output_max - 500) {
        full_ = true;
        return false;
      }
      out_ += line;
    }
    return !late_;
  }

  Line line_at(size_t hit) const {
    const std::string_view text = text_;
    const size_t before = hit == 0 ? std::string_view::npos : text.rfind('\n', hit - 1);
    const size_t end = text.find('\n', hit);
    return {.begin = before == std::string_view::npos ? 0 : before + 1,
            .end = end == std::string_view::npos ? text.size() : end};
  }

  // False: there is no room for more.
  bool show(const std::string& path, Line line, int64_t number, size_t& told) {
    if (++shown_ > arguments_.limit) {
      full_ = true;
      return false;
    }
    std::deque<std::pair<Line, int64_t>> lines;
    Line first = line;
    for (int64_t i = 1; i <= arguments_.context && first.begin > told; ++i) {
      first = line_at(first.begin - 1);
      lines.emplace_front(first, number - i);
    }
    if (arguments_.context > 0 && told > 0 && (lines.empty() ? line : lines.front().first).begin > told) out_ += "--\n";
    // The line itself may have been shown as what follows the one before.
    if (line.begin >= told) lines.emplace_back(line, number);
    Line last = line;
    for (int64_t i = 1; i <= arguments_.context && last.end + 1 < text_.size(); ++i) {
      last = line_at(last.end + 1);
      if (last.begin >= told) lines.emplace_back(last, number + i);
    }
    for (const auto& [one, at] : lines) {
      const char mark = one.begin == line.begin ? ':' : '-';
      std::string text = to_utf8(
          std::string_view(text_).substr(one.begin, std::min<size_t>(one.end - one.begin, 8 * line_characters)));
      if (text.ends_with('\r')) text.pop_back();
      const std::string_view head = first_characters(text, line_characters);
      const std::string shown =
          fmt::format("{}{}{}{}{}{}\n", path, mark, at, mark, head, head.size() < text.size() ? " [...]" : "");
      if (out_.size() + shown.size() > tool_output_max - 500) {
        full_ = true;
        return false;
      }
      out_ += shown;
      told = std::max(told, std::min(one.end + 1, text_.size()));
    }
    return true;
  }

  const Arguments& arguments_;
  const std::unique_ptr<re2::RE2> regex_;
  Clock& clock_;
  const GivenUp& given_up_;
  const Time deadline_;
  std::string text_;
  std::string out_;
  int64_t files_ = 0, matches_ = 0, shown_ = 0, too_large_ = 0;
  bool full_ = false, late_ = false;
};

ToolOutcome grep_place(const FileCall& call, const Arguments& arguments) {
  const Place& place = call.place;
  Search search(arguments, call.parts.clock, call.given_up);
  if (const Result<files::File> file = open_place(place)) {
    search.file_in(*file, one_line(place.shown));
    return search.outcome({}, place.shown);
  }
  std::optional<files::Glob> glob;
  if (!arguments.glob.empty()) glob = *name_glob(arguments.glob);
  const Result<TreeEnd> end =
      walk_tree(place, call.places, {.ignored = arguments.ignored, .patience_ms = patience_ms}, call.parts.clock,
                call.given_up, {}, [&](const TreeFile& file) {
                  if (glob && !glob->matches(file.path)) return true;
                  return search.file(file.folder, file.name,
                                     one_line(place.shown == "." ? file.path : place.shown + "/" + file.path));
                });
  if (!end && end.error().code == Code::not_found)
    return call.refuse({Code::not_found, "There is no file or folder of this name.", {}});
  if (!end) return call.refuse(end.error());
  return search.outcome(*end, place.shown);
}

std::string summary(const Arguments& arguments) {
  return arguments.path == "." ? arguments.pattern : fmt::format("{} in {}", arguments.pattern, arguments.path);
}

}  // namespace

std::unique_ptr<Tool> make_grep(FileParts parts) {
  return make_file_tool<Arguments>(
      std::move(parts),
      {.spec =
           {.name = "grep",
            .description = "Searches files for lines that a regular expression matches (RE2 syntax: no lookaround, no "
                           "backreferences; "
                           "one "
                           "line at a time). Gives `path:line:text`. What .gitignore names, .git and files that are no "
                           "text are passed "
                           "by. "
                           "Narrow it with `path` and `glob`.",
            .input_schema =
                R"({"type":"object","properties":{)"
                R"("pattern":{"type":"string","description":"The regular expression, or with `literal` plain text."},)"
                R"("path":{"type":"string","description":"The file or folder to search. Default: the work dir."},)"
                R"("glob":{"type":"string","description":"Only files whose path matches: `*.cc` (in every folder) or `src/**/*.h`."},)"
                R"("ignore_case":{"type":"boolean"},)"
                R"("literal":{"type":"boolean","description":"The pattern is plain text."},)"
                R"("context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines to show around each match."},)"
                R"("mode":{"type":"string","enum":["lines","files","count"],"description":"lines (default), only the files' names, or counts by file."},)"
                R"("limit":{"type":"integer","minimum":1,"maximum":2000,"description":"Matches (or files) at most. Default 200."},)"
                R"("ignored":{"type":"boolean","description":"Also files that .gitignore names."})"
                R"(},"required":["pattern"],"additionalProperties":false})"},
       .access = Access::read,
       .act = "Search in",
       .read = read_fields,
       .summary = summary,
       .work = grep_place});
}

}  // namespace errand::builtin
