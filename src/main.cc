// Connects the command line with the programs that are behind it.
#include "cli/cli.h"
#include "serve/serve.h"

int main(int argc, char** argv) {
  return errand::cli::main(argc, argv,
                           {.serve = errand::serve::run_server,
                            .supervisor = errand::serve::run_supervisor,
                            .tools_json = errand::serve::tools_json,
                            .try_model = errand::serve::try_model});
}
