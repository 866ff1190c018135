// Brings a database to the schema of this build, one numbered step after the other.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"

namespace errand::postgres {

struct Migration {
  int version = 0;  // What the schema is afterwards: 1, 2, ...
  std::string name;
  std::string sql;
};

// The steps of this build, from migrations/NNN_name.sql.
const std::vector<Migration>& migrations();

// Makes the schema where it is missing. Each step is one transaction together with its version, under a lock of the
// whole database: of two servers that start at once, one waits and then finds it done. Refused: a newer schema than
// this build knows (unsupported), a schema of that name that is somebody else's (conflict).
Status migrate(Connection& db, const std::string& schema);

}  // namespace errand::postgres
