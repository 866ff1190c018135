#include "driver/builtin/skills/skills.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/skills/skill_head.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/in_background.h"
#include "files/beneath.h"
#include "files/walk.h"
#include "model/model.h"
#include "task/notice.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

constexpr int names_max = 1'000;  // Looked at in one place.
constexpr size_t warnings_max = 10;
constexpr size_t text_characters = 12'000;
constexpr size_t files_listed = 100;
constexpr const char* project_folders[] = {".errand/skills", ".claude/skills", ".agents/skills"};
constexpr const char* file_name = "SKILL.md";

std::string resolved(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

bool inside(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || (path.starts_with(folder) && path[folder.size()] == '/');
}

Result<std::string> read_skill(const std::string& folder) {
  const Result<files::Root> root = files::Root::open(folder);
  if (!root) return std::unexpected(root.error());
  const Result<files::File> file = root->open_file(file_name);
  if (!file) return std::unexpected(file.error());
  if (file->size > static_cast<int64_t>(skill_bytes_max))
    return fail(Code::too_large, "It is larger than 256 KiB.", "skill");
  std::string text(static_cast<size_t>(file->size), '\0');
  text.resize(static_cast<size_t>(std::max<int64_t>(files::read_at(*file, 0, text.data(), text.size()), 0)));
  return to_utf8(text);
}

class Finder {
 public:
  explicit Finder(const SkillPlaces& places) : places_(places) {}

  // `within`: where what is found has to be; empty: anywhere.
  void look_into(const std::string& folder, const std::string& within) {
    std::error_code error;
    std::vector<std::string> names;
    fs::directory_iterator entry(folder, error);
    for (int i = 0; !error && entry != fs::directory_iterator() && i < names_max; entry.increment(error), ++i)
      names.push_back(entry->path().filename().string());
    std::ranges::sort(names);
    for (const std::string& name : names)
      if (found_.skills.size() < skills_max) take(folder, name, within);
  }

  FoundSkills take_all() { return std::move(found_); }

 private:
  void take(const std::string& place, const std::string& name, const std::string& within) {
    Skill skill{.name = {}, .description = {}, .folder = resolved(place + "/" + name)};
    std::error_code error;
    if (skill.folder.empty() || !fs::is_directory(skill.folder, error)) return;
    if ((!within.empty() && !inside(skill.folder, within)) || (places_.hidden && places_.hidden(skill.folder)))
      return warn(name, "It is a link that leads elsewhere.");
    const Result<std::string> text = read_skill(skill.folder);
    if (!text) {
      if (text.error().code != Code::not_found) warn(name, text.error().message);
      return;
    }
    Result<SkillHead> head = parse_skill_head(*text);
    if (!head) return warn(name, head.error().message);
    skill.name = head->name.empty() ? name : head->name;
    if (!is_skill_name(skill.name)) return warn(name, "Its folder's name cannot be a skill's.");
    skill.description = std::move(head->description);
    if (std::ranges::find(found_.skills, skill.name, &Skill::name) == found_.skills.end())
      found_.skills.push_back(std::move(skill));
  }
  void warn(const std::string& name, std::string_view why) {
    if (found_.warnings.size() < warnings_max)
      found_.warnings.push_back(fmt::format("The skill {} cannot be used: {}", short_line(name, 80), why));
  }

  const SkillPlaces& places_;
  FoundSkills found_;
};

// What else is in the folder, for the agent to read where the text names it.
std::string files_of(const std::string& folder) {
  const Result<files::Root> root = files::Root::open(folder);
  if (!root) return {};
  SystemClock clock;
  const files::Walked walked = files::walk(
      *root, {}, {.entries = 2'000, .depth = 6, .files = files_listed, .deadline = clock.steady() + 1'000}, clock);
  std::string out;
  for (const files::Found& file : walked.files)
    if (file.path != file_name) out += "- " + one_line(file.path) + "\n";
  return out;
}

ToolOutcome load(const Skill& skill) {
  const Result<std::string> text = read_skill(skill.folder);
  if (!text) return {.output = "The skill can no longer be read: " + text.error().message, .is_error = true};
  const Result<SkillHead> head = parse_skill_head(*text);
  const std::string_view body = trim(std::string_view(*text).substr(head ? head->body : 0));
  std::string about = fmt::format("Skill {}, in the folder {} (paths in it are relative to that).\n", skill.name,
                                  one_line(skill.folder));
  if (const std::string files = files_of(skill.folder); !files.empty()) about += "Its files:\n" + files;
  return {.output = about + "\n" +
                    bounded(body, tool_output_max - 1'000 - std::min<size_t>(count_characters(about), 15'000),
                            fmt::format("Read {}/{} for the rest.", skill.folder, file_name))};
}

class SkillTool final : public Tool {
 public:
  SkillTool(Executor& background, Executor& engine, std::vector<Skill> skills)
      : background_(background), engine_(engine), skills_(std::move(skills)) {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return true; }
  std::string summary(std::string_view input) const override {
    const Result<const Skill*> skill = find(input);
    return skill ? (*skill)->name : std::string();
  }
  Result<Prepared> prepare(const ToolContext&, std::string input) const override {
    const Result<const Skill*> skill = find(input);
    if (!skill) return std::unexpected(skill.error());
    return Prepared{.need = {.ask = false, .subject = {}, .tool = {}, .text = {}},
                    .children = {},
                    .run = [this, skill = **skill](const ToolContext&, Done done) {
                      return in_background(
                          background_, engine_, [skill](const GivenUp&) { return load(skill); }, std::move(done));
                    }};
  }

 private:
  Result<const Skill*> find(std::string_view input) const {
    std::string name;
    const Status good = read_arguments(input, [&](Fields& fields) {
      require(fields, "name");
      fields.text("name", name, {.bytes_max = 200, .one_line = true});
    });
    if (!good) return std::unexpected(good.error());
    if (const auto found = std::ranges::find(skills_, name, &Skill::name); found != skills_.end()) return &*found;
    std::string names;
    for (const Skill& skill : skills_) names += (names.empty() ? "" : ", ") + skill.name;
    return fail(Code::not_found, fmt::format("There is no skill \"{}\". There are: {}.", short_line(name, 80),
                                             bounded(names, 4'000, "The system prompt lists them all.")));
  }

  Executor& background_;
  Executor& engine_;
  const std::vector<Skill> skills_;
  model::ToolSpec spec_{
      .name = "skill",
      .description =
          "Loads a skill: instructions for a special kind of work, as the system prompt lists them. Load it "
          "before you begin such work, and follow it.",
      .input_schema = R"({"type":"object","properties":{)"
                      R"("name":{"type":"string","description":"The skill's name, as it is listed."})"
                      R"(},"required":["name"],"additionalProperties":false})"};
};

}  // namespace

FoundSkills find_skills(const SkillPlaces& places) {
  Finder finder(places);
  for (const std::string& root : places.roots) {
    const std::string real = resolved(root);
    if (real.empty()) continue;
    for (const char* folder : project_folders) finder.look_into(real + "/" + folder, real);
  }
  for (const std::string& folder : places.user_folders) finder.look_into(folder, {});
  return finder.take_all();
}

std::vector<std::string> user_skill_folders(const std::string& home, const std::string& config_home) {
  std::vector<std::string> folders;
  if (!config_home.empty())
    folders.push_back(config_home + "/errand/skills");
  else if (!home.empty())
    folders.push_back(home + "/.config/errand/skills");
  if (!home.empty()) folders.push_back(home + "/.claude/skills");
  return folders;
}

std::string skills_text(const std::vector<Skill>& skills) {
  if (skills.empty()) return {};
  std::string out =
      "Skills are instructions for special kinds of work. Before you begin work that one of these describes, load it "
      "with the `skill` tool:\n";
  size_t left = 0;
  size_t characters = count_characters(out);
  for (const Skill& skill : skills) {
    const std::string line = fmt::format("- {}: {}\n", skill.name, skill.description);
    characters += count_characters(line);
    if (characters > text_characters)
      ++left;
    else
      out += line;
  }
  if (left > 0) out += fmt::format("({} more; call `skill` with their names.)\n", left);
  return out;
}

std::unique_ptr<Tool> make_skill_tool(Executor& background, Executor& engine, std::vector<Skill> skills) {
  return std::make_unique<SkillTool>(background, engine, std::move(skills));
}

}  // namespace errand::builtin
