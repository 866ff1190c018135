// POST /api/tasks: the launch, from its JSON (spec section 13, "Launch").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fields.h"
#include "base/result.h"
#include "task/message.h"
#include "task/task.h"

namespace errand::api {

// What may be sent at most; the server's own bound on bodies (8 MiB) stands before it.
inline constexpr size_t prompt_bytes_max = 8u << 20;
inline constexpr size_t content_parts_max = 100;

// Strict: see fields.h. Leaves to the engine what needs to know more than the request: whether the agent exists,
// whether its driver can do what is asked, the defaults.
Result<Launch> parse_launch(std::string_view body);

// Everything of it, of an object that may have more: what the request leaves open stays as it is.
void read_launch(Fields& fields, Launch& launch);

// Tells one request from another under the same Idempotency-Key: equal for the same launch, however it was written.
std::string fingerprint(const Launch& launch);

// The parts of it that the agents' tools read by the same rules: each reads its own fields.
void read_command(Fields& fields, Launch& launch);  // command
// work_dir, add_dirs, artifacts. "~" is the server's home folder. A caller that is in the folder `here` may name
// folders relatively to it.
void read_paths(Fields& fields, Launch& launch, const std::string& here = {});
void read_environment(Fields& fields, Launch& launch);  // env, pass_env
void read_batch(Fields& fields, Launch& launch);        // batch_id
void read_labels(Fields& fields, Launch& launch);       // labels
bool is_label(std::string_view name);
inline constexpr const char* label_rule = "must have names of 1 to 100 bytes without a colon";
// idle_timeout_s, on_hang, progress_every_s, retention_s, limits, budget, and the timeout under the name given.
void read_bounds(Fields& fields, Launch& launch, std::string_view timeout_field = "timeout_s");

// permission: one word, or a list of rules. And the objects `limits` and `budget`. Agents have these, too.
void read_permission(Fields& fields, std::optional<Permission>& otherwise, std::vector<PermissionRule>& rules);
void read_limits(Fields& fields, Limits& limits);
void read_budget(Fields& fields, Budget& budget);

// Ids that clients choose themselves (of sessions and batches): they appear in paths and log lines.
bool is_plain_id(std::string_view id);

// `content`: a list of text and file parts, in the place of a plain message. `text` gets the text parts, joined.
struct Content {
  std::string text;
  std::string json;  // As task/json_in.h's encode_parts: what Launch::content and NewMessage::content hold.
};
void read_content(Fields& fields, Content& into);
// `message` or `content`, exactly one of them.
void read_message_or_content(Fields& fields, Content& into);

// Words as a person would type them into a shell.
std::string join_words(const std::vector<std::string>& argv);

}  // namespace errand::api
