// Where a remote of git's is, and the command that opens a pull request there. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

// A repository of a forge: "https://host/owner/name.git", "ssh://git@host:22/owner/name", "git@host:owner/name.git".
struct Forge {
  std::string host;  // Without user and port.
  std::string path;  // "owner/name"; of GitLab also "group/below/name".
  bool operator==(const Forge&) const = default;
};
// Nothing for folders, and for what is no address of that form.
std::optional<Forge> parse_remote(std::string_view url);

struct PullRequest {
  std::string branch;  // That was pushed,
  std::string base;    // to be merged into this one; empty: the forge's default.
  std::string title, body;
  bool draft = false;
};
// Words for `gh` or `glab`. Each text is part of a word that begins with its option's name, so none is taken for an
// option.
std::vector<std::string> forge_command(std::string_view program, const Forge& forge, const PullRequest& request);

// As a person would type them into a shell.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace errand::cli
