#include "store/sqlite/grams.h"

#include <algorithm>
#include <sqlite3.h>

#include "store/search_text.h"

namespace errand::sqlite {
namespace {

int create(void*, const char**, int, Fts5Tokenizer** out) {
  // It has no state; FTS5 wants a pointer that is not null.
  static char stateless;
  *out = reinterpret_cast<Fts5Tokenizer*>(&stateless);
  return SQLITE_OK;
}

void destroy(Fts5Tokenizer*) {}

int tokenize(Fts5Tokenizer*, void* context, int flags, const char* text, int size,
             int (*token)(void*, int, const char*, int, int, int)) {
  if (size <= 0) return SQLITE_OK;
  // A query is made of grams already.
  if (flags & FTS5_TOKENIZE_QUERY) return token(context, 0, text, size, 0, size);
  int code = SQLITE_OK;
  each_gram({text, static_cast<size_t>(size)}, [&](std::string_view gram) {
    code = token(context, 0, gram.data(), static_cast<int>(gram.size()), 0, 0);
    return code == SQLITE_OK;
  });
  return code;
}

}  // namespace

Status register_grams(Database& db) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db.handle(), "SELECT fts5(?1)", -1, &statement, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
    code = sqlite3_finalize(statement);
  }
  if (code != SQLITE_OK || !api)
    return fail(Code::unsupported, "This SQLite has no FTS5: use one that is built with it.", "no_fts5");
  fts5_tokenizer tokenizer{create, destroy, tokenize};
  code = api->xCreateTokenizer(api, "errand_grams", nullptr, &tokenizer, nullptr);
  if (code != SQLITE_OK) return std::unexpected(db.error(code, "register the tokenizer"));
  return {};
}

std::string match_expression(const std::vector<std::string>& terms) {
  std::vector<std::string> grams;
  for (const std::string& term : terms)
    for (std::string& gram : grams_of_term(term))
      if (std::ranges::find(grams, gram) == grams.end()) grams.push_back(std::move(gram));
  std::string out;
  for (const std::string& gram : grams) {
    if (!out.empty()) out += " AND ";
    out += '"';
    for (const char c : gram) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  return out;
}

}  // namespace errand::sqlite
