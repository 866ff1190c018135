#include "serve/environment.h"

#include <cstring>
#include <string_view>
#include <unistd.h>

namespace errand::serve {

const Environment& Environment::get() {
  static const auto* const environment = new Environment;  // Never destroyed: it is the process's own.
  return *environment;
}

std::map<std::string, std::string> Environment::map() const {
  std::map<std::string, std::string> out;
  for (const std::string& entry : list_)
    if (const size_t equals = entry.find('='); equals != std::string::npos)
      out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  return out;
}

Environment::Environment() {
  std::vector<char*> given;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    list_.emplace_back(*entry);
    given.push_back(*entry);
  }
  for (std::string& entry : list_) pointers_.push_back(entry.data());
  pointers_.push_back(nullptr);
  environ = pointers_.data();
  // What finds a process of a run that has lost its keeper stays (process/run.h): it is the path of a folder.
  for (char* entry : given)
    if (char* value = std::strchr(entry, '='); value != nullptr && !std::string_view(entry).starts_with("ERRAND_RUN="))
      explicit_bzero(value + 1, std::strlen(value + 1));
}

}  // namespace errand::serve
