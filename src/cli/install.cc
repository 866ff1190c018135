// errand install, upgrade, uninstall: this program for one user. What it wrote is in a list of its own, and only what
// is in that list is ever replaced or removed. Running work is the supervisor's, and goes on meanwhile.
#include "cli/install.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/replace_file.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/files.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;
constexpr Millis leave_ms = 15'000;
constexpr const char* unit_name = "errand.service";

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

struct Places {
  std::string home = variable("HOME", "/");
  std::string config = variable("XDG_CONFIG_HOME", home + "/.config");
  std::string data = variable("XDG_DATA_HOME", home + "/.local/share");
  std::string program = home + "/.local/bin/errand";
  std::string previous = program + ".previous";
  std::string unit = config + "/systemd/user/" + unit_name;
  std::string bash = data + "/bash-completion/completions/errand";
  std::string zsh = data + "/zsh/site-functions/_errand";
  std::string fish = config + "/fish/completions/errand.fish";
  std::string man = data + "/man/man1/errand.1";
  std::string list = variable("XDG_STATE_HOME", home + "/.local/state") + "/errand/installed";
};

// The files that an earlier install wrote.
std::vector<std::string> listed(const Places& places) {
  std::vector<std::string> out;
  const std::string text = read_file(places.list);
  for (std::string_view line : split(text, '\n'))
    if (!line.empty()) out.emplace_back(line);
  return out;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

Status failed(std::string_view what, const std::string& path, int error) {
  return fail(Code::internal, fmt::format("Cannot {} {}: {}.", what, path, std::strerror(error)));
}

Status write(const std::string& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (const int wrong = replace_file(path, text, 0644, Durability::power)) return failed("write", path, wrong);
  return {};
}

// Puts the program into its place; the one that was there stays beside it. At no moment is there none.
Status put_program(const Places& places, const std::string& from) {
  std::error_code error;
  const std::string fresh = places.program + ".new";
  fs::create_directories(fs::path(places.program).parent_path(), error);
  if (!fs::copy_file(from, fresh, fs::copy_options::overwrite_existing, error))
    return failed("copy", from, error.value());
  const int file = ::open(fresh.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && ::fchmod(file, 0755) == 0 && ::fsync(file) == 0;
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!synced) return failed("write", fresh, why);
  if (!succeeds({fresh, "version"})) {
    ::unlink(fresh.c_str());
    return fail(Code::invalid_argument, fmt::format("{} is no errand that runs on this machine.", from));
  }
  if (fs::exists(places.program, error)) {
    ::unlink(places.previous.c_str());
    if (::link(places.program.c_str(), places.previous.c_str()) != 0) return failed("keep", places.program, errno);
  }
  if (::rename(fresh.c_str(), places.program.c_str()) != 0) return failed("replace", places.program, errno);
  return {};
}

// As systemd reads a word of a command.
std::string unit_word(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || c == '$') out += c;
    out += c;
  }
  return out + "\"";
}

// What a unit's command says behind the program, for this data folder.
std::string serve_line(const std::string& data_dir) {
  return data_dir == default_data_dir() ? " serve" : " serve --data-dir " + unit_word(data_dir);
}

// `config`: a settings file that is not the data folder's own; empty: that one.
std::string unit_text(const std::string& program, const std::string& data_dir, const std::string& config) {
  std::string text(service_unit());
  const std::string wanted = "/usr/bin/errand serve";
  std::string line = unit_word(program) + serve_line(data_dir);
  if (!config.empty()) line += " --config " + unit_word(config);
  return text.replace(text.find(wanted), wanted.size(), line);
}

// The settings file of the server that runs now, where it is not the data folder's own.
std::string other_config(const Context& context) {
  const Result<Target> running = find_server(where_of(context.globals), Start::never);
  return running && running->config != context.globals.data_dir + "/errand.toml" ? running->config : std::string();
}

bool unit_runs() { return succeeds({"systemctl", "--user", "is-active", "--quiet", unit_name}); }

// Ends the server of the data folder, where one runs that systemd does not own. Its tasks go on.
Status stop_server(Context& context) {
  const Result<Target> found = find_server(where_of(context.globals), Start::never);
  if (!found || found->pid <= 0) return {};
  const auto pid = static_cast<pid_t>(found->pid);
  if (::kill(pid, SIGTERM) != 0) return {};
  // Of a process that has ended, and that its parent has not asked for yet, the program is gone.
  const std::string program = fmt::format("/proc/{}/exe", pid);
  std::error_code gone;
  for (const Time until = steady_now() + leave_ms; !fs::read_symlink(program, gone).empty(); ::poll(nullptr, 0, 20))
    if (steady_now() > until)
      return fail(Code::unavailable, fmt::format("The running server (process {}) does not stop.", pid), "unreachable");
  return {};
}

// A server of the program in its place, instead of the one that runs, and started as that was.
Status restart_with(Context& context, const Places& places) {
  const std::vector<std::string> words = {places.program, "--data-dir", context.globals.data_dir};
  auto with = [words](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  if (!succeeds(with({"restart"})) || !succeeds(with({"list", "--limit", "1", "--json"})))
    return fail(Code::unavailable, "The new program's server does not answer; server.log in the data folder says why.");
  return {};
}

Status write_all(Context& context, const Places& places, const InstallArgs& args) {
  const Screen& screen = context.screen;
  std::error_code error;
  const std::vector<std::string> before = listed(places);
  std::string list;
  auto own = [&](const std::string& path) { list += path + "\n"; };
  // Somebody else's file stays as it is.
  auto put = [&](const std::string& path, std::string_view text) -> Status {
    if (fs::exists(path, error) && !has(before, path)) {
      screen.say(fmt::format("{} is there already, and errand install did not write it: it stays as it is.", path));
      return {};
    }
    if (Status written = write(path, text); !written) return written;
    own(path);
    screen.out_line(path);
    return {};
  };
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  const bool packaged = self.starts_with("/usr/") && !self.starts_with("/usr/local/");
  if (packaged) {
    screen.say(fmt::format(
        "{} belongs to a package, which brings completions and the manual: only the service is set up.", self));
  } else {
    if (!fs::equivalent(self, places.program, error)) {
      if (fs::exists(places.program, error) && !has(before, places.program))
        return fail(Code::conflict,
                    fmt::format("{} is there already, and errand install did not write it. Move it away "
                                "and try again.",
                                places.program));
      if (Status placed = put_program(places, "/proc/self/exe"); !placed) return placed;
    }
    own(places.program);
    own(places.previous);
    screen.out_line(places.program);
    if (Status put_it = put(places.bash, bash_completion()); !put_it) return put_it;
    if (Status put_it = put(places.zsh, zsh_completion()); !put_it) return put_it;
    if (Status put_it = put(places.fish, fish_completion()); !put_it) return put_it;
    if (Status put_it = put(places.man, man_page()); !put_it) return put_it;
  }
  if (args.service)
    if (Status put_it = put(
            places.unit, unit_text(packaged ? self : places.program, context.globals.data_dir, other_config(context)));
        !put_it)
      return put_it;
  return write(places.list, list);
}

}  // namespace

bool has_systemd() { return succeeds({"systemctl", "--user", "show-environment"}); }

std::optional<Service> installed_service(const std::string& data_dir) {
  const Places places;
  const std::string unit = read_file(places.unit);
  const size_t command = unit.find("\nExecStart=");
  if (command == std::string::npos || !has(listed(places), places.unit)) return std::nullopt;
  const std::string_view line = std::string_view(unit).substr(command + 1, unit.find('\n', command + 1) - command);
  const std::string own = serve_line(data_dir);
  if ((line.find(own + "\n") == std::string_view::npos && line.find(own + " --config ") == std::string_view::npos) ||
      !succeeds({"systemctl", "--user", "is-enabled", "--quiet", unit_name}))
    return std::nullopt;
  return Service{.unit = unit_name, .user = true};
}

int install(Context& context, const InstallArgs& args) {
  const Screen& screen = context.screen;
  const Places places;
  if (Status written = write_all(context, places, args); !written) return screen.fail(written.error());
  if (args.service && has_systemd()) {
    // A server that a verb started keeps the data folder; its work goes on under the new one.
    if (!unit_runs())
      if (Status stopped = stop_server(context); !stopped) return screen.fail(stopped.error());
    if (!succeeds({"systemctl", "--user", "daemon-reload"}) ||
        !succeeds({"systemctl", "--user", "enable", "--now", unit_name}))
      return screen.fail(
          {Code::unavailable, "systemd could not start errand: systemctl --user status errand", "unreachable"});
    if (const Result<Target> runs = wait_for(where_of(context.globals), {.unit = unit_name, .user = true}, 0); !runs)
      return screen.fail(runs.error());
    screen.say("The server runs, and starts with your next login.");
  } else if (args.service) {
    screen.say("No systemd of yours answers here: the first verb that needs a server starts one.");
  }
  if (args.linger && !succeeds({"loginctl", "enable-linger"}))
    return screen.fail(
        {Code::unavailable, "loginctl enable-linger failed: ask an administrator to allow it.", "linger"});
  const std::string path = ":" + variable("PATH", "") + ":";
  const std::string folder = fs::path(places.program).parent_path();
  if (path.find(":" + folder + ":") == std::string::npos)
    screen.say(fmt::format("{0} is not on your PATH. Add it: export PATH=\"{0}:$PATH\"", folder));
  return code(Exit::ok);
}

int upgrade(Context& context, const UpgradeArgs& args) {
  const Screen& screen = context.screen;
  const Places places;
  if (!has(listed(places), places.program))
    return screen.fail(
        {Code::conflict, "errand install did not install errand here: upgrade it as you installed it.", ""});
  const std::string from = args.undo ? places.previous : absolute(args.file);
  std::error_code error;
  if (!fs::exists(from, error))
    return screen.fail(
        {Code::not_found,
         args.undo ? "There is no earlier program to go back to." : fmt::format("There is no file {}.", from),
         "not_found"});
  if (Status placed = put_program(places, from); !placed) return screen.fail(placed.error());
  Status restarted = restart_with(context, places);
  if (restarted) {
    screen.say("The server runs the new program; running work goes on. To go back: errand upgrade --undo");
    return code(Exit::ok);
  }
  if (args.undo) return screen.fail(restarted.error());
  // Back to what worked.
  if (Status placed = put_program(places, places.previous); !placed) return screen.fail(placed.error());
  if (Status back = restart_with(context, places); !back) return screen.fail(back.error());
  return screen.fail({restarted.error().code, restarted.error().message + " The program from before is back.", ""});
}

int uninstall(Context& context, const UninstallArgs&) {
  const Screen& screen = context.screen;
  const Places places;
  const std::vector<std::string> files = listed(places);
  if (files.empty())
    return screen.fail(
        {Code::not_found, "errand install has installed nothing here, so there is nothing to remove.", "not_found"});
  const bool service = has(files, places.unit);
  if (service && has_systemd()) succeeds({"systemctl", "--user", "disable", "--now", unit_name});
  if (Status stopped = stop_server(context); !stopped) return screen.fail(stopped.error());
  std::error_code error;
  for (const std::string& file : files) {
    // The list is a file of the user's: nothing but our own places is taken from it.
    const bool ours = file == places.program || file == places.previous || file == places.unit || file == places.bash ||
                      file == places.zsh || file == places.fish || file == places.man;
    if (ours && fs::remove(file, error)) screen.out_line(file);
  }
  fs::remove(places.list, error);
  if (service && has_systemd()) succeeds({"systemctl", "--user", "daemon-reload"});
  screen.say(
      fmt::format("Removed. Your tasks stay in {0}; tasks at work go on to their end, and an errand that is installed "
                  "later shows their results. To delete them all: rm -r {0}",
                  context.globals.data_dir));
  return code(Exit::ok);
}

}  // namespace errand::cli
