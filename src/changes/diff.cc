#include "changes/diff.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace errand::changes {
namespace {

std::unexpected<Error> not_understood() {
  return fail(Code::internal, "What git says of the changes cannot be understood.", "git");
}

// Takes the text up to the next NUL off the front.
bool take(std::string_view& rest, std::string_view& into) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return false;
  into = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}

bool take_count(std::string_view text, int64_t& into, bool& binary) {
  if (text == "-") return binary = true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size() && into >= 0;
}

// ":100644 100755 <blob> <blob> M" without the colon.
bool read_raw(std::string_view head, ChangedFile& file) {
  const std::vector<std::string_view> words = split(head, ' ');
  if (words.size() != 5 || words[0].size() != 6 || words[1].size() != 6 || words[4].empty()) return false;
  file.old_mode = words[0];
  file.new_mode = words[1];
  file.new_blob = words[3];
  file.status = words[4].front();
  return std::string_view("AMDRCT").contains(file.status);
}

std::vector<std::string> diff_args(std::initializer_list<std::string> what, const std::string& from,
                                   const std::string& to) {
  std::vector<std::string> args = {
      "diff-tree", "-r", "-M", "-l1000", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"};
  args.insert(args.end(), what);
  args.insert(args.end(), {from, to});
  return args;
}

// How large the new contents are, in one call.
Status read_sizes(const Store& store, std::vector<ChangedFile>& files) {
  GitCall call = store.call({"cat-file", "--batch-check=%(objectsize)"});
  std::vector<ChangedFile*> asked;
  for (ChangedFile& file : files) {
    if (file.status == 'D' || file.new_mode == "160000" || asked.size() >= files_max) continue;
    call.input += file.new_blob + "\n";
    asked.push_back(&file);
  }
  if (asked.empty()) return {};
  const Result<std::string> sizes = git_output(call);
  if (!sizes) return std::unexpected(sizes.error());
  const std::vector<std::string_view> lines = split(*sizes, '\n');
  for (size_t i = 0; i < asked.size() && i < lines.size(); ++i) {
    int64_t size = -1;
    const auto [end, error] = std::from_chars(lines[i].data(), lines[i].data() + lines[i].size(), size);
    if (error == std::errc() && end == lines[i].data() + lines[i].size()) asked[i]->size = size;
  }
  return {};
}

}  // namespace

Result<std::vector<ChangedFile>> parse_changes(std::string_view output) {
  std::vector<ChangedFile> files;
  std::map<std::string_view, size_t> by_path;
  std::string_view rest = output, head, path;
  while (rest.starts_with(':')) {
    ChangedFile file;
    if (!take(rest, head) || !read_raw(head.substr(1), file) || !take(rest, path)) return not_understood();
    const bool moved = file.status == 'R' || file.status == 'C';
    if (moved) {
      file.old_path = path;
      if (!take(rest, path)) return not_understood();
    }
    file.path = path;
    by_path.emplace(path, files.size());
    files.push_back(std::move(file));
  }
  while (!rest.empty()) {
    std::string_view entry;
    if (!take(rest, entry)) return not_understood();
    const size_t first = entry.find('\t');
    const size_t second = first == std::string_view::npos ? first : entry.find('\t', first + 1);
    if (second == std::string_view::npos) return not_understood();
    path = entry.substr(second + 1);
    // A renamed one: nothing here, then both names.
    if (path.empty() && (!take(rest, path) || !take(rest, path))) return not_understood();
    const auto found = by_path.find(path);
    if (found == by_path.end()) return not_understood();
    ChangedFile& file = files[found->second];
    if (!take_count(entry.substr(0, first), file.added, file.binary) ||
        !take_count(entry.substr(first + 1, second - first - 1), file.removed, file.binary))
      return not_understood();
  }
  return files;
}

std::string_view status_name(char status) {
  switch (status) {
    case 'A':
    case 'C':
      return "added";
    case 'D':
      return "deleted";
    case 'R':
      return "renamed";
    case 'T':
      return "type_changed";
    default:
      return "modified";
  }
}

bool is_generated(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::string_view names[] = {
      "package-lock.json", "yarn.lock",    "pnpm-lock.yaml", "Cargo.lock", "go.sum",     "poetry.lock",
      "uv.lock",           "Gemfile.lock", "composer.lock",  "bun.lockb",  "flake.lock", "deno.lock"};
  constexpr std::string_view ends[] = {".min.js", ".min.css", ".map", ".snap", ".pb.go", "_pb2.py", ".pb.cc", ".pb.h"};
  constexpr std::string_view folders[] = {"node_modules/", "vendor/", "dist/", "third_party/"};
  return std::ranges::find(names, name) != std::end(names) ||
         std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); }) ||
         std::ranges::any_of(folders, [&](std::string_view folder) {
           return path.starts_with(folder) || path.contains("/" + std::string(folder));
         });
}

Result<std::vector<ChangedFile>> list_changes(const Store& store, const std::string& from, const std::string& to) {
  const Result<std::string> output =
      git_output(store.call(diff_args({"--raw", "--numstat", "--no-abbrev", "-z"}, from, to)));
  if (!output) return std::unexpected(output.error());
  Result<std::vector<ChangedFile>> files = parse_changes(*output);
  if (!files) return files;
  if (Status sized = read_sizes(store, *files); !sized) return std::unexpected(sized.error());
  return files;
}

Result<std::string> file_patch(const Store& store, const std::string& from, const std::string& to,
                               const ChangedFile& file) {
  const auto large = [] {
    return fail(Code::too_large,
                fmt::format("The patch of this file is larger than {} KB or {} lines; take the whole patch instead.",
                            patch_bytes_max >> 10, patch_lines_max),
                "large_patch");
  };
  GitCall call = store.call(diff_args({"-p"}, from, to));
  call.args.insert(call.args.end(), {"--", file.path});
  if (!file.old_path.empty()) call.args.push_back(file.old_path);
  call.output_max = patch_bytes_max;
  Result<std::string> patch = git_output(call);
  if (!patch) {
    if (patch.error().reason == "large") return large();
    return patch;
  }
  if (static_cast<size_t>(std::ranges::count(*patch, '\n')) > patch_lines_max) return large();
  return patch;
}

Status write_patch(const Store& store, const std::string& from, const std::string& to, const std::string& file) {
  GitCall call = store.call(diff_args({"-p", "--binary", "--full-index"}, from, to));
  call.output_file = file;
  Result<std::string> done = git_output(call);
  std::error_code error;
  if (done && std::filesystem::file_size(file, error) > whole_patch_max)
    done = fail(Code::too_large, fmt::format("The whole patch is larger than {} MiB.", whole_patch_max >> 20),
                "large_patch");
  if (done) return {};
  std::filesystem::remove(file, error);
  return std::unexpected(done.error());
}

std::vector<std::string_view> patch_sections(std::string_view patch) {
  std::vector<std::string_view> sections;
  constexpr std::string_view mark = "diff --git ";
  if (!patch.starts_with(mark)) return sections;
  for (size_t at = 0; at < patch.size();) {
    // A line of a patch begins with a sign or, where it is encoded, has no space: this begins the next file.
    const size_t next = patch.find("\ndiff --git ", at);
    const size_t end = next == std::string_view::npos ? patch.size() : next + 1;
    sections.push_back(patch.substr(at, end - at));
    at = end;
  }
  return sections;
}

}  // namespace errand::changes
