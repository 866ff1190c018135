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

constexpr size_t grams_a_term = 2;
constexpr size_t grams_a_query = 6;
constexpr size_t samples_max = 12;
constexpr int sample_size = 32;
// A gram this much more common than the rarest one excludes too little to be worth its walk.
constexpr double common_factor = 16;

struct Sample {
  std::string gram;
  double share = 0;  // Of the tasks that have it, about.
  size_t rank = 0;   // 0: the rarest of its term.
};

void append_phrase(std::string& out, std::string_view gram) {
  out += '"';
  for (const char c : gram) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

// From how close together the newest tasks with the gram lie.
Result<double> share_of(Database& index, std::string_view gram) {
  std::string phrase;
  append_phrase(phrase, gram);
  Use row(index.cached("SELECT rowid FROM grams WHERE grams MATCH ?1 ORDER BY rowid DESC LIMIT ?2"));
  row->bind(1, phrase).bind(2, sample_size);
  int64_t newest = 0, last = 0;
  int found = 0, code = SQLITE_OK;
  while ((code = row->step()) == SQLITE_ROW) {
    last = row->integer(0);
    if (found++ == 0) newest = last;
  }
  if (code != SQLITE_DONE) return std::unexpected(index.error(code, "search"));
  // Fewer than asked for: they are all there are, back to the first task.
  const int64_t span = found < sample_size ? newest : newest - last + 1;
  return span == 0 ? 0.0 : static_cast<double>(found) / static_cast<double>(span);
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

Result<std::string> match_expression(Database& index, const std::vector<std::string>& terms) {
  std::vector<Sample> chosen;
  // Every term gets its share; of a very long query, only the first ones, and the others are looked for in the text.
  const size_t samples_a_term = std::max<size_t>(samples_max / std::max<size_t>(terms.size(), 1), 1);
  for (const std::string& term : terms) {
    if (chosen.size() >= samples_max) break;
    std::vector<Sample> samples;
    std::vector<std::string> grams = grams_of_term(term);
    if (grams.size() > samples_a_term) grams.resize(samples_a_term);
    for (std::string& gram : grams) {
      const Result<double> share = share_of(index, gram);
      if (!share) return std::unexpected(share.error());
      samples.push_back({std::move(gram), *share});
    }
    std::ranges::sort(samples, {}, &Sample::share);
    if (samples.size() > grams_a_term) samples.resize(grams_a_term);
    for (size_t i = 0; i < samples.size(); ++i) samples[i].rank = i;
    chosen.insert(chosen.end(), std::make_move_iterator(samples.begin()), std::make_move_iterator(samples.end()));
  }
  // One gram of each term says more than two of one.
  std::ranges::sort(chosen, {}, [](const Sample& sample) { return std::pair(sample.rank, sample.share); });
  std::string out;
  size_t used = 0;
  for (const Sample& sample : chosen) {
    if (used == grams_a_query || sample.share > chosen[0].share * common_factor) continue;
    if (used++ > 0) out += " AND ";
    append_phrase(out, sample.gram);
  }
  return out;
}

}  // namespace errand::sqlite
