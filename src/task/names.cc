// The wire names of the enumerators, each spelled once: parsing walks the same names.
#include <optional>
#include <string_view>
#include <utility>

#include "task/decide.h"
#include "task/event.h"
#include "task/message.h"
#include "task/notice.h"
#include "task/task.h"
#include "task/usage.h"

namespace errand {
namespace {

// The enumerator up to `last` whose name is `text`.
template <class E>
std::optional<E> parse_name(std::string_view text, E last) {
  for (int i = 0; i <= std::to_underlying(last); ++i) {
    const auto candidate = static_cast<E>(i);
    if (name(candidate) == text) return candidate;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(TaskState state) {
  switch (state) {
    case TaskState::pending:
      return "pending";
    case TaskState::running:
      return "running";
    case TaskState::completed:
      return "completed";
    case TaskState::failed:
      return "failed";
    case TaskState::cancelled:
      return "cancelled";
    case TaskState::resumed:
      return "resumed";
  }
  std::unreachable();
}

std::string_view name(TaskKind kind) {
  switch (kind) {
    case TaskKind::agent:
      return "agent";
    case TaskKind::command:
      return "command";
  }
  std::unreachable();
}

std::string_view name(TurnPhase phase) {
  switch (phase) {
    case TurnPhase::queued:
      return "queued";
    case TurnPhase::working:
      return "working";
    case TurnPhase::ended:
      return "ended";
  }
  std::unreachable();
}

std::string_view name(OnHang policy) {
  switch (policy) {
    case OnHang::fail:
      return "fail";
    case OnHang::restart:
      return "restart";
  }
  std::unreachable();
}

std::string_view name(Permission permission) {
  switch (permission) {
    case Permission::ask:
      return "ask";
    case Permission::allow:
      return "allow";
    case Permission::deny:
      return "deny";
  }
  std::unreachable();
}

std::string_view name(Sandbox level) {
  switch (level) {
    case Sandbox::off:
      return "off";
    case Sandbox::workspace:
      return "workspace";
    case Sandbox::strict:
      return "strict";
  }
  std::unreachable();
}

std::string_view name(PriceSource source) {
  switch (source) {
    case PriceSource::unknown:
      return "unknown";
    case PriceSource::provider:
      return "provider";
    case PriceSource::table:
      return "table";
    case PriceSource::setting:
      return "setting";
    case PriceSource::agent:
      return "agent";
  }
  return "unknown";
}

std::string_view name(UsageBy by) {
  switch (by) {
    case UsageBy::day:
      return "day";
    case UsageBy::model:
      return "model";
    case UsageBy::agent:
      return "agent";
    case UsageBy::folder:
      return "folder";
  }
  return "day";
}

std::string_view name(Surface surface) {
  switch (surface) {
    case Surface::rest:
      return "rest";
    case Surface::cli:
      return "cli";
    case Surface::page:
      return "page";
    case Surface::tools:
      return "tools";
  }
  std::unreachable();
}

std::string_view timeout_option(Surface surface) {
  switch (surface) {
    case Surface::rest:
      return "timeout_s";
    case Surface::cli:
      return "--timeout";
    case Surface::page:
      return "\"Time limit\" in its options";
    case Surface::tools:
      return "timeout";
  }
  std::unreachable();
}

std::string_view name(AnswerScope scope) {
  switch (scope) {
    case AnswerScope::once:
      return "once";
    case AnswerScope::call:
      return "call";
    case AnswerScope::pattern:
      return "pattern";
    case AnswerScope::task:
      return "task";
    case AnswerScope::agent:
      return "agent";
  }
  std::unreachable();
}

std::string_view name(WaitKind kind) { return kind == WaitKind::quota ? "quota" : "children"; }
std::optional<WaitKind> parse_wait_kind(std::string_view text) {
  if (text == "quota") return WaitKind::quota;
  if (text == "children") return WaitKind::children;
  return std::nullopt;
}

std::string_view name(AskKind kind) {
  switch (kind) {
    case AskKind::permission:
      return "permission";
    case AskKind::answer:
      return "answer";
  }
  std::unreachable();
}

std::string_view name(WaitingMessage::When when) {
  switch (when) {
    case WaitingMessage::When::steer:
      return "steer";
    case WaitingMessage::When::queue:
      return "queue";
    case WaitingMessage::When::interrupt:
      return "interrupt";
  }
  std::unreachable();
}

std::string_view name(EventType type) {
  switch (type) {
    case EventType::task_created:
      return "task.created";
    case EventType::task_status:
      return "task.status";
    case EventType::task_progress:
      return "task.progress";
    case EventType::task_warning:
      return "task.warning";
    case EventType::task_match:
      return "task.match";
    case EventType::message_created:
      return "message.created";
    case EventType::message_delta:
      return "message.delta";
    case EventType::message_completed:
      return "message.completed";
    case EventType::tool_started:
      return "tool.started";
    case EventType::tool_completed:
      return "tool.completed";
    case EventType::output:
      return "output";
    case EventType::ask_created:
      return "ask.created";
    case EventType::ask_answered:
      return "ask.answered";
    case EventType::notice_created:
      return "notice.created";
    case EventType::notice_taken:
      return "notice.taken";
    case EventType::end:
      return "end";
  }
  std::unreachable();
}

std::string_view name(Role role) {
  switch (role) {
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::system:
      return "system";
  }
  std::unreachable();
}

std::string_view name(PartType type) {
  switch (type) {
    case PartType::text:
      return "text";
    case PartType::reasoning:
      return "reasoning";
    case PartType::tool_call:
      return "tool_call";
    case PartType::tool_result:
      return "tool_result";
    case PartType::file:
      return "file";
    case PartType::notice:
      return "notice";
  }
  std::unreachable();
}

std::string_view name(NoticeKind kind) {
  switch (kind) {
    case NoticeKind::turn_ended:
      return "turn_ended";
    case NoticeKind::batch_ended:
      return "batch_ended";
    case NoticeKind::ask:
      return "ask";
    case NoticeKind::match:
      return "match";
    case NoticeKind::progress:
      return "progress";
  }
  std::unreachable();
}

std::string_view name(Isolate isolate) {
  switch (isolate) {
    case Isolate::unset:
      return "unset";
    case Isolate::none:
      return "none";
    case Isolate::worktree:
      return "worktree";
  }
  std::unreachable();
}

std::string_view name(IsolateBase base) {
  switch (base) {
    case IsolateBase::unset:
      return "unset";
    case IsolateBase::head:
      return "head";
    case IsolateBase::dirty:
      return "dirty";
  }
  std::unreachable();
}

std::optional<TaskState> parse_task_state(std::string_view text) { return parse_name(text, TaskState::resumed); }
std::optional<TaskKind> parse_task_kind(std::string_view text) { return parse_name(text, TaskKind::command); }
std::optional<OnHang> parse_on_hang(std::string_view text) { return parse_name(text, OnHang::restart); }
std::optional<Permission> parse_permission(std::string_view text) { return parse_name(text, Permission::deny); }
std::optional<Sandbox> parse_sandbox(std::string_view text) { return parse_name(text, Sandbox::strict); }
std::optional<Isolate> parse_isolate(std::string_view text) {
  const std::optional<Isolate> found = parse_name(text, Isolate::worktree);
  return found == Isolate::unset ? std::nullopt : found;
}
std::optional<IsolateBase> parse_isolate_base(std::string_view text) {
  const std::optional<IsolateBase> found = parse_name(text, IsolateBase::dirty);
  return found == IsolateBase::unset ? std::nullopt : found;
}
std::optional<UsageBy> parse_usage_by(std::string_view text) { return parse_name(text, UsageBy::folder); }
std::optional<Surface> parse_surface(std::string_view text) { return parse_name(text, Surface::tools); }
std::optional<AnswerScope> parse_answer_scope(std::string_view text) { return parse_name(text, AnswerScope::agent); }
std::optional<AskKind> parse_ask_kind(std::string_view text) { return parse_name(text, AskKind::answer); }
std::optional<WaitingMessage::When> parse_when(std::string_view text) {
  return parse_name(text, WaitingMessage::When::interrupt);
}
std::optional<EventType> parse_event_type(std::string_view text) { return parse_name(text, EventType::end); }
std::optional<Role> parse_role(std::string_view text) { return parse_name(text, Role::system); }
std::optional<PartType> parse_part_type(std::string_view text) { return parse_name(text, PartType::notice); }
std::optional<NoticeKind> parse_notice_kind(std::string_view text) { return parse_name(text, NoticeKind::progress); }

}  // namespace errand
