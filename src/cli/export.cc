// errand export: a task with its whole conversation as one document.
#include <cstring>

#include <fmt/format.h>

#include "base/replace_file.h"
#include "cli/resolve.h"
#include "cli/verbs.h"

namespace errand::cli {

int export_transcript(Context& context, const ExportArgs& args) {
  const Screen& screen = context.screen;
  const Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  const std::string format = screen.json() ? "json" : args.format;
  const Result<std::string> document = context.client.get(task_path(*id, "/export") + "?format=" + format);
  if (!document) return screen.fail(document.error());
  if (args.out.empty() || args.out == "-") {
    // To a terminal without what would control it; to a file or another program as it is.
    if (screen.out_is_terminal())
      screen.out_task_text(*document);
    else
      screen.out_bytes(*document);
    return code(Exit::ok);
  }
  if (const int error = replace_file(args.out, *document, 0644, Durability::process); error != 0)
    return screen.fail({Code::unavailable, fmt::format("Cannot write {}: {}.", args.out, std::strerror(error)), {}});
  screen.say(fmt::format("saved {}", args.out));
  return code(Exit::ok);
}

}  // namespace errand::cli
