// libcurl, opened at run time. For the files of this folder that speak to it; nobody else includes this.
#pragma once

#include <optional>
#include <string>

#define CURL_DISABLE_DEPRECATION  // CURLOPT_PROTOCOLS is what old and new versions understand.
#include <curl/curl.h>

#include "base/result.h"

namespace errand::http {

// The library's functions.
struct Curl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_version) version;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_pause) easy_pause;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_url) url;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_free) free;
};

// Found at the first call, and for good; else why it cannot be used.
const Result<Curl>& curl_library();

// Where a request goes: what must be the same for credentials to go along, and what an error may name.
struct Place {
  std::string scheme, host, port;
  bool operator==(const Place&) const = default;
};

// Nothing where it is no http or https URL.
std::optional<Place> place_of(const Curl& curl, const std::string& url);

}  // namespace errand::http
