#include "store/sqlite/row_check.h"

#include <chrono>
#include <iterator>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/log.h"
#include "store/sqlite/rows.h"

namespace errand::sqlite {
namespace {

constexpr int rows_a_step = 200;
// A start has better things to do first; then about a tenth of one core, until it is through.
constexpr std::chrono::seconds begin_after{5};
constexpr std::chrono::milliseconds pause{10};

struct Sealed {
  std::string sql;  // Rows behind ?1, in order, at most ?2; the first column is what they are ordered by.
  Status (*read)(const Statement& row);
};

template <auto read>
Status only_status(const Statement& row) {
  const auto made = read(row);
  if (!made) return std::unexpected(made.error());
  return {};
}

const Sealed* sealed_tables(int& count) {
  static const Sealed tables[] = {
      {fmt::format("SELECT {} FROM {} WHERE t.n > ?1 ORDER BY t.n LIMIT ?2", task_columns, task_tables),
       only_status<read_task>},
      {fmt::format("SELECT {} FROM messages m WHERE m.m > ?1 ORDER BY m.m LIMIT ?2", message_columns),
       only_status<read_message>},
      {fmt::format("SELECT {} FROM events e LEFT JOIN tasks t ON t.n = e.task WHERE e.pos > ?1 ORDER BY e.pos LIMIT ?2",
                   event_columns),
       only_status<read_event>},
      {fmt::format("SELECT {} FROM usage WHERE u > ?1 ORDER BY u LIMIT ?2", usage_columns), only_status<read_usage>}};
  count = static_cast<int>(std::size(tables));
  return tables;
}

}  // namespace

Result<bool> RowCheck::step(Database& db, int rows) {
  int tables = 0;
  const Sealed* const all = sealed_tables(tables);
  if (table_ == tables) return false;
  Use row(db.cached(all[table_].sql).bind(1, after_).bind(2, rows));
  int seen = 0;
  int code = SQLITE_OK;
  while ((code = row->step()) == SQLITE_ROW) {
    ++seen;
    after_ = row->integer(0);
    if (const Status whole = all[table_].read(*row); !whole) return std::unexpected(whole.error());
  }
  if (code != SQLITE_DONE) return std::unexpected(db.error(code, "look through it"));
  if (seen < rows) {
    ++table_;
    after_ = -1;
  }
  return table_ < tables;
}

Inspection::Inspection(Database db, Condition& condition) : db_(std::move(db)), condition_(condition) {
  thread_ = std::thread([this] { run(); });
}

Inspection::~Inspection() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Inspection::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
  RowCheck check;
  Lock lock(mutex_);
  if (wake_.wait_for(lock, begin_after, [&]() REQUIRES(mutex_) { return stop_; })) return;
  for (;;) {
    lock.unlock();
    const Result<bool> more = check.step(db_, rows_a_step);
    if (!more) condition_.note(more.error());
    lock.lock();
    if (!more || !*more || wake_.wait_for(lock, pause, [&]() REQUIRES(mutex_) { return stop_; })) return;
  }
}

}  // namespace errand::sqlite
