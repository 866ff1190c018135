#include "changes/aside.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace errand::changes {

Result<std::string> without_aside(const Store& store, const Record& record, const std::string& snapshot,
                                  const std::string& index) {
  if (record.aside_to.empty()) return snapshot;
  const Result<std::string> since =
      git_output(store.call({"diff-tree", "-r", "--no-renames", "--name-only", "-z", record.aside_to, snapshot}));
  // Backwards: the new side of each is what is to be written.
  const Result<std::string> back =
      git_output(store.call({"diff-tree", "-r", "--no-renames", "--raw", "-z", record.aside_to, record.aside_from}));
  if (!since || !back) return std::unexpected(since ? back.error() : since.error());
  std::set<std::string_view> touched;
  for (const std::string_view path : split(*since, '\0')) touched.insert(path);
  GitCall put = store.call({"update-index", "-z", "--index-info"});
  put.index = index;
  const std::vector<std::string_view> parts = split(*back, '\0');
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    // ":100644 100755 <blob> <blob> M", and the path.
    const std::vector<std::string_view> words = split(parts[i], ' ');
    if (words.size() != 5) return fail(Code::internal, "What git says of the changes cannot be understood.", "git");
    if (touched.contains(parts[i + 1])) continue;
    put.input += fmt::format("{} {}\t{}", words[1] == "000000" ? "0" : words[1], words[3], parts[i + 1]);
    put.input += '\0';
  }
  if (put.input.empty()) return snapshot;
  GitCall read = store.call({"read-tree", snapshot}), write = store.call({"write-tree"});
  read.index = write.index = index;
  Result<std::string> tree = git_output(read);
  if (tree) tree = git_output(put);
  if (tree) tree = git_line(write);
  std::error_code ignored;
  std::filesystem::remove(index, ignored);
  if (!tree) return tree;
  std::vector<std::string> parents;
  if (Result<std::string> parent = git_line(store.call({"rev-parse", "-q", "--verify", snapshot + "^"})))
    parents.push_back(std::move(*parent));
  return store.commit_tree(*tree, parents, "errand: a snapshot");
}

}  // namespace errand::changes
