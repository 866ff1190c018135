#include <algorithm>
#include <map>
#include <string_view>

#include "driver/builtin/tools/tool_set.h"
#include "task/tool_families.h"

namespace errand::builtin {
namespace {

using Names = std::vector<std::string_view>;

const std::map<std::string_view, Names> groups = {
    {"files", {"read", "list", "glob", "grep", "write", "edit"}},
    {"read_only", {"read", "list", "glob", "grep"}},
    {"shell", {"bash"}},
    {"web", {"fetch"}},
    {"skills", {"skill"}},
};

// R8's, in whichever family they are listed.
bool is_background(std::string_view tool) {
  for (const std::string_view family : tool_families)
    if (tool.starts_with(family) && tool.substr(family.size()).starts_with('_')) return true;
  return tool == "session_manager" || tool == "look_at";
}

bool means(std::string_view word, std::string_view tool) {
  if (word == tool || word == "all" || word == "*") return true;
  if (const auto group = groups.find(word); group != groups.end())
    return std::ranges::find(group->second, tool) != group->second.end();
  if (word == "background") return is_background(tool);
  if (word == "mcp") return tool.starts_with("mcp__");
  return word.starts_with("mcp__") && tool.starts_with(std::string(word) + "__");
}

// Names that may mean nothing here without being wrong: what is not enabled, and the loop's own.
bool may_be_absent(std::string_view word) {
  return word == "fetch" || word == "skill" || word == "ask_user" || word == "all" || word == "*" || word == "mcp" ||
         word == "background" || word.starts_with("mcp__") || groups.contains(word) || is_background(word);
}

}  // namespace

std::vector<std::string> chosen_tools(const std::vector<std::string>& wanted, const std::vector<std::string>& all,
                                      std::vector<std::string>& unknown) {
  std::vector<std::string> chosen;
  for (const std::string& tool : all)
    if (std::ranges::any_of(wanted, [&](const std::string& word) { return means(word, tool); })) chosen.push_back(tool);
  for (const std::string& word : wanted)
    if (!may_be_absent(word) && std::ranges::none_of(all, [&](const std::string& tool) { return means(word, tool); }))
      unknown.push_back(word);
  return chosen;
}

}  // namespace errand::builtin
