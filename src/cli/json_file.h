// A settings file of another program, in JSON: read whole, changed in places, written whole. What is not ours stays as
// it is, in its order; the file keeps its indentation, its owner and its mode, and a link stays a link.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace boost::json {
class object;
}

namespace errand::cli {

class JsonFile {
 public:
  // A file that is not there is an empty object. Refused, and so left alone: what is no JSON object (comments too), and
  // what is over 16 MiB.
  static Result<JsonFile> read(const std::string& path);
  JsonFile(JsonFile&&) noexcept;
  JsonFile& operator=(JsonFile&&) noexcept;
  ~JsonFile();

  boost::json::object& object() { return *object_; }
  const std::string& path() const { return path_; }
  // Whole or not at all, and only where something changed: answers whether. An object that has become empty removes the
  // file.
  Result<bool> write();

 private:
  JsonFile();
  std::string path_;
  std::string before_;
  std::unique_ptr<boost::json::object> object_, read_;
};

// The file as it is to be; empty: it goes. `before`: as it was read. Where its own program has written it since, it is
// left alone: conflict, reason `changed`. Answers whether that changed anything. Makes the folders above it.
Result<bool> write_user_file(const std::string& path, const std::string& before, const std::string& text);
// Its text, of at most 16 MiB; empty where it is not there.
Result<std::string> read_user_file(const std::string& path);

}  // namespace errand::cli
