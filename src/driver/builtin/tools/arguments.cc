#include "driver/builtin/tools/arguments.h"

#include <boost/json.hpp>

#include "base/escape_filter.h"
#include "base/text.h"

namespace errand::builtin {

Status read_arguments(std::string_view input, const std::function<void(Fields&)>& read) {
  if (input.size() > input_bytes_max)
    return fail(Code::too_large,
                "The arguments are longer than " + std::to_string(input_bytes_max) + " bytes; do it in several calls.");
  const Result<Document> document = Document::parse_or_empty(input);
  if (!document) return fail(Code::invalid_argument, "The arguments are not valid JSON: " + document.error().message);
  if (!document->value().is_object())
    return fail(Code::invalid_argument, "The arguments must be a JSON object, as the tool's schema says.");
  Fields fields(document->value());
  read(fields);
  return fields.done();
}

void require(Fields& fields, std::string_view name) {
  if (!fields.has(name) && !fields.failed()) fields.refuse(name, "must be given", "missing");
}

std::string short_line(std::string_view text, size_t characters) {
  const std::string line = one_line(text.substr(0, utf8_prefix(text, 4 * characters + 64)));
  const std::string_view head = first_characters(line, characters);
  return head.size() == line.size() ? line : std::string(head) + "…";
}

}  // namespace errand::builtin
