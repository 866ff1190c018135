// GET /api/inbox (R15.2): what needs a person, in the order in which it does: every open question with all that is
// needed to decide, then failures that nobody has looked at.
#include "api/query.h"
#include "api/replies.h"
#include "base/beside.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

constexpr int asks_max = 200, failures_max = 100;

struct Inbox {
  TaskPage asks, failures;
};

Result<Inbox> read_inbox(Store& store) {
  Result<TaskPage> asks = store.list({.asks = {AskKind::permission, AskKind::answer}},
                                     {.limit = asks_max, .cursor = {}, .sort = Sort::oldest});
  if (!asks) return std::unexpected(asks.error());
  Result<TaskPage> failures = store.list({.unseen = true}, {.limit = failures_max, .cursor = {}});
  if (!failures) return std::unexpected(failures.error());
  return Inbox{std::move(*asks), std::move(*failures)};
}

}  // namespace

void get_inbox(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  run_then(
      context.parts.readers, context.parts.loop, [&store = context.parts.store] { return read_inbox(store); },
      [&context, call = std::move(call)](const Result<Inbox>& inbox) {
        if (!inbox) return call.refuse(inbox.error());
        std::vector<TaskView> asks, failures;
        const Tasks& tasks = context.parts.engine.tasks();
        for (const Task& task : inbox->asks.tasks) asks.push_back({task, tasks.moment(task)});
        for (const Task& task : inbox->failures.tasks) failures.push_back({task, tasks.moment(task)});
        const bool more = !inbox->asks.next_cursor.empty() || !inbox->failures.next_cursor.empty();
        call.answer(200, api::inbox_reply(asks, failures, more));
      });
}

}  // namespace errand::net
