// Connects the command line with the programs that are behind it.
#include <string_view>

#include "cli/cli.h"
#include "serve/serve.h"

int main(int argc, char** argv) {
  // What asks git for the server (decision 31). Nobody types it, and it is to start at once: it is none of the verbs.
  if (argc == 3 && std::string_view(argv[1]) == "changes-order") return errand::serve::run_changes_order(argv[2]);
  return errand::cli::main(argc, argv,
                           {.serve = errand::serve::run_server,
                            .supervisor = errand::serve::run_supervisor,
                            .tools_json = errand::serve::tools_json,
                            .try_model = errand::serve::try_model});
}
