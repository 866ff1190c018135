// `write`: a whole file, made or replaced.
#include "files/write.h"

#include <fmt/format.h>

#include "base/line_diff.h"
#include "base/text.h"
#include "driver/builtin/tools/file_tool.h"

namespace errand::builtin {
namespace {

struct Arguments {
  std::string path;
  std::string content;
};

void read_fields(Fields& fields, Arguments& arguments) {
  require(fields, "path");
  fields.text("path", arguments.path, path_rule);
  require(fields, "content");
  fields.text("content", arguments.content, {.bytes_max = content_bytes_max, .may_be_blank = true});
}

ToolOutcome write_place(const FileCall& call, const Arguments& arguments) {
  const Place& place = call.place;
  const std::string& content = arguments.content;
  if (place.below.empty()) return call.refuse({Code::forbidden, "This is a folder; name a file in it.", {}});
  const Result<files::Root> root = files::Root::open(place.root);
  if (!root) return call.refuse(root.error());
  files::WriteHow how{.new_mode = 0666u & ~static_cast<uint32_t>(call.parts.umask),
                      .folder_mode = 0777u & ~static_cast<uint32_t>(call.parts.umask)};
  if (const Result<files::File> old = root->open_file(place.below)) {
    const std::string identity = files::identity(*old);
    if (const Status seen = call.parts.memory.check(call.task, place.real, identity); !seen)
      return refused(seen.error());
    how.expected = identity;
  } else if (old.error().code != Code::not_found) {
    return call.refuse(old.error());
  }
  const Result<files::Written> written = files::write_file(*root, place.below, content, how);
  if (!written) return call.refuse(written.error());
  call.parts.memory.saw(call.task, place.real, written->identity);
  const auto lines = static_cast<int64_t>(split(content, '\n').size()) - (content.empty() || content.ends_with('\n'));
  return {.output = fmt::format("{} {}: {} lines, {} bytes.", written->created ? "Made" : "Replaced", place.shown,
                                lines, content.size())};
}

// A file that was not read, or has changed since, is not replaced: nobody needs to be asked for that.
Status check(const FileParts& parts, const TaskId& task, const Place& place, const Arguments& /*arguments*/) {
  const Result<files::Root> root = files::Root::open(place.root);
  if (!root || place.below.empty()) return {};  // The call will say why not.
  const Result<files::File> old = root->open_file(place.below);
  if (!old) return {};  // It is new.
  return parts.memory.check(task, place.real, files::identity(*old));
}

std::string preview(const Place& place, const Arguments& arguments) {
  constexpr int64_t compared_max = 4 << 20;
  const std::string old = text_of_place(place, compared_max).value_or("");
  return line_diff(place.shown, old, arguments.content, diff_bytes_max);
}

std::string summary(const Arguments& arguments) { return arguments.path; }

}  // namespace

std::unique_ptr<Tool> make_write(FileParts parts) {
  return make_file_tool<Arguments>(
      std::move(parts),
      {.spec =
           {.name = "write",
            .description =
                "Writes a whole file: makes it, with the folders on the way, or replaces it. A file that exists must "
                "have been read before, and not changed since. To change a part of a file use `edit`, which is "
                "shorter and safer. Paths are relative to the work dir, or absolute.",
            .input_schema =
                R"({"type":"object","properties":{)"
                R"("path":{"type":"string","description":"The file, relative to the work dir or absolute."},)"
                R"("content":{"type":"string","description":"The whole new content, at most 4 MiB."})"
                R"(},"required":["path","content"],"additionalProperties":false})"},
       .access = Access::write,
       .act = "Write",
       .read = read_fields,
       .summary = summary,
       .work = write_place,
       .check = check,
       .preview = preview});
}

}  // namespace errand::builtin
