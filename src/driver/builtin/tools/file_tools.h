// The tools that touch files. Inside tools/ only.
#pragma once

#include <memory>

#include "base/executor.h"
#include "base/time.h"
#include "driver/builtin/tool.h"
#include "driver/builtin/tools/file_memory.h"
#include "driver/builtin/tools/places.h"

namespace errand::builtin {

// All outlive the tools.
struct FileParts {
  Executor& background;
  Executor& engine;
  Clock& clock;
  FileMemory& memory;
  PlaceSettings places;
  int umask = 022;  // Of files that are made.
};

std::unique_ptr<Tool> make_read(FileParts parts);
std::unique_ptr<Tool> make_write(FileParts parts);
std::unique_ptr<Tool> make_edit(FileParts parts);
std::unique_ptr<Tool> make_list(FileParts parts);
std::unique_ptr<Tool> make_glob(FileParts parts);
std::unique_ptr<Tool> make_grep(FileParts parts);

}  // namespace errand::builtin
