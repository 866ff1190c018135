// The rule of the folders (ARCHITECTURE.md, "Code map"): an include points down only. Reads the sources as text, so
// that a wrong include fails here by name instead of ripening into a cycle.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace errand {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

struct Include {
  std::string file;    // Relative to src/.
  std::string target;  // As it stands between the quotes or brackets.
  bool own = false;    // In quotes.
};

// A folder and what it may include beside itself: a folder, or one header of it ("store/store.h").
const std::map<std::string, std::set<std::string>> allowed = {
    {"base", {}},
    {"crypto", {"base"}},
    {"task", {"base"}},
    {"files", {"base", "task"}},
    {"fork", {"base", "task"}},
    {"settings", {"base", "task", "fork"}},
    // Outbound HTTP, and the model APIs over it.
    {"http", {"base"}},
    {"model", {"base", "http"}},
    {"store", {"base", "task"}},
    {"process", {"base"}},
    // A shell script taken apart, and the check that nobody is asked.
    {"shell", {"base"}},
    // What a task changed: the git program, in a process of its own.
    {"changes", {"base"}},
    // The programs of other makers that agents run in: names, logins, versions.
    {"programs", {"base"}},
    {"driver", {"base", "task", "changes", "files", "fork", "http", "model", "process", "programs", "shell"}},
    {"engine",
     {"base", "task", "fork", "settings", "store/store.h", "driver/driver.h", "driver/changes.h",
      "driver/conversations.h", "driver/isolates.h", "driver/programs.h"}},
    // Notifications to people elsewhere.
    {"notify", {"base", "crypto", "task", "http", "engine", "store/store.h"}},
    {"api",
     {"base", "crypto", "task", "files", "settings", "engine", "notify", "store/store.h", "driver/driver.h",
      "driver/model_list.h"}},
    {"tools", {"base", "task", "files", "settings", "api", "engine", "store/store.h", "driver/driver.h"}},
    {"net",
     {"base", "crypto", "task", "files", "settings", "api", "engine", "notify", "tools", "store/store.h",
      "driver/driver.h", "driver/model_list.h"}},
    {"mcp", {"base", "task", "files", "settings", "api", "engine", "tools", "net", "store/store.h"}},
    {"cli", {"base", "task", "api", "programs", "settings"}},
    // The server's start and stop. The files that name concrete classes are below.
    {"serve",
     {"base", "task", "files", "settings", "api", "engine", "tools", "net", "mcp", "store/store.h", "driver/driver.h",
      "driver/agent_tools.h", "driver/model_list.h", "changes/orders.h", "process/supervisor.h", "programs"}},
    {"", {"cli", "serve/serve.h"}},  // main.cc
};

// The only files that know which store, which drivers and which supervisor there are: they build the real objects.
const std::set<std::string> builders = {"serve/agent_servers.cc", "serve/agent_servers.h",   "serve/agents.cc",
                                        "serve/application.cc",   "serve/application.h",     "serve/drivers.cc",
                                        "serve/drivers.h",        "serve/found_programs.cc", "serve/part_settings.cc",
                                        "serve/part_settings.h",  "serve/survey.cc",         "serve/survey.h",
                                        "serve/try_model.cc"};

// Libraries whose names stay in .cc files: what sees them compiles ten times slower, and what exposes them freezes
// them.
const std::vector<std::string> hidden = {"boost/",   "sqlite3.h", "fmt/",  "CLI/", "toml++/",
                                         "openssl/", "re2/",      "libpq", "curl/"};

std::string folder_of(std::string_view file) {
  size_t slash = file.find('/');
  return slash == std::string_view::npos ? ""s : std::string(file.substr(0, slash));
}

bool is_test(std::string_view file) {
  return file.ends_with("_test.cc") || file.ends_with("_test.h") || file.find("_fuzz.cc") != std::string_view::npos;
}

std::vector<Include> includes_of(const fs::path& root) {
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    std::string extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    std::ifstream in(entry.path());
    std::string file = fs::relative(entry.path(), root);
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("#include ")) continue;
      size_t open = line.find_first_of("\"<", 9);
      size_t close = line.find_first_of("\">", open + 1);
      if (open == std::string::npos || close == std::string::npos) continue;
      found.push_back({file, line.substr(open + 1, close - open - 1), line[open] == '"'});
    }
  }
  return found;
}

bool may_include(const std::string& folder, const std::string& target) {
  std::string to = folder_of(target);
  if (to == folder) return true;
  auto rule = allowed.find(folder);
  return rule != allowed.end() && (rule->second.contains(to) || rule->second.contains(target));
}

class Includes : public testing::Test {
 protected:
  const std::vector<Include> all = includes_of(ERRAND_SOURCE_DIR "/src");
};

TEST_F(Includes, WereFound) { EXPECT_GT(all.size(), 100u); }

TEST_F(Includes, PointDownOnly) {
  for (const Include& include : all) {
    if (!include.own || is_test(include.file) || builders.contains(include.file)) continue;
    EXPECT_TRUE(may_include(folder_of(include.file), include.target))
        << "src/" << include.file << " includes " << include.target
        << ": only the builders in serve/ may look across or up";
  }
}

TEST_F(Includes, KeepLibrariesOutOfHeaders) {
  for (const Include& include : all) {
    if (include.own || !include.file.ends_with(".h") || include.file == "http/curl.h") continue;
    bool is_hidden =
        std::ranges::any_of(hidden, [&](const std::string& name) { return include.target.starts_with(name); });
    EXPECT_FALSE(is_hidden) << "src/" << include.file << " includes <" << include.target
                            << ">: it belongs in a .cc file";
  }
}

// The one header that stands for a library: it and what includes it stay inside their folder.
TEST_F(Includes, OnlyHttpKnowsCurl) {
  for (const Include& include : all) {
    if (include.target != "http/curl.h" && include.target != "http/transfers.h" && !include.target.starts_with("curl/"))
      continue;
    EXPECT_EQ(folder_of(include.file), "http") << "src/" << include.file << " includes " << include.target;
  }
}

TEST_F(Includes, OnlyNetAndCliKnowHttp) {
  for (const Include& include : all) {
    if (!include.target.starts_with("boost/beast")) continue;
    std::string folder = folder_of(include.file);
    EXPECT_TRUE(folder == "net" || folder == "cli") << "src/" << include.file << " includes <" << include.target << ">";
  }
}

TEST_F(Includes, OneFileKnowsLibmagic) {
  for (const Include& include : all) {
    if (include.target != "magic.h") continue;
    EXPECT_EQ(include.file, "files/media_type.cc");
  }
}

TEST_F(Includes, OnlyTheSqliteStoreKnowsSqlite) {
  for (const Include& include : all) {
    if (include.target != "sqlite3.h") continue;
    EXPECT_TRUE(include.file.starts_with("store/sqlite/")) << "src/" << include.file << " includes <sqlite3.h>";
  }
}

// The checks above must be able to fail.
TEST(IncludeRule, RefusesWhatPointsUp) {
  EXPECT_FALSE(may_include("task", "engine/engine.h"));
  EXPECT_FALSE(may_include("base", "task/task.h"));
  EXPECT_FALSE(may_include("engine", "store/sqlite/sqlite_store.h"));
  EXPECT_FALSE(may_include("engine", "process/client.h"));
  EXPECT_FALSE(may_include("cli", "engine/engine.h"));
  EXPECT_FALSE(may_include("", "engine/engine.h"));
  EXPECT_FALSE(may_include("serve", "store/sqlite/sqlite_store.h"));
  EXPECT_FALSE(may_include("cli", "serve/serve.h"));
  EXPECT_FALSE(may_include("unheard_of", "base/id.h"));
  EXPECT_TRUE(may_include("engine", "store/store.h"));
  EXPECT_TRUE(may_include("engine", "engine/feed.h"));
}

}  // namespace
}  // namespace errand
