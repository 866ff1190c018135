// `edit`: one exact replacement in a file, or all of them.
#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/in_background.h"
#include "driver/builtin/tools/replace.h"
#include "files/write.h"
#include "model/model.h"

namespace errand::builtin {
namespace {

constexpr int64_t file_bytes_max = 16 << 20;

struct Arguments {
  std::string path;
  std::string old_string;
  std::string new_string;
  bool replace_all = false;
};

Result<Arguments> read_input(std::string_view input) {
  Arguments arguments;
  const Status good = read_arguments(input, [&](Fields& fields) {
    require(fields, "path");
    fields.text("path", arguments.path, path_rule);
    require(fields, "old_string");
    fields.text("old_string", arguments.old_string, {.bytes_max = content_bytes_max, .may_be_blank = true});
    require(fields, "new_string");
    fields.text("new_string", arguments.new_string, {.bytes_max = content_bytes_max, .may_be_blank = true});
    fields.flag("replace_all", arguments.replace_all);
  });
  if (!good) return std::unexpected(good.error());
  return arguments;
}

ToolOutcome edit_place(const FileParts& parts, const ToolContext& context, const Place& place,
                       const Arguments& arguments) {
  const auto wrong = [&](const Error& error) {
    return refused({error.code, place.shown + ": " + error.message, error.reason});
  };
  const Result<files::File> file = open_place(place);
  if (!file) return wrong(file.error());
  const std::string identity = files::identity(*file);
  if (const Status seen = parts.memory.check(context.task->id, place.real, identity); !seen)
    return refused(seen.error());
  if (file->size > file_bytes_max)
    return wrong({Code::too_large, "The file is larger than 16 MiB; use a command.", {}});
  std::string text(static_cast<size_t>(file->size), '\0');
  if (files::read_at(*file, 0, text.data(), text.size()) != file->size)
    return wrong({Code::conflict, "The file changes while it is read; try again.", {}});
  const Result<Replaced> replaced =
      replace_exactly(text, arguments.old_string, arguments.new_string, arguments.replace_all);
  if (!replaced) return wrong(replaced.error());
  const Result<files::Root> root = files::Root::open(place.root);
  if (!root) return wrong(root.error());
  const Result<files::Written> written = files::write_file(*root, place.below, replaced->text, {.expected = identity});
  if (!written) return wrong(written.error());
  parts.memory.saw(context.task->id, place.real, written->identity);
  return {.output = fmt::format("Changed {} in {}. {}\n{}",
                                replaced->count == 1 ? "one place" : fmt::format("{} places", replaced->count),
                                place.shown, replaced->count == 1 ? "Now it reads:" : "The first now reads:",
                                around(replaced->text, replaced->first, arguments.new_string.size()))};
}

class Edit final : public Tool {
 public:
  explicit Edit(FileParts parts) : parts_(std::move(parts)) {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return false; }
  std::string summary(std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    return arguments ? short_line(arguments->path) : std::string();
  }
  Result<Need> need(const ToolContext& context, std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    if (!arguments) return std::unexpected(arguments.error());
    const Result<Place> place = Places(parts_.places, context).find(arguments->path, Access::write);
    if (!place) return std::unexpected(place.error());
    return need_of(*place, Access::write, "Change");
  }
  std::unique_ptr<ToolRun> run(ToolContext context, std::string input, Done done) override {
    const auto work = [parts = parts_, context = std::move(context), input = std::move(input)](const GivenUp&) {
      const Result<Arguments> arguments = read_input(input);
      if (!arguments) return refused(arguments.error());
      const Result<Place> place = Places(parts.places, context).find_permitted(arguments->path, Access::write);
      if (!place) return refused(place.error());
      return edit_place(parts, context, *place, *arguments);
    };
    return in_background(parts_.background, parts_.engine, work, std::move(done));
  }

 private:
  FileParts parts_;
  model::ToolSpec spec_{
      .name = "edit",
      .description =
          "Replaces a text in a file by another, exactly. `old_string` must be in the file once: give enough of what "
          "stands around it, blanks and line ends as they are, without the line numbers that `read` shows; or set "
          "`replace_all`. The file must have been read before, and not changed since.",
      .input_schema =
          R"({"type":"object","properties":{)"
          R"("path":{"type":"string","description":"The file, relative to the work dir or absolute."},)"
          R"("old_string":{"type":"string","description":"The text that goes, exactly as it is in the file."},)"
          R"("new_string":{"type":"string","description":"The text that takes its place; may be empty."},)"
          R"("replace_all":{"type":"boolean","description":"Replace every occurrence. Default false."})"
          R"(},"required":["path","old_string","new_string"],"additionalProperties":false})"};
};

}  // namespace

std::unique_ptr<Tool> make_edit(FileParts parts) { return std::make_unique<Edit>(std::move(parts)); }

}  // namespace errand::builtin
