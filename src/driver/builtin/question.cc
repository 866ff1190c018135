#include "driver/builtin/question.h"

#include <algorithm>

#include "base/fields.h"

namespace errand::builtin {

const model::ToolSpec& question_spec() {
  static const model::ToolSpec spec{
      .name = std::string(question_tool),
      .description =
          "Asks a person a question and waits for the answer, which may take long. Only for what you cannot "
          "find out yourself and what changes the outcome. Give options where there are some to choose from.",
      .input_schema = R"({"type":"object","properties":{)"
                      R"("question":{"type":"string","description":"One question, with what is needed to answer it."},)"
                      R"("options":{"type":"array","items":{"type":"string"},"maxItems":10,)"
                      R"("description":"Answers to choose from; the person may still write another."}},)"
                      R"("required":["question"],"additionalProperties":false})"};
  return spec;
}

bool asks_allowed(const Agent& agent) {
  return agent.tools.empty() || std::ranges::find(agent.tools, question_tool) != agent.tools.end();
}

Result<Question> parse_question(std::string_view input) {
  const Result<Document> document = Document::parse_or_empty(input);
  if (!document) return std::unexpected(document.error());
  Question question;
  Fields fields(document->value());
  fields.text("question", question.text, {.bytes_max = 16 * 1024});
  fields.texts("options", question.options, 10, {.bytes_max = 1'000});
  if (Status status = fields.done(); !status) return std::unexpected(status.error());
  if (question.text.empty()) return fail(Code::invalid_argument, "`question` must be given: what do you want to know?");
  return question;
}

}  // namespace errand::builtin
