// Brings a database to the schema of this build, one numbered step after the other.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

struct Migration {
  int version = 0;  // What the schema is afterwards: 1, 2, ...
  std::string name;
  std::string sql;
};

// The steps of this build, from migrations/NNN_name.sql.
const std::vector<Migration>& migrations();

// Each step is one transaction together with its version, so a crash leaves the schema as it was before or after a
// step. A database that has something in it is copied first, to PATH.before-NNN. Refused: a newer schema than `steps`
// knows, a file that is somebody else's. `vfs` as in open.
Status migrate(Database& db, const std::vector<Migration>& steps, const std::string& vfs);

// A copy of one moment under another name, synced: all of it or nothing.
Status copy_database(Database& db, const std::string& target);

// Saves what the open database holds, whose name PATH was taken away, as PATH.rescued. Whoever finds that name can
// rename it to PATH at once: the WAL that stood beside PATH is gone before, as it would be played into the copy. A
// crash between leaves a whole PATH.rescuing, which `finish_rescue` turns into PATH.rescued.
Status rescue_database(Database& db, const std::string& path);
// The second half of it; nothing where there is no PATH.rescuing. Called before PATH is opened.
Status finish_rescue(const std::string& path);

// A new database with the schema of this build, where PATH is an empty file: made beside it and put in its place when
// it is whole. That is one sync instead of a dozen, and a crash leaves no half of one.
Status make_database(const std::string& path, const std::vector<Migration>& steps);

}  // namespace errand::sqlite
