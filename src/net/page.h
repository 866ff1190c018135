// The page's own files, as they were built into the binary (scripts/page). They need no credentials: they hold no
// user's data.
//
// Files with a hash in their name never change, and browsers keep them forever. Browsers ask for the others each time
// and get 304 if they have them already. The binary has each file plain, as gzip and as brotli: nothing is compressed
// while serving.
#pragma once

#include <span>
#include <string_view>

#include "net/http.h"

namespace errand::net {

struct PageFile {
  std::string_view path;  // "/assets/main-4f1c.js"
  std::string_view media_type;
  std::string_view etag;  // With its quotes.
  std::string_view plain, gzip, brotli;
  bool immutable = false;  // Its name has a hash in it.
};

// Generated: what web/ was built into, or one file that says how to build it.
std::span<const PageFile> page_files();

// Answers GET and HEAD for the files, and index.html for the page's own addresses (/, /tasks, /chat, /agents,
// /settings). For other paths too, with 404: the page itself says that there is nothing.
Response page_reply(const Request& request, std::span<const PageFile> files);
void serve_page(const ExchangePtr& exchange);

}  // namespace errand::net
