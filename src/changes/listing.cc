#include "changes/listing.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::changes {
namespace {

constexpr size_t others_max = 20, records_max = 500;

}  // namespace

std::string percent_encoded(std::string_view path) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.' ||
        c == '-' || c == '_')
      out += c;
    else
      out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string to_json(const Listing& listing) {
  std::string text;
  JsonOut out(text);
  int64_t added = 0, removed = 0;
  for (const ChangedFile& file : listing.files) added += file.added, removed += file.removed;
  out.object().field("state", listing.why.empty() ? (listing.final ? "final" : "live") : "unknown");
  out.text_or_null("why", listing.why).field("files_total", listing.files.size());
  out.field("added", added).field("removed", removed).key("files").array();
  for (size_t i = 0; i < std::min(listing.files.size(), files_max); ++i) {
    const ChangedFile& file = listing.files[i];
    out.object().field("path", file.path).text_or_null("old_path", file.old_path);
    out.field("name", percent_encoded(file.path)).field("status", status_name(file.status));
    out.field("added", file.added).field("removed", file.removed).field("binary", file.binary);
    out.key("size");
    if (file.size >= 0)
      out.value(file.size);
    else
      out.null();
    out.field("old_mode", file.old_mode).field("mode", file.new_mode).field("generated", is_generated(file.path));
    std::set<std::string> with;
    for (const std::string* path : {&file.path, &file.old_path})
      if (const auto shared = listing.shared.find(*path); shared != listing.shared.end())
        with.insert(shared->second.begin(), shared->second.end());
    out.field("certain", with.empty()).key("shared_with").array();
    for (const std::string& task : with) out.value(task);
    out.end().end();
  }
  out.end().key("shared_with").array();
  for (const std::string& task : listing.shared_with) out.value(task);
  out.end().key("left_out").array();
  for (const LeftOut& one : listing.left_out) out.object().field("path", one.path).field("why", one.why).end();
  out.end().field("left_out_more", listing.left_out_more).end();
  return text;
}

void find_shared(const std::string& data_dir, const Record& record, const std::string& now, Listing& listing) {
  if (!record.kind.empty()) return;
  const Store store = Store::at(record.store);
  const Result<std::string> refs = git_output(store.call({"for-each-ref", "--format=%(refname)", "refs/errand/"}));
  if (!refs) return;
  constexpr int64_t still = std::numeric_limits<int64_t>::max();  // At work.
  const int64_t began = number_in(record.began, 0), ended = number_in(record.ended, still);
  struct Moment {
    int64_t at;
    std::string commit;
  };
  struct Other {
    std::string task;
    int64_t began, ended;
  };
  std::vector<Moment> moments;
  std::vector<Other> others;
  size_t read = 0;
  for (const std::string_view ref : split(*refs, '\n')) {
    constexpr std::string_view prefix = "refs/errand/", end = "/start";
    if (!ref.starts_with(prefix) || !ref.ends_with(end)) continue;
    const std::string task(ref.substr(prefix.size(), ref.size() - prefix.size() - end.size()));
    if (task == record.task || others.size() >= others_max || ++read > records_max) continue;
    const Result<std::optional<Record>> found = read_record(data_dir, task);
    if (!found || !*found || !(*found)->kind.empty() || (*found)->repository.top != record.repository.top) continue;
    const Record& other = **found;
    const Other one{task, number_in(other.began, 0), number_in(other.ended, still)};
    if (one.began > ended || one.ended < began) continue;
    others.push_back(one);
    if (one.began > began) moments.push_back({one.began, other.start});
    if (one.ended < ended && !other.end.empty()) moments.push_back({one.ended, other.end});
  }
  std::ranges::sort(moments, {}, [](const Moment& one) { return std::tie(one.at, one.commit); });
  moments.insert(moments.begin(), {began, record.start});
  moments.push_back({ended, now});
  for (const Other& other : others) listing.shared_with.push_back(other.task);
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    const Moment &from = moments[i], &to = moments[i + 1];
    std::set<std::string> there;
    for (const Other& other : others)
      if (other.began <= from.at && other.ended >= to.at) there.insert(other.task);
    if (there.empty()) continue;
    const Result<std::string> names =
        git_output(store.call({"diff-tree", "-r", "--no-renames", "--name-only", "-z", from.commit, to.commit}));
    if (names) {
      for (const std::string_view name : split(*names, '\0'))
        if (!name.empty()) listing.shared[std::string(name)].insert(there.begin(), there.end());
    } else {
      // That snapshot is gone: nobody knows which.
      for (const ChangedFile& file : listing.files) listing.shared[file.path].insert(there.begin(), there.end());
    }
  }
}

}  // namespace errand::changes
