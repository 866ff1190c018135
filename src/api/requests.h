// The other requests with a body, as plain structs, and their reading from JSON. Strict: see fields.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/tasks.h"
#include "task/decide.h"
#include "task/message.h"

namespace errand::api {

// POST .../message {message | content, when?} and POST .../resume {message | content}.
Result<NewMessage> parse_message(std::string_view body);
Result<NewMessage> parse_resume(std::string_view body);
// POST .../retry {message? | content?}: an empty body is an empty request.
Result<std::optional<NewMessage>> parse_retry(std::string_view body);
// POST .../answer {request_id, decision, message?, scope?, pattern?} or {request_id, answer}. `by` is the caller's
// business.
Result<input::Answered> parse_answer(std::string_view body);
// PATCH /api/tasks/{id} {title?, labels?, pinned?, archived?}: at least one. A label that is null is removed.
Result<input::Edit> parse_edit(std::string_view body);
// POST /api/tasks/clear {task_id? | batch_id? | parent_session_id?}: at most one; none is every task that has ended.
Result<Tasks::Scope> parse_clear(std::string_view body);
// POST /api/sessions {id?, title?}.
Result<Session> parse_session(std::string_view body);
// A body that must say nothing: POST .../cancel.
Status parse_nothing(std::string_view body);

// Idempotency-Key: a structured-field string in quotes, or the bare text. 1 to 200 printable characters.
Result<std::string> parse_idempotency_key(std::string_view header);

}  // namespace errand::api
