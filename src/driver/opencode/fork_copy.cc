#include "driver/opencode/fork_copy.h"

#include <algorithm>

#include <fmt/format.h>

namespace errand::opencode {

namespace {

constexpr size_t edits_at_once = 8;
constexpr int64_t session_bytes_max = 256 << 20;

// How many messages of a conversation there are up to `last`; without one, all.
Result<size_t> count_up_to(std::string_view conversation, const MessageId& last) {
  const Result<std::vector<MessageSeen>> messages = parse_messages(conversation);
  if (!messages) return std::unexpected(messages.error());
  if (last.empty()) return messages->size();
  const auto found =
      std::ranges::find(*messages, last.value, [](const MessageSeen& message) { return message.info.id; });
  if (found == messages->end()) return fail(Code::not_found, fmt::format("It has no message {}.", last.value));
  return static_cast<size_t>(found - messages->begin()) + 1;
}

}  // namespace

ForkCopy::ForkCopy(Server& server, std::shared_ptr<const Task> task, const fork::Limits& limits, Copied copied,
                   Done done)
    : server_(server),
      task_(std::move(task)),
      limits_(limits),
      copied_(std::move(copied)),
      done_(std::move(done)),
      calls_(server.parts().http),
      beside_(server.parts().background, server.parts().engine) {
  // Up to where it goes is seen in the parent: in the copy the ids are others.
  const Launch& launch = task_->launch;
  http::Request read = server_.request(
      "GET",
      fmt::format("/session/{}/message{}", url_encode(launch.parent_session_id.value), in_directory(launch.work_dir)));
  read.body_max = session_bytes_max;
  step(std::move(read), [this](std::string body) {
    beside_.run([body = std::move(body), last = task_->launch.parent_message_id] { return count_up_to(body, last); },
                [this](const Result<size_t>& keep) { keep ? copy(*keep) : fail_with(keep.error().message); });
  });
}

std::string ForkCopy::at_copy(std::string_view path) const {
  return fmt::format("/session/{}{}{}", copy_, path, in_directory(task_->launch.work_dir));
}

void ForkCopy::abandon() {
  calls_.clear();
  beside_.clear();
  if (!copy_.empty()) server_.send(server_.request("DELETE", at_copy("")));
  copy_.clear();
}

void ForkCopy::fail_with(const std::string& why) {
  abandon();
  Done done = std::move(done_);
  done(fail(Code::unavailable, "The parent's conversation could not be taken over: " + why, "fork_failed"));
}

void ForkCopy::step(http::Request request, Then then) {
  calls_.start(std::move(request), [this, then = std::move(then)](Result<Reply> reply) mutable {
    if (!reply) return fail_with(reply.error().message);
    if (reply->status >= 300) return fail_with(error_text(reply->status, reply->body));
    then(std::move(reply->body));
  });
}

void ForkCopy::copy(size_t keep) {
  const Launch& launch = task_->launch;
  const std::string where =
      fmt::format("/session/{}/fork{}", url_encode(launch.parent_session_id.value), in_directory(launch.work_dir));
  step(server_.request("POST", where, "{}"), [this, keep](const std::string& made) {
    copy_ = text_field(made, "id");
    if (copy_.empty()) return fail_with("OpenCode did not say how the copy is called.");
    copied_(copy_);
    // Named after the task, and no longer after whatever it was copied from.
    step(server_.request("PATCH", at_copy(""), session_body(task_->title, task_->id)),
         [this, keep](const std::string&) {
           http::Request read = server_.request("GET", at_copy("/message"));
           read.body_max = session_bytes_max;
           step(std::move(read), [this, keep](std::string body) { plan(std::move(body), keep); });
         });
  });
}

void ForkCopy::plan(std::string body, size_t keep) {
  beside_.run(
      [body = std::move(body), keep, task = task_, limits = limits_]() -> Result<ForkPlan> {
        const Result<std::vector<MessageSeen>> copy = parse_messages(body);
        if (!copy) return std::unexpected(copy.error());
        if (copy->size() < keep) return fail(Code::unavailable, "OpenCode did not copy all of it.");
        return plan_fork(*copy, keep, {task->id, task->launch.prompt}, limits);
      },
      [this](Result<ForkPlan> plan) {
        if (!plan) return fail_with(plan.error().message);
        plan_ = std::move(*plan);
        edit();
      });
}

void ForkCopy::edit() {
  if (next_edit_ == plan_.edits.size() && under_way_ == 0) return put_preamble();
  while (next_edit_ < plan_.edits.size() && under_way_ < edits_at_once) {
    Edit& edit = plan_.edits[next_edit_++];
    ++under_way_;
    step(server_.request(edit.method, at_copy("/message/" + edit.path), std::move(edit.body)),
         [this](const std::string&) {
           --under_way_;
           this->edit();
         });
  }
}

void ForkCopy::put_preamble() {
  const Prompt prompt{.text = plan_.preamble, .model = plan_.model, .agent = plan_.agent, .no_reply = true};
  step(server_.request("POST", at_copy("/message"), prompt_body(prompt)), [this](const std::string&) {
    Done done = std::move(done_);
    done(Made{std::move(copy_), std::move(plan_.preamble), plan_.messages_kept});
  });
}

}  // namespace errand::opencode
