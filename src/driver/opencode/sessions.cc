#include "driver/opencode/sessions.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "base/log.h"

namespace errand::opencode {

namespace {

constexpr std::string_view mark = ".gone";

bool is_plain(std::string_view id) {
  return !id.empty() && id.size() <= 100 && std::ranges::all_of(id, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

}  // namespace

std::string Sessions::file(const TaskId& task, bool given_up) const {
  return folder_ + "/" + task.value + (given_up ? std::string(mark) : std::string());
}

void Sessions::add(const TaskId& task, const std::string& session) const {
  if (!is_plain(task.value) || !is_plain(session)) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const int fd = ::open(file(task, false).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line = session + "\n";
  if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    log_warning("opencode", "the session of " + task.value + " will stay behind: " + std::strerror(errno));
  if (fd >= 0) ::close(fd);
}

std::vector<std::string> Sessions::of(const TaskId& task) const {
  std::vector<std::string> sessions;
  for (const bool given_up : {false, true}) {
    std::ifstream in(file(task, given_up));
    for (std::string line; std::getline(in, line);)
      if (is_plain(line) && std::ranges::find(sessions, line) == sessions.end()) sessions.push_back(line);
  }
  return sessions;
}

void Sessions::give_up(const TaskId& task) const {
  std::error_code error;
  std::filesystem::rename(file(task, false), file(task, true), error);
}

void Sessions::remove(const TaskId& task) const {
  for (const bool given_up : {false, true}) ::unlink(file(task, given_up).c_str());
}

std::vector<TaskId> Sessions::all(bool given_up) const {
  std::vector<TaskId> tasks;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.ends_with(mark) != given_up) continue;
    if (given_up) name.resize(name.size() - mark.size());
    if (is_plain(name)) tasks.emplace_back(name);
  }
  std::ranges::sort(tasks, {}, &TaskId::value);
  return tasks;
}

std::vector<TaskId> Sessions::tasks() const { return all(false); }

std::vector<TaskId> Sessions::given_up() const { return all(true); }

}  // namespace errand::opencode
