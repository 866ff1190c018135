// Ctrl-C while the CLI waits: it lets go of the task, and says how to come back, instead of dying in the middle.
#pragma once

namespace errand::cli {

// While one exists, SIGINT is noted instead of ending the process; every wait of the CLI ends with it. A second SIGINT
// ends the process at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool happened();
  // Readable once it happened; -1 where no Interrupt exists.
  static int fd();

  // Called before a second SIGINT ends the process: the terminal may have to be given back. From a handler.
  static void (*last_words)();
};

}  // namespace errand::cli
