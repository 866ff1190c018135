// errand man: the manual page, as roff, made from the verb table.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/version.h"
#include "cli/install.h"
#include "cli/shape.h"
#include "cli/verbs.h"

namespace errand::cli {
namespace {

// Text that roff prints as it is: no escape, no macro, and dashes that can be copied.
std::string plain(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '\n':
        out += '\n';
        break;
      default:
        out += c;
    }
  }
  return out;
}

constexpr size_t line_max = 76;

// Text as lines that are short, one sentence to a line, as roff wants its source.
std::string lines(const std::string& text) {
  std::string out, line;
  auto end_line = [&] {
    if (!line.empty()) out.append(out.empty() ? "" : "\n").append(line);
    line.clear();
  };
  for (std::string_view word : split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > line_max) end_line();
    if (!line.empty()) line += ' ';
    if (line.empty() && (word.starts_with('.') || word.starts_with('\''))) line += "\\&";
    line += word;
    if (word.ends_with('.') && word != "...") end_line();
  }
  end_line();
  return out;
}

// As the help ends: with a full stop.
std::string sentence(std::string_view text) { return lines(plain(text) + (text.ends_with('.') ? "" : ".")); }

std::string option_line(const OptionShape& option) {
  std::string out;
  for (const std::string& name : option.names) out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", plain(name));
  if (!option.value.empty()) out += fmt::format(" \\fI{}\\fR", plain(option.value));
  return out;
}

void options(std::string& out, const std::vector<OptionShape>& shapes) {
  for (const OptionShape& option : shapes) {
    if (option.positional || option.is("--help")) continue;
    out += fmt::format(".TP\n{}\n{}", option_line(option), sentence(option.help));
    if (!option.preset.empty()) out += fmt::format("\nDefault: {}.", plain(option.preset));
    out += '\n';
  }
}

void verb_section(std::string& out, const Verb& verb) {
  const std::vector<OptionShape> shapes = options_of(verb);
  std::string usage = fmt::format("\\fBerrand {}\\fR [\\fIOPTIONS\\fR]", plain(verb.name));
  for (const OptionShape& option : shapes) {
    if (!option.positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", plain(option.longest()), option.many ? " ..." : "");
    usage += option.required ? " " + name : " [" + name + "]";
  }
  out += fmt::format(".SS {}\n{}\n.PP\n{}\n", plain(verb.name), lines(usage), sentence(verb.summary));
  for (const OptionShape& option : shapes)
    if (option.positional) out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", plain(option.longest()), sentence(option.help));
  options(out, shapes);
  out += fmt::format(".PP\nExample:\n.PP\n.in +4n\n.nf\n{}\n.fi\n.in\n", plain(verb.example));
}

constexpr std::string_view after_verbs = R"(.SH ENVIRONMENT
.TP
.B ERRAND_DATA_DIR
The data folder, where \fB\-\-data\-dir\fR does not name one.
.TP
.B ERRAND_URL
The server, where \fB\-\-url\fR does not name one.
.TP
.B ERRAND_TOKEN
The token for the server.
.TP
.B ERRAND_LISTEN
Where a server that a verb starts listens.
.TP
.BR NO_COLOR ", " CLICOLOR_FORCE
No colours, or colours in a pipe too.
.SH FILES
.TP
.I \(ti/.local/share/errand
The data folder: the database, the logs of tasks, the token, and
.IR errand.toml ,
the settings.
.SH EXIT STATUS
.TP
.B 0
Success; the task is completed.
.TP
.B 1
The task failed, or the request failed for a reason not listed here.
.TP
.B 2
The command line or the request is wrong.
.TP
.B 3
The task, batch or agent does not exist.
.TP
.B 4
The token is missing or wrong, or does not allow it.
.TP
.B 5
No server answers, and none can be started.
.TP
.B 6
The task was cancelled.
.TP
.B 7
The task timed out.
.TP
.B 8
The task had not ended when \fB\-\-timeout\fR was over, or there is no
result yet.
.TP
.B 130
Ctrl\-C.
.PP
.B errand run \-\-wait
exits with the command\(aqs own code.
)";

}  // namespace

std::string man_page() {
  std::string out = fmt::format(
      ".\\\" Made by: errand man\n.TH ERRAND 1 {} \"errand {}\" \"User commands\"\n.nh\n.ad l\n"
      ".SH NAME\nerrand \\- background tasks for people and AI agents\n"
      ".SH SYNOPSIS\n\\fBerrand\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] ...\n"
      ".SH DESCRIPTION\n"
      "errand keeps tasks: commands and conversations of agents that go on when\nwhoever started them is gone.\n"
      "A verb that needs a server starts one in the background if none runs.\n"
      "For an id, type any unique beginning of it.\n"
      ".SH OPTIONS\nEvery verb takes these.\n",
      ERRAND_RELEASED, errand::version);
  options(out, global_options());
  out += ".SH VERBS\n";
  for (const Verb& verb : verbs())
    if (*verb.group) verb_section(out, verb);
  out += after_verbs;
  return out;
}

int man(Context& context, const ManArgs&) {
  context.screen.out_bytes(man_page());
  return code(Exit::ok);
}

}  // namespace errand::cli
