// errand run: a command, in the background.
#include "base/text.h"
#include "cli/files.h"
#include "cli/launch.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// One word that a shell would read as more than a word.
bool is_a_line(const std::string& word) {
  return word.find_first_of(" \t\n|&;<>()$`\\\"'*?[]{}~#!") != std::string::npos;
}

void write_limits(JsonOut& out, const RunArgs& args) {
  if (!args.cpu && !args.memory && !args.processes && !args.open_files && !args.max_output && !args.nice) return;
  out.key("limits").object();
  // A part of a second is a second: 0 would be no limit.
  if (args.cpu) out.field("cpu_s", (*args.cpu + 999) / 1'000);
  if (args.memory) out.field("memory_bytes", *args.memory);
  if (args.processes) out.field("processes", *args.processes);
  if (args.open_files) out.field("open_files", *args.open_files);
  if (args.max_output) out.field("output_bytes", *args.max_output);
  if (args.nice) out.field("nice", *args.nice);
  out.end();
}

}  // namespace

int run(Context& context, const RunArgs& args) {
  for (const std::string& word : args.command)
    if (!is_utf8(word))  // JSON could not carry it, and another word must not be run in its place.
      return context.screen.fail({Code::invalid_argument,
                                  "The command has a word that is not UTF-8. Use a shell pattern, or rename the file.",
                                  "not_utf8"});
  std::string body;
  JsonOut out(body);
  out.object().field("kind", "command").key("command");
  if (args.shell || (args.command.size() == 1 && is_a_line(args.command[0]))) {
    std::string line;
    for (const std::string& word : args.command) line.append(line.empty() ? "" : " ").append(word);
    out.value(line);
  } else {
    out.array();
    for (const std::string& word : args.command) out.value(word);
    out.end();
  }
  if (args.allow_interactive) out.field("allow_interactive", true);
  write_limits(out, args);
  if (!args.sandbox.empty()) out.field("sandbox", args.sandbox);
  if (!args.artifacts.empty()) {
    out.key("artifacts").array();
    for (const std::string& pattern : args.artifacts) {
      if (!is_utf8(pattern))
        return context.screen.fail({Code::invalid_argument, "The pattern of --artifacts is not UTF-8.", "not_utf8"});
      out.value(pattern);
    }
    out.end();
  }
  if (!args.add_dirs.empty()) {
    out.key("add_dirs").array();
    for (const std::string& folder : args.add_dirs) out.value(absolute(folder));
    out.end();
  }
  if (Status written = write_launch(context, out, args.launch); !written) return context.screen.fail(written.error());
  out.end();
  return launch(context, body, args.launch.stay);
}

}  // namespace errand::cli
