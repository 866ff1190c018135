#include "changes/listing.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::changes {
namespace {

constexpr size_t others_max = 20, records_max = 500;

int64_t number(const std::string& text, int64_t otherwise) {
  int64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

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
    out.field("certain", listing.shared_with.empty()).end();
  }
  out.end().key("shared_with").array();
  for (const std::string& task : listing.shared_with) out.value(task);
  out.end().key("left_out").array();
  for (const LeftOut& one : listing.left_out) out.object().field("path", one.path).field("why", one.why).end();
  out.end().field("left_out_more", listing.left_out_more).end();
  return text;
}

std::vector<std::string> others_in_folder(const std::string& data_dir, const Record& record) {
  std::vector<std::string> found;
  if (!record.kind.empty()) return found;
  const Result<std::string> refs =
      git_output(Store::at(record.store).call({"for-each-ref", "--format=%(refname)", "refs/errand/"}));
  if (!refs) return found;
  const int64_t now = std::numeric_limits<int64_t>::max();  // Still at work.
  const int64_t began = number(record.began, 0), ended = number(record.ended, now);
  size_t read = 0;
  for (const std::string_view ref : split(*refs, '\n')) {
    constexpr std::string_view prefix = "refs/errand/", end = "/start";
    if (!ref.starts_with(prefix) || !ref.ends_with(end)) continue;
    const std::string task(ref.substr(prefix.size(), ref.size() - prefix.size() - end.size()));
    if (task == record.task || found.size() >= others_max || ++read > records_max) continue;
    const Result<std::optional<Record>> other = read_record(data_dir, task);
    if (!other || !*other || !(*other)->kind.empty() || (*other)->repository.top != record.repository.top) continue;
    if (number((*other)->began, 0) <= ended && number((*other)->ended, now) >= began) found.push_back(task);
  }
  return found;
}

}  // namespace errand::changes
