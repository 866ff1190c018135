// What the tools that touch files share: a call is read and the task's folders are resolved once, in the background,
// and what it does is done there too. A tool is its arguments, its words and its work.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/in_background.h"
#include "model/model.h"

namespace errand::builtin {

// A call at work.
struct FileCall {
  const FileParts& parts;
  const TaskId& task;
  const Places& places;
  const Place& place;  // Of the arguments' path; it may be used.
  const GivenUp& given_up;

  // An error, with the place it is about.
  ToolOutcome refuse(const Error& error) const {
    return refused({error.code, place.shown + ": " + error.message, error.reason});
  }
};

// `Arguments` have a `path`.
template <class Arguments>
struct FileToolSpec {
  model::ToolSpec spec;
  Access access = Access::read;
  std::string_view act;  // What the question for a person begins with.
  void (*read)(Fields& fields, Arguments& into) = nullptr;
  std::string (*summary)(const Arguments& arguments) = nullptr;
  ToolOutcome (*work)(const FileCall& call, const Arguments& arguments) = nullptr;  // In the background.
  // Why it cannot be done, as far as that is known before: then nobody is asked for it. Null: it is not. In the
  // background.
  Status (*check)(const FileParts& parts, const TaskId& task, const Place& place, const Arguments& arguments) = nullptr;
  // What would change, as a diff, for whoever is asked; null: nothing. In the background.
  std::string (*preview)(const Place& place, const Arguments& arguments) = nullptr;
};

template <class Arguments>
class FileTool final : public Tool {
 public:
  FileTool(FileParts parts, FileToolSpec<Arguments> what) : parts_(std::move(parts)), what_(std::move(what)) {}

  const model::ToolSpec& spec() const override { return what_.spec; }
  bool read_only() const override { return what_.access == Access::read; }
  std::string summary(std::string_view input) const override {
    const Result<Arguments> arguments = read(input);
    return arguments ? short_line(what_.summary(*arguments)) : std::string();
  }
  Result<Prepared> prepare(const ToolContext& context, std::string input) const override {
    Result<Arguments> arguments = read(input);
    if (!arguments) return std::unexpected(arguments.error());
    Places places(parts_.places, context);
    const Result<Place> place = places.find(arguments->path, what_.access);
    if (!place) return std::unexpected(place.error());
    Need need = need_of(*place, what_.access, what_.act);
    // Of what is outside nothing is told before somebody has allowed it.
    const bool can_tell = place->inside && places.find_permitted(arguments->path, what_.access, place->shown);
    if (need.ask && what_.check && can_tell && !is_asked(context))
      if (const Status can = what_.check(parts_, context.task->id, *place, *arguments); !can)
        return std::unexpected(can.error());
    if (need.ask && what_.preview) need.diff = what_.preview(*place, *arguments);
    return Prepared{.need = std::move(need),
                    .children = {},
                    .run = [this, arguments = std::move(*arguments), places = std::move(places)](ToolContext with,
                                                                                                 Done done) mutable {
                      return run(std::move(with), std::move(arguments), std::move(places), std::move(done));
                    }};
  }

 private:
  // A question that is open already, from before a restart, is left to whoever answers it.
  static bool is_asked(const ToolContext& context) {
    return std::ranges::find(context.task->asks, context.call_id, &errand::Ask::request_id) != context.task->asks.end();
  }
  Result<Arguments> read(std::string_view input) const {
    Arguments arguments;
    const Status good = read_arguments(input, [&](Fields& fields) { what_.read(fields, arguments); });
    if (!good) return std::unexpected(good.error());
    return arguments;
  }

  // The path is looked at once more: what it means now must be what was asked for.
  std::unique_ptr<ToolRun> run(ToolContext context, Arguments arguments, Places places, Done done) const {
    auto work = [parts = parts_, access = what_.access, work = what_.work, context = std::move(context),
                 arguments = std::move(arguments), places = std::move(places)](const GivenUp& given_up) {
      const Result<Place> place = places.find_permitted(arguments.path, access, context.permitted);
      if (!place) return refused(place.error());
      return work({parts, context.task->id, places, *place, given_up}, arguments);
    };
    return in_background(parts_.background, parts_.engine, std::move(work), std::move(done));
  }

  const FileParts parts_;
  const FileToolSpec<Arguments> what_;
};

template <class Arguments>
std::unique_ptr<Tool> make_file_tool(FileParts parts, FileToolSpec<Arguments> what) {
  return std::make_unique<FileTool<Arguments>>(std::move(parts), std::move(what));
}

}  // namespace errand::builtin
