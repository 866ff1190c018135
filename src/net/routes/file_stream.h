// A part of a file as a stream: read piece by piece as the connection takes it, so that a file of any size costs one
// piece of memory. It ends where the file ends, should that have become shorter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/alive.h"
#include "files/beneath.h"
#include "net/routes/context.h"

namespace errand::net {

class FileStream final : public StreamSource {
 public:
  FileStream(Context& context, files::File file, int64_t begin, int64_t end);

  Pulled pull(std::vector<Slice>& out, size_t bytes) override;
  void on_ready(std::function<void()> wake) override { wake_ = std::move(wake); }

 private:
  void read_on();

  Context& context_;
  std::shared_ptr<const files::File> file_;
  int64_t next_;
  const int64_t end_;
  std::function<void()> wake_;
  std::string ready_;  // Read and not yet given.
  bool busy_ = false;
  bool finished_ = false;
  Alive alive_;
};

}  // namespace errand::net
