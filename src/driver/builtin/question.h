// ask_user: the loop's own tool, a question to a person. It runs nowhere: the task waits for the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "task/agent.h"

namespace errand::builtin {

inline constexpr std::string_view question_tool = "ask_user";

const model::ToolSpec& question_spec();
// Where an agent names its tools, it has this one only if it names it.
bool asks_allowed(const Agent& agent);

struct Question {
  std::string text;
  std::vector<std::string> options;
};
// An error is a wrong call, told to the model.
Result<Question> parse_question(std::string_view input);

}  // namespace errand::builtin
