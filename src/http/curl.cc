#include "http/curl.h"

#include <dlfcn.h>
#include <type_traits>

namespace errand::http {
namespace {

Result<Curl> load_curl() {
  void* library = nullptr;
  // Never closed: it may have threads of its own under way until the process ends.
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if ((library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!library)
    return fail(Code::unavailable,
                "libcurl is not installed: install it (Debian: apt install libcurl4) and start errand again.",
                "no_library");
  Curl curl;
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    whole = whole && function;
  };
  find(curl.global_init, "curl_global_init");
  find(curl.version, "curl_version");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_pause, "curl_easy_pause");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_setopt, "curl_multi_setopt");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_perform, "curl_multi_perform");
  find(curl.multi_info_read, "curl_multi_info_read");
  find(curl.multi_poll, "curl_multi_poll");
  find(curl.multi_wakeup, "curl_multi_wakeup");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.url, "curl_url");
  find(curl.url_set, "curl_url_set");
  find(curl.url_get, "curl_url_get");
  find(curl.url_cleanup, "curl_url_cleanup");
  find(curl.free, "curl_free");
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(Code::unavailable,
                "libcurl on this machine is older than 7.68: install a newer one and start errand again.",
                "no_library");
  return curl;
}

}  // namespace

const Result<Curl>& curl_library() {
  static const Result<Curl> library = load_curl();
  return library;
}

std::optional<Place> place_of(const Curl& curl, const std::string& url) {
  CURLU* parsed = curl.url();
  const auto part = [&](CURLUPart what, unsigned flags) {
    char* text = nullptr;
    std::string out;
    if (curl.url_get(parsed, what, &text, flags) == CURLUE_OK) out = text;
    curl.free(text);
    return out;
  };
  std::optional<Place> place;
  if (curl.url_set(parsed, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK)
    place = Place{part(CURLUPART_SCHEME, 0), part(CURLUPART_HOST, 0), part(CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  curl.url_cleanup(parsed);
  if (place && (place->host.empty() || (place->scheme != "http" && place->scheme != "https"))) place.reset();
  return place;
}

}  // namespace errand::http
