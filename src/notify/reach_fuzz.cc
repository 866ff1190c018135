// Any bytes as the address of a target: refused, or read so that every part of it is what it seems.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "notify/reach.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand::notify;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<Url> url = parse_url(text);
  static const Reach strict({}), wide({"127.0.0.1", "example.com:8080"});
  const bool passes = strict.check(text, guess_shape(text)).has_value();
  if (!url && (passes || wide.check(text, Shape::standard))) std::abort();
  if (!url) return 0;
  // Nothing that two readers could divide otherwise.
  const std::string whole = url->origin() + url->path;
  if (whole.find_first_of("\\# \t\r\n") != std::string::npos) std::abort();
  if (url->origin().find_first_of("@\\#?% ") != std::string::npos) std::abort();
  if (!url->path.empty() && !url->path.starts_with('/')) std::abort();
  // Written and read again it is the same. (A path that is only a query gets its '/', which may be one too many.)
  const std::optional<Url> again = parse_url(whole);
  if (whole.size() > url_max) return 0;
  if (!again || again->origin() != url->origin() || again->path != url->path) std::abort();
  // What is shown has nothing behind the host.
  if (!masked(text).starts_with(url->origin()) || masked(text).size() > url->origin().size() + std::string("/…").size())
    std::abort();
  if (passes && url->scheme != "https") std::abort();
  return 0;
}
