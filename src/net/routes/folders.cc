// GET /api/folders: where work can be done, for whoever chooses a folder: those that tasks worked in lately, and the
// completion of a path (R14.1).
#include <algorithm>
#include <filesystem>
#include <set>

#include "api/query.h"
#include "base/beside.h"
#include "base/home.h"
#include "base/json_out.h"
#include "base/text.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

constexpr size_t shown_max = 50;
constexpr size_t looked_at_max = 10'000;
constexpr int recent_of = 100;     // The newest tasks,
constexpr size_t recent_max = 12;  // and of their folders so many.
constexpr int under_way_max = 4;   // Each may hang for as long as a network mount does.

struct Found {
  std::vector<std::string> folders, files;
};

void keep_first(std::vector<std::string>& names) {
  std::ranges::sort(names);
  if (names.size() > shown_max) names.resize(shown_max);
}

// What has a path that begins so: "~/pro" is ~/project, "~/project/" all that is in it. Files where they are asked for.
Found completed(const std::string& typed, bool files) {
  const std::string path = from_home(typed);
  Found found;
  if (!path.starts_with('/')) return found;
  const size_t slash = path.rfind('/');
  const std::string folder = path.substr(0, slash + 1), begin = path.substr(slash + 1);
  std::error_code error;
  size_t looked_at = 0;
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator() && looked_at < looked_at_max; at.increment(error)) {
    ++looked_at;
    const std::string name = at->path().filename().string();
    // A hidden one where it is asked for.
    if (!name.starts_with(begin) || (name.starts_with('.') && begin.empty()) || !is_utf8(name)) continue;
    std::error_code none;
    if (at->is_directory(none)) {
      found.folders.push_back(folder + name);
    } else if (files && at->is_regular_file(none)) {
      found.files.push_back(folder + name);
    }
  }
  keep_first(found.folders);
  keep_first(found.files);
  return found;
}

std::vector<std::string> recent(Store& store) {
  std::vector<std::string> folders;
  const Result<TaskPage> page = store.list({}, {.limit = recent_of, .cursor = {}});
  if (!page) return folders;
  for (const Task& task : page->tasks) {
    const std::string& folder = task.launch.work_dir;
    if (folder.empty() || std::ranges::find(folders, folder) != folders.end()) continue;
    folders.push_back(folder);
    if (folders.size() == recent_max) break;
  }
  return folders;
}

void write_folders(JsonOut& out, std::string_view field, const std::vector<std::string>& folders) {
  out.key(field).array();
  for (const std::string& folder : folders) out.object().field("path", folder).field("shown", to_home(folder)).end();
  out.end();
}

}  // namespace

void list_folders(Context& context, Call call) {
  const Result<api::FoldersQuery> asked = api::parse_folders(call.request().query);
  if (!asked) return call.refuse(asked.error());
  if (context.folders_under_way >= under_way_max)
    return call.refuse({Code::unavailable, "Some folders do not answer. Type the path whole.", "work_dir_unreachable"});
  ++context.folders_under_way;
  run_then(
      context.parts.readers, context.parts.loop, [&store = context.parts.store] { return recent(store); },
      [&context, asked = *asked, call = std::move(call)](std::vector<std::string> lately) mutable {
        Executor& threads = context.parts.folders != nullptr ? *context.parts.folders : context.parts.readers;
        run_then(
            threads, context.parts.loop, [asked = std::move(asked)] { return completed(asked.path, asked.files); },
            [&context, lately = std::move(lately), call = std::move(call)](const Found& found) {
              --context.folders_under_way;
              const std::string usual = context.parts.engine.administration().settings().default_work_dir;
              std::string text;
              JsonOut out(text);
              out.object();
              write_folders(out, "folders", found.folders);
              write_folders(out, "files", found.files);
              write_folders(out, "recent", lately);
              out.key("default").object().field("path", usual).field("shown", to_home(usual)).end();
              out.text_or_null("home", from_home("~") == "~" ? "" : from_home("~")).end();
              call.answer(200, std::move(text));
            });
      });
}

}  // namespace errand::net
