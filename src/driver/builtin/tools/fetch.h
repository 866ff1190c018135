// `fetch`: a page of the web as text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/timers.h"
#include "driver/builtin/tool.h"
#include "http/client.h"

namespace errand::builtin {

// All outlive the tool.
struct FetchParts {
  http::Client& http;
  Timers& timers;
  Executor& background;
  Executor& engine;
  bool allow_private = false;  // Also addresses of this machine and of private networks.
};

std::unique_ptr<Tool> make_fetch(FetchParts parts);

// Where a redirect leads: a whole address, or a path of the same host. Empty where it is neither. Pure.
std::string redirect_target(std::string_view url, std::string_view location);
// "https://example.org" of an address; empty where it is none of http or https, or has a name or password in it. Pure.
std::string origin_of(std::string_view url);

}  // namespace errand::builtin
