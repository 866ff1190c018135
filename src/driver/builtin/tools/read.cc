// `read`: a file's lines, with their numbers.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/tools/file_tool.h"
#include "files/media_type.h"
#include "files/write.h"

namespace errand::builtin {
namespace {

constexpr int64_t lines_default = 2'000;
constexpr int64_t lines_max = 10'000;
constexpr size_t line_characters = 2'000;  // Of a longer line the beginning is given.
constexpr int64_t scan_max = 256LL << 20;  // How far a line is looked for.
constexpr size_t chunk_bytes = 256 << 10;

struct Arguments {
  std::string path;
  int64_t offset = 1;
  int64_t limit = lines_default;
};

void read_fields(Fields& fields, Arguments& arguments) {
  require(fields, "path");
  fields.text("path", arguments.path, path_rule);
  fields.integer("offset", arguments.offset, 1, INT64_MAX / 2);
  fields.integer("limit", arguments.limit, 1, lines_max);
}

// The lines of a file from the first to the last that was asked for, one at a time, in bounded memory.
class Lines {
 public:
  explicit Lines(const files::File& file) : file_(file) {}

  // The next line without its end; only the beginning of a very long one, with `longer` set to what is missing in
  // bytes. False: there is none.
  bool next(std::string& line, int64_t& longer) {
    line.clear();
    longer = 0;
    bool any = false;
    for (;;) {
      if (at_ == buffer_.size() && !fill()) return any;
      any = true;
      const std::string_view rest = std::string_view(buffer_).substr(at_);
      const size_t end = rest.find('\n');
      const std::string_view piece = rest.substr(0, end);
      const size_t room = keep_max - std::min(keep_max, line.size());
      line += piece.substr(0, room);
      longer += static_cast<int64_t>(piece.size() - std::min(room, piece.size()));
      at_ += piece.size() + (end == std::string_view::npos ? 0 : 1);
      if (end != std::string_view::npos) break;
    }
    if (line.ends_with('\r') && longer == 0) line.pop_back();
    return true;
  }
  int64_t scanned() const { return offset_; }

 private:
  static constexpr size_t keep_max = 16 * 1024;

  bool fill() {
    buffer_.resize(chunk_bytes);
    const int64_t n = files::read_at(file_, offset_, buffer_.data(), buffer_.size());
    buffer_.resize(static_cast<size_t>(std::max<int64_t>(n, 0)));
    at_ = 0;
    offset_ += std::max<int64_t>(n, 0);
    return n > 0;
  }

  const files::File& file_;
  std::string buffer_;
  size_t at_ = 0;
  int64_t offset_ = 0;
};

std::string numbered(int64_t number, std::string_view line, int64_t longer) {
  const std::string text = to_utf8(line);
  const std::string_view head = first_characters(text, line_characters);
  if (head.size() == text.size() && longer == 0) return fmt::format("{:>6}\t{}\n", number, text);
  return fmt::format("{:>6}\t{} [... {} more bytes of this line]\n", number, head,
                     longer + static_cast<int64_t>(text.size() - head.size()));
}

// Nothing, where it is text.
std::string why_not_text(const files::File& file) {
  std::string head(files::media_type_bytes, '\0');
  head.resize(static_cast<size_t>(std::max<int64_t>(files::read_at(file, 0, head.data(), head.size()), 0)));
  if (!head.contains('\0')) return {};
  const std::string type = files::media_type(head);
  return fmt::format("This is not text but {} of {} bytes: {}.", type, file.size,
                     type.starts_with("image/") ? "images cannot be shown to you here"
                                                : "it is not shown; a command may tell you more about it");
}

ToolOutcome read_lines(const files::File& file, const Arguments& arguments, const GivenUp& given_up) {
  if (std::string why = why_not_text(file); !why.empty()) return {.output = std::move(why), .is_error = true};
  Lines lines(file);
  std::string out, line;
  int64_t number = 0, longer = 0, given = 0;
  size_t characters = 0;
  bool more = false;
  while (lines.next(line, longer)) {
    ++number;
    if (given_up || lines.scanned() > scan_max) {
      if (given > 0) break;
      return {.output = fmt::format("Line {} is further down than {} MiB; use grep, or a command.", arguments.offset,
                                    scan_max >> 20),
              .is_error = true};
    }
    if (number < arguments.offset) continue;
    std::string shown = numbered(number, line, longer);
    characters += count_characters(shown);
    if (given >= arguments.limit || characters > tool_output_max - 200) {
      more = true;
      break;
    }
    out += shown;
    ++given;
  }
  if (number == 0) return {.output = "The file is empty."};
  if (given == 0)
    return {.output = fmt::format("The file has {} lines; offset {} is behind them.", number, arguments.offset),
            .is_error = true};
  if (more) out += fmt::format("[the file goes on; read it from offset {} for more]\n", arguments.offset + given);
  return {.output = std::move(out)};
}

ToolOutcome read_place(const FileCall& call, const Arguments& arguments) {
  const Result<files::File> file = open_place(call.place);
  if (!file) return call.refuse(file.error());
  const std::string identity = files::identity(*file);
  ToolOutcome outcome = read_lines(*file, arguments, call.given_up);
  if (!outcome.is_error) call.parts.memory.saw(call.task, call.place.real, identity);
  return outcome;
}

std::string summary(const Arguments& arguments) {
  return arguments.offset > 1 ? fmt::format("{} from line {}", arguments.path, arguments.offset) : arguments.path;
}

}  // namespace

std::unique_ptr<Tool> make_read(FileParts parts) {
  return make_file_tool<Arguments>(
      std::move(parts),
      {.spec =
           {.name = "read",
            .description =
                "Reads a text file: its lines with their numbers, up to 2,000 of them (30,000 characters) from line "
                "`offset` on. Read a file before you change it. Paths are relative to the work dir, or absolute; a "
                "file outside of the task's folders needs a person's permission. For a folder use `list`; to find "
                "something use `grep`.",
            .input_schema =
                R"({"type":"object","properties":{)"
                R"("path":{"type":"string","description":"The file, relative to the work dir or absolute."},)"
                R"("offset":{"type":"integer","minimum":1,"description":"The first line, counted from 1. Default 1."},)"
                R"("limit":{"type":"integer","minimum":1,"maximum":10000,"description":"How many lines at most. Default 2000."})"
                R"(},"required":["path"],"additionalProperties":false})"},
       .access = Access::read,
       .act = "Read",
       .read = read_fields,
       .summary = summary,
       .work = read_place});
}

}  // namespace errand::builtin
