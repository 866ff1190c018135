// From what was typed to an id: any unique beginning will do, with or without the kind, as git does.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cli/wire.h"

namespace errand::cli {

// The whole id. A whole id is taken as it is, without a question to the server. not_found where nothing begins so,
// invalid_argument (naming the candidates) where several do.
Result<std::string> resolve_task(Context& context, const std::string& text);
// The same for a batch; a batch id that somebody chose himself is taken as it is.
Result<std::string> resolve_batch(Context& context, const std::string& text);

// The task itself.
Result<TaskInfo> get_task(Context& context, const std::string& id);

std::string task_path(const std::string& id, std::string_view rest = {});
std::string batch_path(const std::string& id, std::string_view rest = {});

}  // namespace errand::cli
