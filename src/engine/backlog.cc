#include "engine/backlog.h"

namespace errand {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

size_t weight_of(const std::vector<Part>& parts) {
  size_t bytes = parts.size() * sizeof(Part);
  for (const Part& part : parts)
    bytes += part.text.size() + part.name.size() + part.input.size() + part.url.size() + part.opaque.size();
  return bytes;
}

}  // namespace

size_t weight(const Report& report) {
  const size_t held = std::visit(
      Overloaded{
          [](const report::Text& text) { return text.text.size(); },
          [](const report::Opaque& opaque) { return opaque.data.size(); },
          [](const report::ToolStarted& call) { return call.input.size() + call.summary.size() + call.name.size(); },
          [](const report::ToolCompleted& done) { return done.output.size(); },
          [](const report::SystemMessage& message) { return weight_of(message.parts); },
          [](const report::Output& output) { return output.text.size(); },
          [](const report::Warning& warning) { return warning.text.size(); },
          [](const report::Asks& asks) { return asks.text.size() + asks.subject.size() + asks.diff.size(); },
          [](const report::Match& match) { return match.line.size(); },
          [](const auto&) { return size_t{0}; },
      },
      report);
  return held + sizeof(Report);
}

size_t weight(const std::vector<Report>& reports) {
  size_t bytes = 0;
  for (const Report& report : reports) bytes += weight(report);
  return bytes;
}

size_t weight(const Message& message) { return sizeof(Message) + weight_of(message.parts); }

size_t weight(const std::unordered_map<MessageId, Message>& messages) {
  size_t bytes = 0;
  for (const auto& [id, message] : messages) bytes += weight(message);
  return bytes;
}

size_t weight(const Launch& launch) {
  size_t bytes = sizeof(Launch) + launch.prompt.size() + launch.content.size() + launch.command.size();
  for (const std::string& word : launch.argv) bytes += word.size();
  for (const auto& [name, value] : launch.env) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace errand
