#include "process/protocol.h"

#include <algorithm>
#include <cstdio>

#include <sys/socket.h>
#include <sys/stat.h>

#include "process/run.h"

namespace errand::process {
namespace {

constexpr Code codes[] = {Code::invalid_argument, Code::not_found, Code::conflict,     Code::unsupported,
                          Code::too_large,        Code::exhausted, Code::storage_full, Code::unavailable,
                          Code::unauthorized,     Code::forbidden, Code::internal};

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

}  // namespace

sockaddr_un socket_address(int data_dir) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", data_dir, socket_name);
  return address;
}

void put_spawn(FrameOut& out, const SpawnRequest& request) {
  out.add("run", request.run).add("dir", request.work_dir);
  for (const std::string& word : request.argv) out.add("arg", word);
  for (const std::string& entry : request.env) out.add("env", entry);
  out.add("mode", request.mode == JournalMode::log ? "log" : "protocol").add("stdin", int64_t{request.keep_stdin});
  out.add("timeout", request.timeout_ms).add("grace", request.grace_ms).add("output_limit", request.output_limit);
  const RunLimits& limits = request.limits;
  out.add("cpu", limits.cpu_s).add("memory", limits.memory_bytes).add("processes", limits.processes);
  out.add("files", limits.open_files).add("nice", int64_t{limits.nice});
  out.add("umask", int64_t{request.umask}).add("sandboxed", int64_t{request.sandboxed});
  if (request.boot_stored) out.add("boot_stored", int64_t{1});
  if (!request.artifacts.empty()) out.add("artifacts", request.artifacts);
}

Result<SpawnRequest> get_spawn(const Fields& fields) {
  SpawnRequest request;
  request.run = fields.text("run");
  request.work_dir = fields.text("dir");
  for (std::string_view word : fields.all("arg")) request.argv.emplace_back(word);
  for (std::string_view entry : fields.all("env")) request.env.emplace_back(entry);
  request.mode = fields.text("mode") == "protocol" ? JournalMode::protocol : JournalMode::log;
  request.keep_stdin = fields.number("stdin") != 0;
  request.timeout_ms = std::max<int64_t>(fields.number("timeout"), 0);
  request.grace_ms = std::clamp<int64_t>(fields.number("grace", request.grace_ms), 0, 86'400'000);
  request.output_limit = fields.number("output_limit");
  request.limits = {.cpu_s = fields.number("cpu"),
                    .memory_bytes = fields.number("memory"),
                    .processes = fields.number("processes"),
                    .open_files = fields.number("files"),
                    .nice = static_cast<int>(std::clamp<int64_t>(fields.number("nice"), -20, 19))};
  request.umask = static_cast<int>(fields.number("umask", request.umask)) & 0777;
  request.sandboxed = fields.number("sandboxed") != 0;
  request.boot_stored = fields.number("boot_stored") != 0;
  request.artifacts = fields.text("artifacts");
  if (!is_run_name(request.run))
    return fail(Code::invalid_argument, "A run is named <task>.<number>, of letters, digits and underscores.");
  if (request.argv.empty() || request.argv[0].empty())
    return fail(Code::invalid_argument, "There is no program to run; name one.");
  if (!request.work_dir.starts_with('/')) return fail(Code::invalid_argument, "The work dir must be an absolute path.");
  if (!request.artifacts.empty() && (!request.artifacts.starts_with('/') || has_nul(request.artifacts)))
    return fail(Code::invalid_argument, "The folder for artifacts must be an absolute path.");
  if (has_nul(request.work_dir) || std::ranges::any_of(request.argv, has_nul) ||
      std::ranges::any_of(request.env, has_nul))
    return fail(Code::invalid_argument, "Arguments, environment and work dir must not contain NUL bytes.");
  for (const std::string& entry : request.env)
    if (entry.find('=') == std::string::npos || entry.starts_with('='))
      return fail(Code::invalid_argument, "An entry of the environment is NAME=value.");
  return request;
}

void put_abilities(FrameOut& out, const Abilities& abilities) {
  out.add("cgroup", int64_t{abilities.cgroup}).add("cgroup_text", abilities.cgroup_text);
  out.add("cgroup_memory", int64_t{abilities.cgroup_memory}).add("cgroup_pids", int64_t{abilities.cgroup_pids});
  out.add("artifacts", int64_t{abilities.artifacts});
  out.add("bwrap", abilities.bwrap).add("bwrap_text", abilities.bwrap_text);
}

Abilities get_abilities(const Fields& fields) {
  return {.known = fields.has("cgroup"),
          .artifacts = fields.number("artifacts") != 0,
          .cgroup = fields.number("cgroup") != 0,
          .cgroup_memory = fields.number("cgroup_memory") != 0,
          .cgroup_pids = fields.number("cgroup_pids") != 0,
          .cgroup_text = std::string(fields.text("cgroup_text")),
          .bwrap = std::string(fields.text("bwrap")),
          .bwrap_text = std::string(fields.text("bwrap_text"))};
}

void put_error(FrameOut& out, const Error& error) {
  out.add("code", name(error.code)).add("message", error.message).add("reason", error.reason);
}

Status get_status(const Fields& fields) {
  if (!fields.has("code")) return {};
  auto known = std::ranges::find_if(codes, [&](Code code) { return name(code) == fields.text("code"); });
  Code code = known == std::end(codes) ? Code::internal : *known;
  return fail(code, std::string(fields.text("message")), std::string(fields.text("reason")));
}

std::string ended_frame(const std::string& run, const RunEnd& end) {
  FrameOut out;
  put_end(out.add("event", "ended").add("run", run), end);
  return out.take();
}

std::string build_of(const char* file) {
  struct stat info{};
  if (::stat(file, &info) != 0) return {};
  return std::to_string(info.st_dev) + "." + std::to_string(info.st_ino) + "." + std::to_string(info.st_size) + "." +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

}  // namespace errand::process
