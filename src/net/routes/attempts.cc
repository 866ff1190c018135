// Attempts: the same work by several agents, side by side (decision 37).
#include "net/routes/attempts.h"

#include "api/attempts.h"
#include "api/launch.h"
#include "api/query.h"
#include "api/requests.h"
#include "net/routes/context.h"
#include "net/routes/guard.h"

namespace errand::net {

void create_attempts(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  std::string key;
  if (call.request().count_header("idempotency-key") > 0) {
    Result<std::string> given = api::parse_idempotency_key(call.request().header("idempotency-key"));
    if (!given) return call.refuse(given.error());
    key = std::move(*given);
  }
  parse_then(context, std::move(call), api::parse_attempts, [&context, key](Call parsed, std::vector<Launch> launches) {
    const Principal& who = parsed.request().who;
    std::vector<NewAttempt> attempts;
    for (Launch& launch : launches) {
      if (refused(parsed, tools::check_launch(launch, rights_of(who)))) return;
      NewAttempt& attempt = attempts.emplace_back();
      if (!key.empty()) {
        // Each is found again by a key of its own.
        attempt.key = key_of(who, key + "#" + std::to_string(attempts.size()));
        attempt.fingerprint = api::fingerprint(launch);
      }
      attempt.launch = std::move(launch);
    }
    attempts_of(context.parts.engine)
        .launch(std::move(attempts), [call = std::move(parsed)](const Result<std::vector<TaskView>>& made) {
          if (!made && made.error().code == Code::conflict && made.error().reason == "idempotency_key")
            return call.exchange->reply(problem(422, "idempotency_key", made.error().message));
          if (!made) return call.refuse(made.error());
          Response response{.status = 201, .body = api::attempts_reply(*made)};
          response.headers.emplace_back("Location", "/api/batches/" + made->front().task.launch.batch_id.value);
          call.exchange->reply(std::move(response));
        });
  });
}

void compare_attempts(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  const BatchId id(call.args[0]);
  attempts_of(context.parts.engine)
      .compare(id, [&context, id, call = std::move(call)](Result<std::vector<ComparedAttempt>> compared) {
        if (!compared) return call.refuse(compared.error());
        // The lists may be long; only their sums are told.
        read_then(
            context, call,
            [id, attempts = std::move(*compared)] { return Result<std::string>(api::compared_reply(id, attempts)); },
            [](const Call& written, std::string body) { written.answer(200, std::move(body)); });
      });
}

void test_attempts(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  Result<Launch> command = api::parse_test(call.request().body);
  if (!command) return call.refuse(command.error());
  const BatchId id(call.args[0]);
  attempts_of(context.parts.engine)
      .test(id, std::move(*command), answering<TestsBegun>(std::move(call), 201, api::tests_reply));
}

void choose_attempt(Context& context, Call call, ChangesAsk merge) {
  if (!call.request().who.task.empty())
    return call.refuse({Code::forbidden, "A person decides what becomes of a task's changes.", "owner_only"});
  if (refused_scope(call, Scope::tasks)) return;
  with_task(context, std::move(call), [&context, merge = std::move(merge)](Call found, TaskId id) mutable {
    attempts_of(context.parts.engine)
        .choose(std::move(id), std::move(merge), [call = std::move(found)](const Result<Chosen>& chosen) {
          if (!chosen) return call.refuse(chosen.error());
          const ChangesAnswer& answer = chosen->merged.answer;
          if (answer.refused) return call.exchange->reply(problem(*answer.refused, answer.files));
          call.answer(200, api::chosen_reply(*chosen));
        });
  });
}

}  // namespace errand::net
