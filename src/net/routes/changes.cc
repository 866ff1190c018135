// What a task changed, and what becomes of it (R16): the engine asks whoever keeps it.
#include "api/changes.h"

#include "api/attempts.h"
#include "files/beneath.h"
#include "net/routes/attempts.h"
#include "net/routes/context.h"
#include "net/routes/file_stream.h"

namespace errand::net {
namespace {

// Answers the refusal of whoever keeps the changes, with the files that it names.
bool refused(const Call& call, const ChangesAnswer& answer) {
  if (!answer.refused) return false;
  call.exchange->reply(problem(*answer.refused, answer.files));
  return true;
}

void ask(Context& context, Call call, ChangesAsk order, std::move_only_function<void(Call, ChangesReply)> then) {
  // What goes into the user's branch is decided by a person: the agents that made it are held to their permissions.
  if (order.decides() && !call.request().who.task.empty())
    return call.refuse({Code::forbidden, "A person decides what becomes of a task's changes.", "owner_only"});
  with_task(context, std::move(call),
            [&context, order = std::move(order), then = std::move(then)](Call found, TaskId id) mutable {
              context.parts.engine.changes().ask(
                  std::move(id), std::move(order),
                  [call = std::move(found), then = std::move(then)](Result<ChangesReply> reply) mutable {
                    if (!reply) return call.refuse(reply.error());
                    if (refused(call, reply->answer)) return;
                    then(std::move(call), std::move(*reply));
                  });
            });
}

// The whole of it, as `git apply` takes it: bytes of somebody else's files, never a page of ours.
void send_patch(Context& context, Call call, const ChangesReply& reply) {
  Result<std::string> name = api::patch_file(reply.answer.reply);
  if (!name) return call.refuse(name.error());
  const std::string folder = context.parts.data_dir + "/changes/tasks/" + reply.view.task.id.value;
  const std::string shown = reply.view.task.id.value + ".patch";
  read_then(
      context, std::move(call),
      [folder, name = *name]() -> Result<std::shared_ptr<files::File>> {
        Result<files::Root> root = files::Root::open(folder);
        if (!root) return std::unexpected(root.error());
        Result<files::File> file = root->open_file(name);
        if (!file) return std::unexpected(file.error());
        return std::make_shared<files::File>(std::move(*file));
      },
      [&context, shown](const Call& opened, const std::shared_ptr<files::File>& file) {
        Response head{.status = 200, .content_type = "text/plain; charset=utf-8", .body = {}, .headers = {}};
        head.headers = {{"Content-Disposition", "inline; filename=\"" + shown + "\""},
                        {"Content-Security-Policy", "sandbox; default-src 'none'"},
                        {"Cross-Origin-Resource-Policy", "same-origin"}};
        const int64_t size = file->size;
        opened.exchange->stream(std::move(head), std::make_unique<FileStream>(context, std::move(*file), 0, size));
      });
}

// Something that is decided about a task's changes, without a body to say more.
void decide_plainly(Context& context, Call call, const char* order) {
  Status status = api::parse_no_query(call.request().query);
  if (status) status = api::parse_nothing(call.request().body);
  if (!status) return call.refuse(status.error());
  ask(context, std::move(call), {.order = order},
      [](const Call& done, const ChangesReply& reply) { done.answer(200, api::task_reply(reply.view)); });
}

}  // namespace

void task_changes(Context& context, Call call) {
  Result<bool> patch = api::parse_changes_query(call.request().query);
  if (!patch) return call.refuse(patch.error());
  if (*patch)
    return ask(context, std::move(call), {.order = "patch"},
               [&context](Call done, const ChangesReply& reply) { send_patch(context, std::move(done), reply); });
  ask(context, std::move(call), {.order = "list"},
      [](const Call& done, const ChangesReply& reply) { done.answer(200, api::changes_reply(reply)); });
}

void task_change(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  std::string path = call.args[1];
  ask(context, std::move(call), {.order = "file", .path = std::move(path)},
      [](const Call& done, ChangesReply reply) { done.answer(200, std::move(reply.answer.reply)); });
}

void merge_changes(Context& context, Call call) {
  Result<api::MergeRequest> asked = api::parse_merge(call.request().body);
  if (!asked) return call.refuse(asked.error());
  if (asked->discard_others) return choose_attempt(context, std::move(call), std::move(asked->merge));
  ask(context, std::move(call), std::move(asked->merge),
      [](const Call& done, const ChangesReply& reply) { done.answer(200, api::merge_reply(reply)); });
}

void publish_changes(Context& context, Call call) {
  Result<ChangesAsk> order = api::parse_publish(call.request().body);
  if (!order) return call.refuse(order.error());
  ask(context, std::move(call), std::move(*order),
      [](const Call& done, const ChangesReply& reply) { done.answer(200, api::published_reply(reply)); });
}

void commit_text(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  with_record(context, std::move(call),
              [](const Call& found, const Task& task) { found.answer(200, api::commit_text_reply(task)); });
}

// One more message to the agent: what it answers is the text then (task/commit_text.h).
void ask_commit_text(Context& context, Call call) {
  Status status = api::parse_no_query(call.request().query);
  if (status) status = api::parse_nothing(call.request().body);
  if (!status) return call.refuse(status.error());
  with_record(context, std::move(call), [&context](Call found, const Task& task) {
    if (task.launch.kind != TaskKind::agent)
      return found.refuse(
          {Code::conflict, "A command writes no text; give the commit's message yourself.", "no_agent"});
    context.parts.engine.tasks().resume(task.id, {.text = std::string(commit_request())},
                                        answering<MessageTaken>(std::move(found), 202, api::message_taken_reply));
  });
}

void undo_merge(Context& context, Call call) { decide_plainly(context, std::move(call), "undo"); }
void discard_changes(Context& context, Call call) { decide_plainly(context, std::move(call), "discard"); }
void restore_changes(Context& context, Call call) { decide_plainly(context, std::move(call), "restore"); }

}  // namespace errand::net
