// `write`: a whole file, made or replaced.
#include "files/write.h"

#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/in_background.h"
#include "model/model.h"

namespace errand::builtin {
namespace {

struct Arguments {
  std::string path;
  std::string content;
};

Result<Arguments> read_input(std::string_view input) {
  Arguments arguments;
  const Status good = read_arguments(input, [&](Fields& fields) {
    require(fields, "path");
    fields.text("path", arguments.path, path_rule);
    require(fields, "content");
    fields.text("content", arguments.content, {.bytes_max = content_bytes_max, .may_be_blank = true});
  });
  if (!good) return std::unexpected(good.error());
  return arguments;
}

ToolOutcome write_place(const FileParts& parts, const ToolContext& context, const Place& place,
                        const std::string& content) {
  const auto wrong = [&](const Error& error) {
    return refused({error.code, place.shown + ": " + error.message, error.reason});
  };
  if (place.below.empty()) return wrong({Code::forbidden, "This is a folder; name a file in it.", {}});
  const Result<files::Root> root = files::Root::open(place.root);
  if (!root) return wrong(root.error());
  files::WriteHow how{.new_mode = 0666u & ~static_cast<uint32_t>(parts.umask),
                      .folder_mode = 0777u & ~static_cast<uint32_t>(parts.umask)};
  if (const Result<files::File> old = root->open_file(place.below)) {
    const std::string identity = files::identity(*old);
    if (const Status seen = parts.memory.check(context.task->id, place.real, identity); !seen)
      return refused(seen.error());
    how.expected = identity;
  } else if (old.error().code != Code::not_found) {
    return wrong(old.error());
  }
  const Result<files::Written> written = files::write_file(*root, place.below, content, how);
  if (!written) return wrong(written.error());
  parts.memory.saw(context.task->id, place.real, written->identity);
  const auto lines = static_cast<int64_t>(split(content, '\n').size()) - (content.empty() || content.ends_with('\n'));
  return {.output = fmt::format("{} {}: {} lines, {} bytes.", written->created ? "Made" : "Replaced", place.shown,
                                lines, content.size())};
}

class Write final : public Tool {
 public:
  explicit Write(FileParts parts) : parts_(std::move(parts)) {}

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
    return need_of(*place, Access::write, "Write");
  }
  std::unique_ptr<ToolRun> run(ToolContext context, std::string input, Done done) override {
    const auto work = [parts = parts_, context = std::move(context), input = std::move(input)](const GivenUp&) {
      const Result<Arguments> arguments = read_input(input);
      if (!arguments) return refused(arguments.error());
      const Result<Place> place = Places(parts.places, context).find_permitted(arguments->path, Access::write);
      if (!place) return refused(place.error());
      return write_place(parts, context, *place, arguments->content);
    };
    return in_background(parts_.background, parts_.engine, work, std::move(done));
  }

 private:
  FileParts parts_;
  model::ToolSpec spec_{
      .name = "write",
      .description =
          "Writes a whole file: makes it, with the folders on the way, or replaces it. A file that exists must "
          "have been read before, and not changed since. To change a part of a file use `edit`, which is "
          "shorter and safer. Paths are relative to the work dir, or absolute.",
      .input_schema = R"({"type":"object","properties":{)"
                      R"("path":{"type":"string","description":"The file, relative to the work dir or absolute."},)"
                      R"("content":{"type":"string","description":"The whole new content, at most 4 MiB."})"
                      R"(},"required":["path","content"],"additionalProperties":false})"};
};

}  // namespace

std::unique_ptr<Tool> make_write(FileParts parts) { return std::make_unique<Write>(std::move(parts)); }

}  // namespace errand::builtin
