// The token of the data folder: made on the first start, readable by its user alone.
#pragma once

#include <string>

#include "base/id.h"
#include "base/result.h"

namespace errand::net {

// Reads `data_dir`/token, or makes it (32 random bytes, base64url; never visible with another mode or half written).
// Refused where the file is not a plain file, is another user's, others may read it, or it holds no token.
Result<std::string> load_or_make_token(const std::string& data_dir, Random& random);

}  // namespace errand::net
