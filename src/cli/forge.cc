#include "cli/forge.h"

#include <algorithm>
#include <cctype>

namespace errand::cli {

namespace {

bool is_host(std::string_view host) {
  return !host.empty() && host.front() != '-' &&
         std::ranges::all_of(host, [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-'; });
}

bool is_path(std::string_view path) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '/'; };
  return path.contains('/') && path.front() != '-' && !path.contains("//") && std::ranges::all_of(path, plain);
}

}  // namespace

std::optional<Forge> parse_remote(std::string_view url) {
  std::string_view rest = url, host, path;
  if (const size_t scheme = rest.find("://"); scheme != rest.npos) {
    const std::string_view name = rest.substr(0, scheme);
    if (name != "https" && name != "http" && name != "ssh" && name != "git" && name != "git+ssh") return std::nullopt;
    rest.remove_prefix(scheme + 3);
    const size_t slash = rest.find('/');
    if (slash == rest.npos) return std::nullopt;
    host = rest.substr(0, slash);
    path = rest.substr(slash + 1);
    if (const size_t port = host.rfind(':'); port != host.npos && port > host.rfind('@') + 1)
      host = host.substr(0, port);
  } else {
    // As ssh has it: a colon before the first slash.
    const size_t colon = rest.find(':');
    if (colon == rest.npos || rest.find('/') < colon) return std::nullopt;
    host = rest.substr(0, colon);
    path = rest.substr(colon + 1);
  }
  if (const size_t user = host.rfind('@'); user != host.npos) host.remove_prefix(user + 1);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with(".git")) path.remove_suffix(4);
  if (!is_host(host) || !is_path(path)) return std::nullopt;
  return Forge{std::string(host), std::string(path)};
}

std::vector<std::string> forge_command(std::string_view program, const Forge& forge, const PullRequest& request) {
  std::vector<std::string> words;
  if (program == "glab") {
    words = {"glab",
             "mr",
             "create",
             "--yes",
             "--repo=https://" + forge.host + "/" + forge.path,
             "--source-branch=" + request.branch};
    if (!request.base.empty()) words.push_back("--target-branch=" + request.base);
    words.insert(words.end(), {"--title=" + request.title, "--description=" + request.body});
  } else {
    words = {"gh", "pr", "create", "--repo=" + forge.host + "/" + forge.path, "--head=" + request.branch};
    if (!request.base.empty()) words.push_back("--base=" + request.base);
    words.insert(words.end(), {"--title=" + request.title, "--body=" + request.body});
  }
  if (request.draft) words.emplace_back("--draft");
  return words;
}

std::string shell_words(const std::vector<std::string>& words) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::string_view("_-+=.,/:@%").contains(c); };
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::ranges::all_of(word, plain)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line.append(c == '\'' ? "'\\''" : std::string(1, c));
    line += '\'';
  }
  return line;
}

}  // namespace errand::cli
