#include "store/sqlite/list.h"

#include <algorithm>
#include <limits>
#include <sqlite3.h>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "store/cursor.h"
#include "store/rules.h"
#include "store/search_text.h"
#include "store/sqlite/commit_writer.h"
#include "store/sqlite/grams.h"
#include "store/sqlite/number_list.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/search_index.h"

namespace errand::sqlite {
namespace {

// Stepping in a table's index costs a tenth of a seek in it; in FTS5 a hundredth.
constexpr int steps_in_index = 16;
constexpr int steps_in_search = 256;
// So many tasks that the index does not have yet are looked through by a search itself (a few microseconds each).
constexpr int64_t unindexed_max = 200'000;
// Up to so many numbers are sorted by their last change in memory; of more, the index of changes is walked.
constexpr size_t sorted_in_memory_max = 20'000;
constexpr int64_t verified_count_max = 10'000;

struct Bounds {
  int64_t low = 1;
  int64_t high = std::numeric_limits<int64_t>::max();
};

// A filter, ready to be walked.
struct Candidates {
  NumberListPtr numbers;
  Bounds bounds;
  bool exact = true;  // All of them pass the filter: no need to look at the rows.
};

class Finder {
 public:
  Finder(Reader& reader, const TaskFilter& filter, std::vector<std::string> terms)
      : db_(reader.db), index_(reader.index), filter_(filter), terms_(std::move(terms)) {}

  // With `band`: those of them that may stand in it.
  Result<Candidates> find(Direction direction, std::optional<Band> band = std::nullopt) {
    direction_ = direction;
    Candidates out;
    std::vector<NumberListPtr> lists;
    if (!filter_.parent_session_id.empty())
      lists.push_back(column("FROM tasks WHERE parent = ?2", filter_.parent_session_id.value));
    if (!filter_.batch_id.empty()) lists.push_back(column("FROM tasks WHERE batch = ?2", filter_.batch_id.value));
    if (!filter_.label_key.empty()) {
      Statement& label = statement("FROM labels WHERE key = ?2 AND value = ?3");
      label.bind(2, filter_.label_key).bind(3, filter_.label_value);
      lists.push_back(statement_list(db_, label, direction_, steps_in_index));
    }
    if (!filter_.states.empty()) lists.push_back(states());
    if (!filter_.agent_id.empty()) lists.push_back(column("FROM tasks WHERE agent = ?2", filter_.agent_id));
    if (filter_.kind) {
      Result<NumberListPtr> kinds = kind();
      if (!kinds) return std::unexpected(kinds.error());
      lists.push_back(std::move(*kinds));
      out.exact = false;
    }
    if (!filter_.asks.empty() || !filter_.waits.empty()) {
      lists.push_back(waiting());
      out.exact = false;
    }
    if (filter_.unseen) lists.push_back(unseen("+1 AND"));
    if (!terms_.empty()) {
      Result<NumberListPtr> found = search();
      if (!found) return std::unexpected(found.error());
      lists.push_back(std::move(*found));
      out.exact = false;
    }
    if (filter_.created_after || filter_.created_before) {
      const Result<Bounds> bounds = created_bounds();
      if (!bounds) return std::unexpected(bounds.error());
      out.bounds = *bounds;
      out.exact = false;
    }
    if (filter_.archived == true) lists.push_back(marked("+1 AND", "archived", 16));
    if (filter_.pinned == true) lists.push_back(marked("+1 AND", "pinned", 8));
    if (band) {
      lists.push_back(in_band(*band));
      if (*band != Band::unseen && *band != Band::pending && *band != Band::rest) out.exact = false;
    }
    const bool all = lists.empty();
    if (all) lists.push_back(statement_list(db_, statement("FROM tasks WHERE 1"), direction_, steps_in_index));
    out.numbers = intersection_of(std::move(lists), direction_);
    if (filter_.archived == false) out.numbers = without(std::move(out.numbers), marked("+2 AND", "archived", 16), all);
    if (filter_.pinned == false) out.numbers = without(std::move(out.numbers), marked("+2 AND", "pinned", 8), all);
    if (band == Band::pending || band == Band::rest)
      out.numbers = without(std::move(out.numbers), marked("+3 AND", "pinned", 8), false);
    if (band == Band::rest) out.numbers = without(std::move(out.numbers), unseen("+3 AND"), false);
    return out;
  }

 private:
  // "SELECT n <from and where> AND n <= ?1 ORDER BY n DESC", or upwards.
  Statement& statement(std::string_view from_where) {
    return db_.cached(direction_ == Direction::down ? fmt::format("SELECT n {} AND n <= ?1 ORDER BY n DESC", from_where)
                                                    : fmt::format("SELECT n {} AND n >= ?1 ORDER BY n", from_where));
  }

  NumberListPtr column(std::string_view from_where, std::string_view value) {
    return statement_list(db_, statement(from_where).bind(2, value), direction_, steps_in_index);
  }

  NumberListPtr states() {
    std::vector<NumberListPtr> lists;
    std::vector<TaskState> states = filter_.states;
    std::ranges::sort(states);
    const auto repeats = std::ranges::unique(states);
    states.erase(repeats.begin(), repeats.end());
    // The number is part of the statement: each state has one of its own, open at the same time.
    for (const TaskState state : states) {
      Statement& of_state = statement(fmt::format("FROM tasks WHERE state = {}", static_cast<int>(state)));
      lists.push_back(statement_list(db_, of_state, direction_, steps_in_index));
    }
    return union_of(std::move(lists), direction_);
  }

  // Each use of a list in one search needs a statement of its own: `own` ("+1 AND", ...) makes its text another one.
  // The indexes are named, because the planner would walk all tasks by their numbers.
  NumberListPtr unseen(std::string_view own) {  // 3 is `failed`.
    Statement& found =
        statement(fmt::format("FROM tasks INDEXED BY tasks_unseen WHERE {} state = 3 AND retrieved_at IS NULL", own));
    return statement_list(db_, found, direction_, steps_in_index);
  }

  NumberListPtr marked(std::string_view own, std::string_view mark, int flag) {
    Statement& found = statement(fmt::format("FROM tasks INDEXED BY tasks_{} WHERE {} flags & {}", mark, own, flag));
    return statement_list(db_, found, direction_, steps_in_index);
  }

  NumberListPtr without(NumberListPtr list, NumberListPtr left_out, bool part) {
    return difference_of(std::move(list), std::move(left_out), direction_, part);
  }

  // band_of in lists: a superset, where what decides is in the row.
  NumberListPtr in_band(Band band) {
    const auto of_states = [&](std::initializer_list<TaskState> states) {
      std::vector<NumberListPtr> lists;
      for (const TaskState state : states) {
        Statement& of_state = statement(fmt::format("FROM tasks WHERE +5 AND state = {}", static_cast<int>(state)));
        lists.push_back(statement_list(db_, of_state, direction_, steps_in_index));
      }
      return union_of(std::move(lists), direction_);
    };
    switch (band) {
      case Band::asks:
        return statement_list(db_, statement("FROM tasks INDEXED BY tasks_asks WHERE +5 AND asks IS NOT NULL"),
                              direction_, steps_in_index);
      case Band::unseen:
        return unseen("+5 AND");
      case Band::pinned:
        return marked("+5 AND", "pinned", 8);
      case Band::running:
      case Band::waits:
        return of_states({TaskState::running, TaskState::resumed});
      case Band::pending:
        return of_states({TaskState::pending});
      case Band::rest:
        return of_states({TaskState::completed, TaskState::failed, TaskState::cancelled});
    }
    return ready_list({}, direction_);
  }

  // Those that may wait so: what exactly they wait for is in the row. Only tasks at work wait for a quota or their
  // children.
  NumberListPtr waiting() {
    std::vector<NumberListPtr> lists;
    if (!filter_.asks.empty()) {
      // Named, because the planner would walk all tasks by their numbers.
      Statement& asks = statement("FROM tasks INDEXED BY tasks_asks WHERE asks IS NOT NULL");
      lists.push_back(statement_list(db_, asks, direction_, steps_in_index));
    }
    if (!filter_.waits.empty()) {
      // "+1 AND": statements of their own, beside those of states().
      for (const TaskState state : {TaskState::running, TaskState::resumed}) {
        Statement& of_state = statement(fmt::format("FROM tasks WHERE +1 AND state = {}", static_cast<int>(state)));
        lists.push_back(statement_list(db_, of_state, direction_, steps_in_index));
      }
    }
    return union_of(std::move(lists), direction_);
  }

  // Commands have the agent "command"; agent tasks are those of all other agents, which are few.
  Result<NumberListPtr> kind() {
    if (*filter_.kind == TaskKind::command) return column("FROM tasks WHERE +1 AND agent = ?2", "command");
    agents_.clear();
    std::string last;
    while (true) {
      Use next(db_.cached("SELECT min(agent) FROM tasks WHERE agent > ?1").bind(1, last));
      const int code = next->step();
      if (code != SQLITE_ROW) return std::unexpected(db_.error(code, "read agents"));
      if (next->is_null(0)) break;
      last = next->text(0);
      if (last != "command") agents_.push_back(last);
    }
    std::vector<NumberListPtr> lists;
    lists.reserve(agents_.size());
    for (size_t i = 0; i < agents_.size(); ++i)
      lists.push_back(column(fmt::format("FROM tasks WHERE +{} AND agent = ?2", i + 1), agents_[i]));
    if (lists.empty()) return ready_list({}, direction_);
    return union_of(std::move(lists), direction_);
  }

  // What the index has, and what it does not have yet.
  Result<NumberListPtr> search() {
    const Result<Indexed> indexed = read_indexed(index_);
    if (!indexed) return std::unexpected(indexed.error());
    std::vector<NumberListPtr> lists;
    Result<std::string> expression = match_expression(index_, terms_);
    if (!expression) return std::unexpected(expression.error());
    match_ = std::move(*expression);
    Statement& match =
        index_.cached(direction_ == Direction::down
                          ? "SELECT rowid FROM grams WHERE grams MATCH ?2 AND rowid <= ?1 ORDER BY rowid DESC"
                          : "SELECT rowid FROM grams WHERE grams MATCH ?2 AND rowid >= ?1 ORDER BY rowid");
    lists.push_back(statement_list(index_, match.bind(2, match_), direction_, steps_in_search));

    const Result<Kept> kept = read_kept(db_);
    if (!kept) return std::unexpected(kept.error());
    if (kept->last_task - indexed->task > unindexed_max)
      return fail(Code::unavailable,
                  fmt::format("The search index is being made ({} of {} tasks): try again in a moment.", indexed->task,
                              kept->last_task),
                  "indexing");
    if (kept->last_task > indexed->task) {
      Statement& behind = statement("FROM tasks WHERE n > ?2").bind(2, indexed->task);
      lists.push_back(statement_list(db_, behind, direction_, steps_in_index));
    }
    std::vector<int64_t> results;
    Use behind(db_.cached("SELECT n FROM results WHERE r > ?1").bind(1, indexed->result));
    int code = SQLITE_OK;
    while ((code = behind->step()) == SQLITE_ROW) results.push_back(behind->integer(0));
    if (code != SQLITE_DONE) return std::unexpected(db_.error(code, "read results"));
    if (!results.empty()) lists.push_back(ready_list(std::move(results), direction_));
    lists.push_back(marked("+4 AND", "renamed", 32));  // The index has their first title.
    return union_of(std::move(lists), direction_);
  }

  // The first number whose created_high is over `time`: created_high only ever goes up, so it is found by halving.
  Result<int64_t> first_over(int64_t time, int64_t last) {
    int64_t low = 1, high = last + 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      Use row(db_.cached("SELECT n, created_high FROM tasks WHERE n >= ?1 ORDER BY n LIMIT 1").bind(1, middle));
      const int code = row->step();
      if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(db_.error(code, "read tasks"));
      if (code == SQLITE_DONE || row->integer(1) > time)
        high = middle;
      else
        low = row->integer(0) + 1;
    }
    return low;
  }

  // created_at <= created_high <= created_at + clock_back.
  Result<Bounds> created_bounds() {
    const Result<Kept> kept = read_kept(db_);
    if (!kept) return std::unexpected(kept.error());
    Bounds bounds;
    if (filter_.created_after) {
      const Result<int64_t> low = first_over(filter_.created_after.ms, kept->last_task);
      if (!low) return std::unexpected(low.error());
      bounds.low = *low;
    }
    if (filter_.created_before) {
      const Result<int64_t> over = first_over(filter_.created_before.ms + kept->clock_back - 1, kept->last_task);
      if (!over) return std::unexpected(over.error());
      bounds.high = *over - 1;
    }
    return bounds;
  }

  Database& db_;
  Database& index_;
  const TaskFilter& filter_;
  std::vector<std::string> terms_;
  Direction direction_ = Direction::down;
  // Bound to statements as long as the lists live.
  std::string match_;
  std::vector<std::string> agents_;
};

// A quick look at a candidate's stored texts: false where a term cannot be in them. Most candidates of a rare term that
// shares its grams with many others are dropped here, for a tenth of what reading the whole task costs.
Result<bool> may_have(Database& db, int64_t number, const std::vector<std::string>& terms) {
  const auto as_stored = [](const std::string& term) { return term.find_first_of("\"\\") == std::string::npos; };
  if (terms.empty() || !std::ranges::any_of(terms, as_stored)) return true;
  Use row(
      db.cached("SELECT l.title, l.launch, r.result FROM launches l LEFT JOIN results r ON r.n = l.n WHERE l.n = ?1")
          .bind(1, number));
  const int code = row->step();
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) return std::unexpected(db.error(code, "read a task"));
  const std::string texts[] = {fold(row->text(0)), fold(row->text(1)), fold(searched_text(row->text(2)))};
  return std::ranges::all_of(terms, [&](const std::string& term) {
    // What JSON escapes is not found in it: such a term is left to the whole task.
    return !as_stored(term) || std::ranges::any_of(texts, [&](const std::string& text) { return text.contains(term); });
  });
}

// A batch is one row (TaskFilter::fold): the first of its tasks.
class BatchesSeen {
 public:
  // Asked once for each task of the list, in its order.
  Result<bool> is_first(Database& db, const TaskFilter& filter, int64_t number) {
    if (!filter.fold) return true;
    Use row(db.cached("SELECT batch FROM tasks WHERE n = ?1").bind(1, number));
    const int code = row->step();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(db.error(code, "read a task"));
    return code != SQLITE_ROW || row->is_null(0) || seen_.emplace(row->text(0)).second;
  }

 private:
  std::unordered_set<std::string> seen_;
};

// A page that is being filled.
class Filler {
 public:
  // `behind`: with a fold, where the page begins. What comes before it is walked again, to know which batches are in
  // it.
  Filler(Database& db, const TaskFilter& filter, const std::vector<std::string>& terms, const Page& page,
         std::optional<Place> behind)
      : db_(db), filter_(filter), terms_(terms), page_(page), behind_(behind), skip_(page.offset) {}

  // True: the page is full and there is more.
  Result<bool> add(const Place& place, bool exact) {
    const bool before = behind_ && !comes_after(place, *behind_, page_.sort);
    if (exact && (before || skip_ > 0)) {
      const Result<bool> first = batches_.is_first(db_, filter_, place.number);
      if (!first) return first;
      if (*first && !before) --skip_;
      return false;
    }
    if (const Result<bool> likely = may_have(db_, place.number, terms_); !likely || !*likely) return likely;
    Result<std::optional<Task>> task = load_task(db_, place.number);
    if (!task) return std::unexpected(task.error());
    if (!*task || !passes(**task, filter_, terms_)) return false;
    if (page_.sort == Sort::attention && static_cast<int>(band_of(**task)) != place.band) return false;
    if (const Result<bool> first = batches_.is_first(db_, filter_, place.number); !first || !*first) return first;
    if (before) return false;
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    if (std::ssize(out_.tasks) == page_.limit) {
      out_.next_cursor = make_cursor(filter_, page_.sort, last_);
      return true;
    }
    last_ = place;
    out_.tasks.push_back(std::move(**task));
    return false;
  }

  // The offset is behind us.
  void skipped_all() { skip_ = 0; }
  // Numbers may be jumped over without a look at each.
  bool may_jump() const { return !filter_.fold; }
  TaskPage take() { return std::move(out_); }

 private:
  Database& db_;
  const TaskFilter& filter_;
  const std::vector<std::string>& terms_;
  const Page& page_;
  std::optional<Place> behind_;
  BatchesSeen batches_;
  int64_t skip_;
  Place last_;
  TaskPage out_;
};

Result<TaskPage> by_number(Finder& finder, Filler& filler, const Page& page, const std::optional<Place>& after) {
  const Direction direction = page.sort == Sort::oldest ? Direction::up : Direction::down;
  Result<Candidates> candidates = finder.find(direction);
  if (!candidates) return std::unexpected(candidates.error());
  const Bounds& bounds = candidates->bounds;
  const bool down = direction == Direction::down;
  const int64_t step = down ? -1 : 1;
  int64_t from = down ? bounds.high : bounds.low;
  if (after) from = down ? std::min(from, after->number - 1) : std::max(from, after->number + 1);
  if (candidates->exact && page.offset > 0 && filler.may_jump()) {
    const auto skipped = candidates->numbers->skip(from, page.offset);
    if (!skipped) return std::unexpected(skipped.error());
    if (!*skipped) return filler.take();
    from = **skipped;
    filler.skipped_all();
  }
  while (true) {
    const auto number = candidates->numbers->seek(from);
    if (!number) return std::unexpected(number.error());
    if (!*number || **number < bounds.low || **number > bounds.high) return filler.take();
    const Result<bool> full = filler.add({.number = **number}, candidates->exact);
    if (!full) return std::unexpected(full.error());
    if (*full) return filler.take();
    from = **number + step;
  }
}

Result<TaskPage> by_attention(Finder& finder, Filler& filler, const std::optional<Place>& after) {
  for (int band = after ? after->band : 0; band < band_count; ++band) {
    Result<Candidates> candidates = finder.find(Direction::down, static_cast<Band>(band));
    if (!candidates) return std::unexpected(candidates.error());
    int64_t from = candidates->bounds.high;
    if (after && after->band == band) from = std::min(from, after->number - 1);
    while (true) {
      const auto number = candidates->numbers->seek(from);
      if (!number) return std::unexpected(number.error());
      if (!*number || **number < candidates->bounds.low) break;
      const Result<bool> full = filler.add({.number = **number, .band = band}, candidates->exact);
      if (!full) return std::unexpected(full.error());
      if (*full) return filler.take();
      from = **number - 1;
    }
  }
  return filler.take();
}

// The candidates with the time of their last change, latest first; nothing where there are too many.
Result<std::optional<std::vector<Place>>> sorted_by_change(Database& db, Candidates& candidates) {
  std::vector<Place> places;
  int64_t from = candidates.bounds.high;
  while (true) {
    const auto number = candidates.numbers->seek(from);
    if (!number) return std::unexpected(number.error());
    if (!*number || **number < candidates.bounds.low) break;
    if (places.size() == sorted_in_memory_max) return std::nullopt;
    Use row(db.cached("SELECT updated_at FROM tasks WHERE n = ?1").bind(1, **number));
    const int code = row->step();
    if (code == SQLITE_ROW) places.push_back({**number, row->time(0)});
    if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(db.error(code, "read tasks"));
    from = **number - 1;
  }
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    return a.updated != b.updated ? a.updated > b.updated : a.number > b.number;
  });
  return places;
}

Result<TaskPage> by_change(Database& db, Finder& finder, Filler& filler, bool filtered,
                           const std::optional<Place>& after) {
  const auto is_behind = [&](const Place& place) { return !after || comes_after(place, *after, Sort::updated); };
  if (filtered) {
    Result<Candidates> candidates = finder.find(Direction::down);
    if (!candidates) return std::unexpected(candidates.error());
    const auto places = sorted_by_change(db, *candidates);
    if (!places) return std::unexpected(places.error());
    if (*places) {
      for (const Place& place : **places) {
        if (!is_behind(place)) continue;
        const Result<bool> full = filler.add(place, candidates->exact);
        if (!full) return std::unexpected(full.error());
        if (*full) break;
      }
      return filler.take();
    }
  }
  // Nearly everything passes: walk the index of changes.
  Use row(db.cached("SELECT n, updated_at FROM tasks WHERE updated_at <= ?1 ORDER BY updated_at DESC, n DESC"));
  row->bind(1, after ? after->updated.ms : std::numeric_limits<int64_t>::max());
  int code = SQLITE_OK;
  while ((code = row->step()) == SQLITE_ROW) {
    const Place place{row->integer(0), row->time(1)};
    if (!is_behind(place)) continue;
    const Result<bool> full = filler.add(place, !filtered);
    if (!full) return std::unexpected(full.error());
    if (*full) return filler.take();
  }
  if (code != SQLITE_DONE) return std::unexpected(db.error(code, "read tasks"));
  return filler.take();
}

}  // namespace

Result<std::optional<Task>> load_task(Database& db, int64_t number) {
  static const std::string sql = fmt::format("SELECT {} FROM {} WHERE t.n = ?1", task_columns, task_tables);
  Use row(db.cached(sql).bind(1, number));
  const int code = row->step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return std::unexpected(db.error(code, "read a task"));
  Result<Task> task = read_task(*row);
  if (!task) return std::unexpected(task.error());
  return std::move(*task);
}

namespace {

// Where words are searched. The index before the database: what the database has beyond it is then known
// (search_index.h). It is held as long as `index` is.
Status hold_index(Reader& reader, const std::vector<std::string>& terms, std::optional<Snapshot>& index) {
  if (terms.empty()) return {};
  index.emplace(reader.index);
  if (const Result<Indexed> moment = read_indexed(reader.index); !moment) return std::unexpected(moment.error());
  return {};
}

// The filter as it has to be looked for: where nothing is archived, nothing has to be left out.
Result<TaskFilter> without_idle(Database& db, TaskFilter filter) {
  if (filter.archived != false) return filter;
  const Result<int64_t> any =
      db.number("SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_archived WHERE flags & 16)");
  if (!any) return std::unexpected(any.error());
  if (*any == 0) filter.archived.reset();
  return filter;
}

}  // namespace

Result<TaskPage> list_tasks(Reader& reader, const TaskFilter& filter, const Page& page) {
  if (const Status ok = check_page(page); !ok) return std::unexpected(ok.error());
  const Result<std::vector<std::string>> terms = query_terms(filter.query);
  if (!terms) return std::unexpected(terms.error());
  std::optional<Place> after;
  if (!page.cursor.empty()) {
    const Result<Place> place = read_cursor(page.cursor, filter, page.sort);
    if (!place) return std::unexpected(place.error());
    after = *place;
  }
  std::optional<Snapshot> index;
  if (const Status held = hold_index(reader, *terms, index); !held) return std::unexpected(held.error());
  const Snapshot snapshot(reader.db);
  const Result<TaskFilter> needed = without_idle(reader.db, filter);
  if (!needed) return std::unexpected(needed.error());
  Finder finder(reader, *needed, *terms);
  std::optional<Place> behind;
  if (filter.fold) behind = std::exchange(after, std::nullopt);
  Filler filler(reader.db, filter, *terms, page, behind);
  if (page.sort == Sort::attention) return by_attention(finder, filler, after);
  if (page.sort != Sort::updated) return by_number(finder, filler, page, after);
  return by_change(reader.db, finder, filler, *needed != TaskFilter{}, after);
}

Result<int64_t> count_tasks(Reader& reader, const TaskFilter& filter) {
  const Result<std::vector<std::string>> terms = query_terms(filter.query);
  if (!terms) return std::unexpected(terms.error());
  std::optional<Snapshot> index;
  if (const Status held = hold_index(reader, *terms, index); !held) return std::unexpected(held.error());
  const Snapshot snapshot(reader.db);
  const Result<TaskFilter> needed = without_idle(reader.db, filter);
  if (!needed) return std::unexpected(needed.error());
  Finder finder(reader, *needed, *terms);
  Result<Candidates> candidates = finder.find(Direction::down);
  if (!candidates) return std::unexpected(candidates.error());
  int64_t count = 0;
  BatchesSeen batches;
  int64_t from = candidates->bounds.high;
  while (true) {
    const auto number = candidates->numbers->seek(from);
    if (!number) return std::unexpected(number.error());
    if (!*number || **number < candidates->bounds.low) return count;
    from = **number - 1;
    if (candidates->exact || (!terms->empty() && count >= verified_count_max)) {
      const Result<bool> first = batches.is_first(reader.db, filter, **number);
      if (!first) return std::unexpected(first.error());
      if (*first) ++count;
      continue;
    }
    const Result<bool> likely = may_have(reader.db, **number, *terms);
    if (!likely) return std::unexpected(likely.error());
    if (!*likely) continue;
    const Result<std::optional<Task>> task = load_task(reader.db, **number);
    if (!task) return std::unexpected(task.error());
    if (!*task || !passes(**task, filter, *terms)) continue;
    const Result<bool> first = batches.is_first(reader.db, filter, **number);
    if (!first) return std::unexpected(first.error());
    if (*first) ++count;
  }
}

}  // namespace errand::sqlite
