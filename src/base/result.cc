#include "base/result.h"

namespace errand {

std::string_view name(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::not_found:
      return "not_found";
    case Code::conflict:
      return "conflict";
    case Code::unsupported:
      return "unsupported";
    case Code::too_large:
      return "too_large";
    case Code::exhausted:
      return "exhausted";
    case Code::storage_full:
      return "storage_full";
    case Code::unavailable:
      return "unavailable";
    case Code::unauthorized:
      return "unauthorized";
    case Code::forbidden:
      return "forbidden";
    case Code::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace errand
