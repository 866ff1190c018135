// The FTS5 tokenizer `errand_grams`: a text becomes its grams (store/search_text.h), so that any part of a word is
// found, and Chinese without a dictionary. A query is one gram a phrase: FTS5 then intersects lists of tasks, newest
// first, and ranks nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

// Each connection that touches the index needs it.
Status register_grams(Database& db);

// The MATCH expression for tasks that have a chance to contain every term: a few grams of theirs, the rarest. More
// would cost more than they exclude, since each list is walked; who searches looks into the text itself anyway. `index`
// has the table `grams`.
Result<std::string> match_expression(Database& index, const std::vector<std::string>& terms);

}  // namespace errand::sqlite
