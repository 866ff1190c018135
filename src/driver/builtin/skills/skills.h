// Skills: folders with a SKILL.md that an agent reads when it needs them (R10.9). A task that enables them sees the
// names and descriptions in its system prompt, and loads one by the `skill` tool.
//
// Looked for below each of the task's folders in .errand/skills, .claude/skills and .agents/skills, and in the user's
// own places; of two with one name the first counts. What is found is hostile: a project's skill must be in the
// project.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/builtin/tool.h"

namespace errand::builtin {

inline constexpr size_t skills_max = 200;
inline constexpr size_t skill_bytes_max = 256 * 1024;  // Of a SKILL.md.

struct Skill {
  std::string name;
  std::string description;
  std::string folder;  // Resolved.
};

struct SkillPlaces {
  std::vector<std::string> roots;                  // The task's: in each of them the three folders are looked for.
  std::vector<std::string> user_folders;           // Of skills: ~/.config/errand/skills, ~/.claude/skills.
  std::function<bool(const std::string&)> hidden;  // Not to be read (a resolved path).
};

struct FoundSkills {
  std::vector<Skill> skills;          // By place, then by name.
  std::vector<std::string> warnings;  // A skill that cannot be used, a sentence each; at most 10.
};

// Any thread; blocks on the disk.
FoundSkills find_skills(const SkillPlaces& places);

// The user's own places, from HOME and XDG_CONFIG_HOME.
std::vector<std::string> user_skill_folders(const std::string& home, const std::string& config_home);

// For the system prompt; empty where there is none.
std::string skills_text(const std::vector<Skill>& skills);

// Loads one of these.
std::unique_ptr<Tool> make_skill_tool(Executor& background, Executor& engine, std::vector<Skill> skills);

}  // namespace errand::builtin
