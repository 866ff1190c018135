// The one file that knows libmagic.
#include "files/media_type.h"

#include <algorithm>
#include <magic.h>
#include <memory>

#include "base/mutex.h"
#include "base/text.h"

namespace errand::files {
namespace {

struct Close {
  void operator()(magic_t cookie) const { ::magic_close(cookie); }
};

// One for all threads: it is not made for several, and is asked for a few bytes at a time.
class Magic {
 public:
  Magic() {
    // Nothing that unpacks, parses or follows what it looks at: the bytes are a stranger's.
    const int flags = MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_TAR |
                      MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_TOKENS;
    cookie_.reset(::magic_open(flags));
    if (!cookie_) return;
    size_t indirections = 4, names = 30, regex = 1024;
    ::magic_setparam(cookie_.get(), MAGIC_PARAM_INDIR_MAX, &indirections);
    ::magic_setparam(cookie_.get(), MAGIC_PARAM_NAME_MAX, &names);
    ::magic_setparam(cookie_.get(), MAGIC_PARAM_REGEX_MAX, &regex);
    if (::magic_load(cookie_.get(), nullptr) != 0) cookie_.reset();
  }

  std::string ask(std::string_view head) {
    const Lock lock(mutex_);
    if (!cookie_) return {};
    const char* const type = ::magic_buffer(cookie_.get(), head.data(), head.size());
    return type ? type : "";
  }

 private:
  Mutex mutex_;
  std::unique_ptr<magic_set, Close> cookie_ GUARDED_BY(mutex_);
};

bool looks_like_text(std::string_view head) {
  if (head.contains('\0')) return false;
  return is_utf8(head.substr(0, utf8_prefix(head, head.size() - std::min<size_t>(head.size(), 3))));
}

// Whatever the library says goes into a header and into JSON.
bool is_type(std::string_view text) {
  return text.size() <= 100 && text.contains('/') && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("/.+-_").contains(c);
         });
}

}  // namespace

std::string media_type(std::string_view head) {
  static Magic magic;
  head = head.substr(0, media_type_bytes);
  if (head.empty()) return "inode/x-empty";
  std::string type = magic.ask(head);
  if (is_type(type)) return type;
  return looks_like_text(head) ? "text/plain" : "application/octet-stream";
}

}  // namespace errand::files
