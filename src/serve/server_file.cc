#include "serve/server_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "base/version.h"

namespace errand::serve {

std::string about_server(const std::string& url, const std::string& config) {
  std::string text;
  JsonOut(text)
      .object()
      .field("pid", static_cast<int64_t>(getpid()))
      .field("url", url)
      .field("version", version)
      .field("config", config)
      .end();
  return text + "\n";
}

ServerFile::ServerFile(const std::string& data_dir) : path_(data_dir + "/server.json"), prepared_(path_ + ".tmp") {}

Status ServerFile::prepare(const std::string& text) {
  struct stat there{};
  if (lstat(path_.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
    return fail(Code::unavailable, fmt::format("{} is a folder; remove it, the server writes a file there.", path_));
  unlink(prepared_.c_str());
  std::FILE* const file = std::fopen(prepared_.c_str(), "wxe");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) return not_written();
  state_ = State::prepared;
  return {};
}

Status ServerFile::publish() {
  if (std::rename(prepared_.c_str(), path_.c_str()) != 0) return not_written();
  state_ = State::published;
  return {};
}

void ServerFile::remove() {
  if (state_ == State::prepared) unlink(prepared_.c_str());
  if (state_ == State::published) unlink(path_.c_str());
  state_ = State::none;
}

std::unexpected<Error> ServerFile::not_written() const {
  return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", path_, std::strerror(errno)));
}

}  // namespace errand::serve
