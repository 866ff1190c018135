// How long it takes to prepare a fork, beside what the same bytes cost to copy and to check for UTF-8.
//
//   fork_bench [messages] [megabytes]     10,000 and 50 unless said
//
// The goal: 10,000 messages with 50 MB in under 100 ms.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "fork/fork.h"
#include "fork/tokens.h"

namespace errand {
namespace {

using Clock = std::chrono::steady_clock;

template <class F>
double milliseconds(F work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Words, code, Chinese and base64 by turns.
std::string some_text(SeededRandom& random, size_t bytes) {
  static const std::vector<std::string> pieces = {"the server keeps every message ",
                                                  "if (at != end) return fail(Code::x);\n", "后台任务继续运行，",
                                                  "QmFzZTY0IGlzIG5v", "2026-01-01T00:00:00Z INFO "};
  std::string out;
  const std::string& mostly = pieces[random.below(pieces.size())];
  while (out.size() < bytes) out += random.one_in(8) ? pieces[random.below(pieces.size())] : mostly;
  return out;
}

std::vector<Message> conversation(int messages, size_t bytes) {
  SeededRandom random(1);
  std::vector<Message> history(static_cast<size_t>(messages));
  const size_t each = bytes / history.size();
  for (size_t i = 0; i < history.size(); ++i) {
    Message& message = history[i];
    message.id = MessageId(fmt::format("msg_{:026}", i));
    message.role = i % 2 == 0 ? Role::user : Role::assistant;
    const std::string id = fmt::format("toolu_{:024}", i);
    message.parts.push_back({.type = PartType::text, .text = some_text(random, each / 4)});
    if (message.role == Role::user) continue;
    message.parts.push_back(
        {.type = PartType::tool_call, .call_id = id, .name = "bash", .input = R"({"command":"make"})"});
    message.parts.push_back({.type = PartType::tool_result, .text = some_text(random, each + each / 2), .call_id = id});
  }
  return history;
}

void run(int messages, size_t bytes) {
  const std::vector<Message> history = conversation(messages, bytes);
  std::vector<const std::string*> texts;
  size_t total = 0;
  for (const Message& message : history)
    for (const Part& part : message.parts) texts.push_back(&part.text), total += part.text.size();
  std::string room(total, '\0');
  const double copied = milliseconds([&] {
    char* at = room.data();
    for (const std::string* text : texts)
      at = static_cast<char*>(std::memcpy(at, text->data(), text->size())) + text->size();
  });
  bool valid = true;
  const double checked = milliseconds([&] {
    for (const std::string* text : texts) valid = is_utf8(*text) && valid;
  });
  int64_t tokens = 0;
  const double estimated = milliseconds([&] {
    for (const std::string* text : texts) tokens += estimate_tokens(*text);
  });
  fmt::print("{} messages, {:.1f} MB, valid {}\n", messages, static_cast<double>(total) / 1e6, valid);
  fmt::print("copy                     {:8.2f} ms\n", copied);
  fmt::print("check for UTF-8          {:8.2f} ms\n", checked);
  fmt::print("estimate all, {:9} tokens {:6.2f} ms, {:.2f} of the check\n", tokens, estimated, estimated / checked);
  for (const auto& [what, limits] : std::vector<std::pair<const char*, fork::Limits>>{
           {"plain", {}},
           {"tiered", {.profile = fork::Profile::tiered}},
           {"plain, all kept", {.tool_result_chars = 1 << 30, .tokens = int64_t{1} << 40}}}) {
    double best = 1e9;
    Result<fork::Prepared> prepared;
    for (int i = 0; i < 5; ++i) {
      std::vector<Message> copy = history;
      best = std::min(best, milliseconds([&] { prepared = fork::prepare(std::move(copy), {}, {}, limits); }));
    }
    fmt::print("prepare, {:16} {:7.2f} ms, {:.2f} of the copy, {:.2f} of the check; {} messages kept, {} tokens\n",
               what, best, best / copied, best / checked, prepared->messages.size(), prepared->tokens);
  }
}

}  // namespace
}  // namespace errand

int main(int argc, char** argv) {
  const int messages = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const int megabytes = argc > 2 ? std::atoi(argv[2]) : 50;
  if (messages < 1 || megabytes < 1) return 2;
  errand::run(messages, static_cast<size_t>(megabytes) * 1'000'000);
}
