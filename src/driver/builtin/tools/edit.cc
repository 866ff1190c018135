// `edit`: one exact replacement in a file, or all of them.
#include <fmt/format.h>

#include "base/line_diff.h"
#include "base/text.h"
#include "driver/builtin/tools/file_tool.h"
#include "driver/builtin/tools/replace.h"
#include "files/write.h"

namespace errand::builtin {
namespace {

constexpr int64_t file_bytes_max = 16 << 20;

struct Arguments {
  std::string path;
  std::string old_string;
  std::string new_string;
  bool replace_all = false;
};

void read_fields(Fields& fields, Arguments& arguments) {
  require(fields, "path");
  fields.text("path", arguments.path, path_rule);
  require(fields, "old_string");
  fields.text("old_string", arguments.old_string, {.bytes_max = content_bytes_max, .may_be_blank = true});
  require(fields, "new_string");
  fields.text("new_string", arguments.new_string, {.bytes_max = content_bytes_max, .may_be_blank = true});
  fields.flag("replace_all", arguments.replace_all);
}

// What the file would be.
struct Edited {
  std::string identity;  // As it is now.
  std::string before;
  Replaced replaced;
};

Result<Edited> try_edit(const FileParts& parts, const TaskId& task, const Place& place, const Arguments& arguments) {
  const auto refuse = [&](const Error& error) {
    return std::unexpected(Error{error.code, place.shown + ": " + error.message, error.reason});
  };
  const Result<files::File> file = open_place(place);
  if (!file) return refuse(file.error());
  Edited edited{.identity = files::identity(*file), .before = {}, .replaced = {}};
  if (const Status seen = parts.memory.check(task, place.real, edited.identity); !seen)
    return std::unexpected(seen.error());
  if (file->size > file_bytes_max)
    return refuse({Code::too_large, "The file is larger than 16 MiB; use a command.", {}});
  edited.before.resize(static_cast<size_t>(file->size));
  if (files::read_at(*file, 0, edited.before.data(), edited.before.size()) != file->size)
    return refuse({Code::conflict, "The file changes while it is read; try again.", {}});
  Result<Replaced> replaced =
      replace_exactly(edited.before, arguments.old_string, arguments.new_string, arguments.replace_all);
  if (!replaced) return refuse(replaced.error());
  edited.replaced = std::move(*replaced);
  return edited;
}

Status check(const FileParts& parts, const TaskId& task, const Place& place, const Arguments& arguments) {
  const Result<Edited> edited = try_edit(parts, task, place, arguments);
  if (!edited) return std::unexpected(edited.error());
  return {};
}

ToolOutcome edit_place(const FileCall& call, const Arguments& arguments) {
  const Place& place = call.place;
  const Result<Edited> edited = try_edit(call.parts, call.task, place, arguments);
  if (!edited) return refused(edited.error());
  const Replaced* const replaced = &edited->replaced;
  const Result<files::Root> root = files::Root::open(place.root);
  if (!root) return call.refuse(root.error());
  const Result<files::Written> written =
      files::write_file(*root, place.below, replaced->text, {.expected = edited->identity});
  if (!written) return call.refuse(written.error());
  call.parts.memory.saw(call.task, place.real, written->identity);
  return {.output = fmt::format("Changed {} in {}. {}\n{}",
                                replaced->count == 1 ? "one place" : fmt::format("{} places", replaced->count),
                                place.shown, replaced->count == 1 ? "Now it reads:" : "The first now reads:",
                                around(replaced->text, replaced->first, arguments.new_string.size()))};
}

// Where it cannot be done the call will say why.
std::string preview(const Place& place, const Arguments& arguments) {
  const std::optional<std::string> text = text_of_place(place, file_bytes_max);
  if (!text) return {};
  const Result<Replaced> replaced =
      replace_exactly(*text, arguments.old_string, arguments.new_string, arguments.replace_all);
  return replaced ? line_diff(place.shown, *text, replaced->text, diff_bytes_max) : std::string();
}

std::string summary(const Arguments& arguments) { return arguments.path; }

}  // namespace

std::unique_ptr<Tool> make_edit(FileParts parts) {
  return make_file_tool<Arguments>(
      std::move(parts),
      {.spec =
           {.name = "edit",
            .description = "Replaces a text in a file by another, exactly. `old_string` must be in the file once: give "
                           "enough of what "
                           "stands around it, blanks and line ends as they are, without the line numbers that `read` "
                           "shows; or set "
                           "`replace_all`. The file must have been read before, and not changed since.",
            .input_schema =
                R"({"type":"object","properties":{)"
                R"("path":{"type":"string","description":"The file, relative to the work dir or absolute."},)"
                R"("old_string":{"type":"string","description":"The text that goes, exactly as it is in the file."},)"
                R"("new_string":{"type":"string","description":"The text that takes its place; may be empty."},)"
                R"("replace_all":{"type":"boolean","description":"Replace every occurrence. Default false."})"
                R"(},"required":["path","old_string","new_string"],"additionalProperties":false})"},
       .access = Access::write,
       .act = "Change",
       .read = read_fields,
       .summary = summary,
       .work = edit_place,
       .check = check,
       .preview = preview});
}

}  // namespace errand::builtin
