#include "driver/run/sandbox.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

namespace errand::run {
namespace {

namespace fs = std::filesystem;

// In HOME: what speaks for the user somewhere. Folders and files.
constexpr std::array home_secrets = {".ssh",
                                     ".gnupg",
                                     ".aws",
                                     ".azure",
                                     ".kube",
                                     ".config/gh",
                                     ".config/gcloud",
                                     ".config/git/credentials",
                                     ".config/op",
                                     ".config/google-chrome",
                                     ".config/chromium",
                                     ".docker/config.json",
                                     ".netrc",
                                     ".git-credentials",
                                     ".pgpass",
                                     ".my.cnf",
                                     ".npmrc",
                                     ".yarnrc.yml",
                                     ".pypirc",
                                     ".cargo/credentials",
                                     ".cargo/credentials.toml",
                                     ".gem/credentials",
                                     ".m2/settings.xml",
                                     ".vault-token",
                                     ".terraform.d/credentials.tfrc.json",
                                     ".password-store",
                                     ".mozilla",
                                     ".local/share/keyrings",
                                     ".local/share/opencode/auth.json",
                                     ".claude/.credentials.json",
                                     ".claude.json",
                                     ".codex/auth.json",
                                     ".gemini/oauth_creds.json",
                                     ".bash_history",
                                     ".zsh_history"};
// Sockets of programs that would do outside what is asked for inside.
constexpr std::array doors = {
    "/run/user", "/run/dbus",    "/run/docker.sock",  "/run/podman",          "/run/containerd",
    "/run/crio", "/run/libvirt", "/run/snapd.socket", "/run/systemd/private", "/run/systemd/io.systemd.Manager"};

enum class How : uint8_t { hidden, read_only, writable };

struct Mount {
  std::string path;
  How how = How::hidden;
};

std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

bool inside(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || (path.starts_with(folder) && path[folder.size()] == '/');
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_link(const std::string& path) {
  std::error_code error;
  return fs::is_symlink(path, error);
}

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// A folder that is a mount of its own cannot be moved out of the way. Where something is not as git makes it, all of it
// is read-only.
void protect_git(const std::string& folder, std::vector<Mount>& mounts) {
  const std::string git = folder + "/.git";
  if (!is_folder(git)) {
    if (is_there(git)) mounts.push_back({git, How::read_only});  // A worktree's file.
    return;
  }
  const std::string hooks = git + "/hooks", config = git + "/config";
  if (is_link(git)) {
    if (const std::string real = resolved(git); !real.empty()) mounts.push_back({real, How::read_only});
    return;
  }
  if (is_link(hooks) || is_link(config) || !is_folder(hooks) || !is_there(config)) {
    mounts.push_back({git, How::read_only});
    return;
  }
  mounts.push_back({git, How::writable});
  mounts.push_back({hooks, How::read_only});
  mounts.push_back({config, How::read_only});
  if (is_there(git + "/config.worktree")) mounts.push_back({git + "/config.worktree", How::read_only});
}

std::vector<std::string> writable_folders(const SandboxPlan& plan) {
  std::vector<std::string> folders{resolved(plan.work_dir), resolved(plan.artifacts)};
  if (!plan.clone.empty()) folders.push_back(resolved(plan.clone));
  for (const std::string& folder : plan.add_dirs) folders.push_back(resolved(folder));
  std::erase(folders, std::string());
  return folders;
}

std::vector<Mount> mounts_of(const SandboxPlan& plan) {
  std::vector<Mount> mounts;
  const auto hide = [&](const std::string& path) {
    if (const std::string real = resolved(path); !real.empty() && real != "/") mounts.push_back({real, How::hidden});
  };
  hide("/tmp");
  hide("/var/tmp");
  for (const char* door : doors) hide(door);
  if (!plan.home.empty())
    for (const char* secret : home_secrets) hide(plan.home + "/" + secret);
  if (plan.level == Sandbox::strict)
    for (const std::string& folder : {std::string("/home"), std::string("/root"), plan.home})
      if (!folder.empty()) hide(folder);
  hide(plan.data_dir);
  for (const std::string& folder : writable_folders(plan)) {
    mounts.push_back({folder, How::writable});
    protect_git(folder, mounts);
  }
  if (const std::string objects = plan.objects.empty() ? "" : resolved(plan.objects); !objects.empty())
    mounts.push_back({objects, How::read_only});
  // What is inside another comes after it. Of two about one path, what is hidden gives way to what was asked for, and
  // what may be written to what may not.
  std::ranges::sort(mounts, [](const Mount& a, const Mount& b) {
    if (a.path.size() != b.path.size()) return a.path.size() < b.path.size();
    return a.path < b.path;
  });
  const auto rank = [](How how) { return how == How::hidden ? 0 : how == How::writable ? 1 : 2; };
  std::vector<Mount> out;
  for (Mount& mount : mounts) {
    if (out.empty() || out.back().path != mount.path)
      out.push_back(std::move(mount));
    else if (rank(mount.how) > rank(out.back().how))
      out.back().how = mount.how;
  }
  return out;
}

Status check_folder(const SandboxPlan& plan, const char* field, const std::string& given) {
  const std::string folder = resolved(given);
  if (folder.empty())
    return fail(Code::invalid_argument,
                fmt::format("The {} {} does not exist or cannot be reached; create it or name another.", field, given));
  const auto refuse = [&](std::string_view why) {
    return fail(Code::invalid_argument,
                fmt::format("The {} {} cannot be made writable in a sandbox: {}; name a folder of the project.", field,
                            given, why),
                "sandbox_folder");
  };
  for (const char* system : {"/proc", "/sys", "/dev", "/run"})
    if (inside(folder, system)) return refuse(fmt::format("it is in {}", system));
  if (folder == "/" || folder == "/home" || folder == "/tmp" || folder == "/var/tmp")
    return refuse("it is shared by everybody");
  const std::string home = plan.home.empty() ? "" : resolved(plan.home);
  if (!home.empty() && inside(home, folder))
    return refuse("your home folder, with its keys and start-up files, is in it");
  const std::string own = resolved(plan.data_dir);
  const std::string clone = plan.clone.empty() ? "" : resolved(plan.clone);
  const bool is_its_clone = !clone.empty() && inside(folder, clone);
  if (!own.empty() && inside(folder, own) && !is_its_clone) return refuse("it is in errand's own data folder");
  return {};
}

}  // namespace

bool is_secret_place(const std::string& home, const std::string& path) {
  if (home.empty() || home == "/" || !inside(path, home) || path.size() <= home.size()) return false;
  const std::string below = path.substr(home.size() + 1);
  return std::ranges::any_of(home_secrets, [&](const char* secret) { return inside(below, secret); });
}

Status check_sandbox(const SandboxPlan& plan) {
  if (Status good = check_folder(plan, "work_dir", plan.work_dir); !good) return good;
  for (const std::string& folder : plan.add_dirs)
    if (Status good = check_folder(plan, "folder of add_dirs", folder); !good) return good;
  return {};
}

std::vector<std::string> sandbox_argv(const SandboxPlan& plan, const std::vector<std::string>& command) {
  std::vector<std::string> argv{plan.bwrap,
                                "--die-with-parent",
                                "--unshare-pid",
                                "--unshare-ipc",
                                "--unshare-cgroup-try",
                                "--cap-drop",
                                "ALL",
                                "--ro-bind",
                                "/",
                                "/",
                                "--dev",
                                "/dev",
                                "--proc",
                                "/proc"};
  const auto add = [&](std::initializer_list<std::string> words) { argv.insert(argv.end(), words); };
  if (plan.level == Sandbox::strict) add({"--unshare-net"});
  for (const Mount& mount : mounts_of(plan)) {
    switch (mount.how) {
      case How::hidden:
        if (is_folder(mount.path))
          add({"--tmpfs", mount.path});
        else
          add({"--ro-bind", "/dev/null", mount.path});
        break;
      case How::read_only:
        add({"--ro-bind", mount.path, mount.path});
        break;
      case How::writable:
        add({"--bind", mount.path, mount.path});
        break;
    }
  }
  add({"--chdir", resolved(plan.work_dir), "--"});
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

}  // namespace errand::run
