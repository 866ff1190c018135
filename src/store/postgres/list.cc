#include "store/postgres/list.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "store/cursor.h"
#include "store/postgres/reads.h"
#include "store/postgres/rows.h"
#include "store/rules.h"
#include "store/search_text.h"

namespace errand::postgres {
namespace {

// So many tasks that the index does not have yet are looked through by a search itself.
constexpr int64_t unindexed_max = 200'000;
constexpr int64_t verified_count_max = 10'000;
constexpr int checked_at_once = 200;  // Candidates of a search that are read together.

// The conditions of a filter, of the table under a name. Their values are the same under every name.
class Conditions {
 public:
  Conditions(const TaskFilter& filter, const std::vector<std::string>& terms) : filter_(filter) {
    for (const std::string& term : terms)
      for (std::string& gram : grams_of_term(term)) grams_.push_back(std::move(gram));
    number_values();
  }

  std::string text(std::string_view table) const {
    std::string out;
    const auto add = [&](const std::string& condition) {
      out += out.empty() ? " WHERE " : " AND ";
      out += condition;
    };
    if (!filter_.states.empty()) add(fmt::format("{}.state IN ({})", table, joined(filter_.states)));
    if (agent_) add(fmt::format("{}.agent = ${}", table, agent_));
    // Commands have the agent "command".
    if (filter_.kind)
      add(fmt::format("{}.agent {} '\\x636f6d6d616e64'::bytea", table,
                      *filter_.kind == TaskKind::command ? "=" : "<>"));
    if (batch_) add(fmt::format("{}.batch = ${}", table, batch_));
    if (parent_) add(fmt::format("{}.parent = ${}", table, parent_));
    if (label_)
      add(fmt::format("EXISTS (SELECT 1 FROM labels WHERE labels.key = ${} AND labels.value = ${} AND labels.n = {}.n)",
                      label_, label_ + 1, table));
    if (after_) add(fmt::format("{}.created_at > ${}", table, after_));
    if (before_) add(fmt::format("{}.created_at < ${}", table, before_));
    if (!filter_.asks.empty() || !filter_.waits.empty()) add(fmt::format("{}.waits_for IN ({})", table, waits()));
    if (filter_.unseen) add(fmt::format("{0}.state = 3 AND {0}.retrieved_at IS NULL", table));
    if (filter_.archived) add(fmt::format("({}.flags & 16) {} 0", table, *filter_.archived ? "<>" : "="));
    if (filter_.pinned) add(fmt::format("({}.flags & 8) {} 0", table, *filter_.pinned ? "<>" : "="));
    if (found_)
      add(
          fmt::format("{}.n = ANY(ARRAY(SELECT n FROM searched WHERE grams @> ${}::bytea[] UNION SELECT n FROM "
                      "unindexed))",
                      table, found_));
    return out;
  }

  // What stands for the values; more may follow.
  const Values& values() const { return values_; }
  bool is_search() const { return found_ != 0; }

 private:
  template <class Kinds>
  static std::string joined(const Kinds& kinds) {
    std::string out;
    for (const auto kind : kinds) out += fmt::format("{}{}", out.empty() ? "" : ", ", static_cast<int>(kind));
    return out;
  }
  std::string waits() const {
    std::vector<int> stored;
    stored.reserve(filter_.asks.size() + filter_.waits.size());
    for (const AskKind kind : filter_.asks) stored.push_back(stored_wait(kind));
    for (const WaitKind kind : filter_.waits) stored.push_back(stored_wait(kind));
    return joined(stored);
  }

  void number_values() {
    const auto number = [&](std::string_view value) {
      values_.add(value);
      return values_.size();
    };
    if (!filter_.agent_id.empty()) agent_ = number(filter_.agent_id);
    if (filter_.batch_id) batch_ = number(filter_.batch_id.value);
    if (filter_.parent_session_id) parent_ = number(filter_.parent_session_id.value);
    if (!filter_.label_key.empty()) {
      label_ = number(filter_.label_key);
      number(filter_.label_value);
    }
    if (filter_.created_after) after_ = values_.add(filter_.created_after.ms).size();
    if (filter_.created_before) before_ = values_.add(filter_.created_before.ms).size();
    if (!grams_.empty()) found_ = values_.add_array(grams_).size();
  }

  const TaskFilter& filter_;
  std::vector<std::string> grams_;
  Values values_;
  size_t agent_ = 0, batch_ = 0, parent_ = 0, label_ = 0, after_ = 0, before_ = 0, found_ = 0;
};

std::string_view order_by(Sort sort) {
  switch (sort) {
    case Sort::newest:
      return "t.n DESC";
    case Sort::oldest:
      return "t.n";
    case Sort::updated:
      return "t.updated_at DESC, t.n DESC";
    case Sort::attention:
      return "t.band, t.n DESC";
  }
  return "t.n DESC";
}

// `other` stands before `table` in a list that is sorted so.
std::string stands_before(std::string_view other, std::string_view table, Sort sort) {
  switch (sort) {
    case Sort::newest:
      return fmt::format("{}.n > {}.n", other, table);
    case Sort::oldest:
      return fmt::format("{}.n < {}.n", other, table);
    case Sort::updated:
      return fmt::format("({0}.updated_at, {0}.n) > ({1}.updated_at, {1}.n)", other, table);
    case Sort::attention:
      return fmt::format("({0}.band < {1}.band OR ({0}.band = {1}.band AND {0}.n > {1}.n))", other, table);
  }
  return "false";
}

// The condition that a task comes after a place, whose values are added.
std::string comes_after_place(const Place& place, Sort sort, Values& values) {
  const size_t number = values.add(place.number).size();
  switch (sort) {
    case Sort::newest:
      return fmt::format("t.n < ${}", number);
    case Sort::oldest:
      return fmt::format("t.n > ${}", number);
    case Sort::updated:
      return fmt::format("(t.updated_at, t.n) < (${}, ${})", values.add(place.updated.ms).size(), number);
    case Sort::attention: {
      const size_t band = values.add(place.band).size();
      return fmt::format("(t.band > ${0} OR (t.band = ${0} AND t.n < ${1}))", band, number);
    }
  }
  return "true";
}

struct Found {
  Task task;
  Place place;
};

// The next tasks of a list, in its order.
Result<std::vector<Found>> next_tasks(Connection& db, const Conditions& conditions, bool fold, Sort sort,
                                      const std::optional<Place>& after, int64_t limit, int64_t offset) {
  Values values = conditions.values();
  std::string where = conditions.text("t");
  const auto add = [&](const std::string& condition) {
    where += where.empty() ? " WHERE " : " AND ";
    where += condition;
  };
  if (after) add(comes_after_place(*after, sort, values));
  if (fold) {
    const std::string others = conditions.text("o");
    add(fmt::format("(t.batch IS NULL OR NOT EXISTS (SELECT 1 FROM tasks o{} o.batch = t.batch AND {}))",
                    others.empty() ? " WHERE" : others + " AND", stands_before("o", "t", sort)));
  }
  const size_t rows = values.add(limit).size(), skipped = values.add(offset).size();
  // The page first: what is long is read of its tasks alone.
  const std::string sql = fmt::format(
      "SELECT {} FROM (SELECT t.n FROM tasks t{} ORDER BY {} LIMIT ${} OFFSET ${}) page JOIN tasks t ON t.n = page.n "
      "JOIN launches l ON l.n = t.n LEFT JOIN results r ON r.n = t.n ORDER BY {}",
      task_columns, where, order_by(sort), rows, skipped, order_by(sort));
  const Result<Rows> found = db.run(sql, values);
  if (!found) return std::unexpected(found.error());
  std::vector<Found> out;
  for (int i = 0; i < found->count(); ++i) {
    const Row row{*found, i};
    Result<Task> task = read_task(row);
    if (!task) return std::unexpected(task.error());
    Place place{.number = row.integer(task_number_column)};
    if (sort == Sort::updated) place.updated = task->updated_at;
    if (sort == Sort::attention) place.band = static_cast<int>(row.integer(task_band_column));
    out.push_back({std::move(*task), place});
  }
  return out;
}

// Words: the index is too long behind to be completed by looking.
Status check_index(Connection& db) {
  const Result<Rows> rows = db.run("SELECT count(*), (SELECT last_task FROM meta WHERE one = 1) FROM unindexed");
  if (!rows) return std::unexpected(rows.error());
  if (rows->integer(0, 0) <= unindexed_max) return {};
  return fail(Code::unavailable,
              fmt::format("The search index is being made ({} of {} tasks are left): try again in a moment.",
                          rows->integer(0, 0), rows->integer(0, 1)),
              "indexing");
}

// Calls `each` with the tasks of a search that have the words, in order, until it answers false.
template <class Each>
Status walk(Connection& db, const Conditions& conditions, const TaskFilter& filter,
            const std::vector<std::string>& terms, Sort sort, std::optional<Place> after, Each each) {
  std::unordered_set<std::string> batches;
  for (;;) {
    Result<std::vector<Found>> found = next_tasks(db, conditions, false, sort, after, checked_at_once, 0);
    if (!found) return std::unexpected(found.error());
    for (Found& one : *found) {
      after = one.place;
      if (!passes(one.task, filter, terms)) continue;
      const std::string& batch = one.task.launch.batch_id.value;
      if (filter.fold && !batch.empty() && !batches.insert(batch).second) continue;
      if (!each(one)) return {};
    }
    if (found->size() < checked_at_once) return {};
  }
}

Result<TaskPage> search_page(Connection& db, const Conditions& conditions, const TaskFilter& filter,
                             const std::vector<std::string>& terms, const Page& page,
                             const std::optional<Place>& after) {
  if (const Status ready = check_index(db); !ready) return std::unexpected(ready.error());
  TaskPage out;
  Place last;
  int64_t skip = page.offset;
  // With a fold what comes before is walked again, to know which batches are in it.
  const Status walked =
      walk(db, conditions, filter, terms, page.sort, filter.fold ? std::nullopt : after, [&](Found& found) {
        if (filter.fold && after && !comes_after(found.place, *after, page.sort)) return true;
        if (skip-- > 0) return true;
        if (std::ssize(out.tasks) == page.limit) {
          out.next_cursor = make_cursor(filter, page.sort, last);
          return false;
        }
        last = found.place;
        out.tasks.push_back(std::move(found.task));
        return true;
      });
  if (!walked) return std::unexpected(walked.error());
  return out;
}

}  // namespace

Result<TaskPage> list_tasks(Connection& db, const TaskFilter& filter, const Page& page) {
  if (const Status ok = check_page(page); !ok) return std::unexpected(ok.error());
  const Result<std::vector<std::string>> terms = query_terms(filter.query);
  if (!terms) return std::unexpected(terms.error());
  std::optional<Place> after;
  if (!page.cursor.empty()) {
    const Result<Place> place = read_cursor(page.cursor, filter, page.sort);
    if (!place) return std::unexpected(place.error());
    after = *place;
  }
  const Conditions conditions(filter, *terms);
  if (conditions.is_search()) return search_page(db, conditions, filter, *terms, page, after);
  Result<std::vector<Found>> found =
      next_tasks(db, conditions, filter.fold, page.sort, after, int64_t{page.limit} + 1, page.offset);
  if (!found) return std::unexpected(found.error());
  TaskPage out;
  for (Found& one : *found) {
    if (std::ssize(out.tasks) == page.limit) {
      out.next_cursor = make_cursor(filter, page.sort, (*found)[static_cast<size_t>(page.limit) - 1].place);
      break;
    }
    out.tasks.push_back(std::move(one.task));
  }
  return out;
}

Result<int64_t> count_tasks(Connection& db, const TaskFilter& filter) {
  const Result<std::vector<std::string>> terms = query_terms(filter.query);
  if (!terms) return std::unexpected(terms.error());
  const Conditions conditions(filter, *terms);
  const std::string indexed =
      fmt::format("SELECT {} FROM tasks t{}",
                  filter.fold ? "count(DISTINCT t.batch) + count(*) FILTER (WHERE t.batch IS NULL)" : "count(*)",
                  conditions.text("t"));
  int64_t count = 0;
  if (conditions.is_search()) {
    if (const Status ready = check_index(db); !ready) return std::unexpected(ready.error());
    const Status walked = walk(db, conditions, filter, *terms, Sort::newest, std::nullopt,
                               [&](Found&) { return ++count <= verified_count_max; });
    if (!walked) return std::unexpected(walked.error());
    if (count <= verified_count_max) return count;
  }
  const Result<Rows> rows = db.run(indexed, conditions.values());
  if (!rows) return std::unexpected(rows.error());
  return rows->integer(0, 0);
}

}  // namespace errand::postgres
