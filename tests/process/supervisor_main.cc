// The supervisor alone, as `errand supervisor` runs it, so that its tests need nothing of the rest.
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "process/supervisor.h"

int main(int argc, char** argv) {
  errand::process::SupervisorOptions options;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--data-dir") == 0) options.data_dir = argv[i + 1];
    if (std::strcmp(argv[i], "--idle-ms") == 0) options.idle_exit_ms = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--orphan-ms") == 0) options.orphan_ms = std::atoll(argv[i + 1]);
  }
  // A test that wants a machine without control groups says so in the folder.
  options.cgroups = ::access((options.data_dir + "/no-cgroups").c_str(), F_OK) != 0;
  return errand::process::run_supervisor(options);
}
