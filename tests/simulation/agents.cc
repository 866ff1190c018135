#include "tests/simulation/agents.h"

#include <charconv>

#include <fmt/format.h>

namespace errand::sim {
namespace {

// FNV-1a: the same on every machine, unlike std::hash.
uint64_t hash_of(uint64_t seed, std::string_view text) {
  uint64_t hash = 14695981039346656037ull ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

void add_step(fake::Script& script, SeededRandom& random, int number) {
  const auto ms = [&](uint64_t most) { return static_cast<Millis>(random.below(most)); };
  switch (random.below(15)) {
    case 12:
      script.blocked(WaitKind::quota, "A usage limit.", ms(20'000));
      break;
    case 13:
      script.blocked(WaitKind::children, "Its tasks.", ms(20'000));
      break;
    case 14:
      script.system("What came before was cut.");
      break;
    case 0:
      script.say(fmt::format("Step {}. ", number));
      break;
    case 1:
      script.stream("Streamed text, 中文 too, which takes a while. ", 1 + random.below(9), ms(400));
      break;
    case 2:
      script.tool({.name = "read", .summary = "a.txt", .output = "contents", .ms = ms(2'000)});
      break;
    case 3:
      script.ask(fmt::format("q{}", number), "Which one?", {"a", "b"});
      break;
    case 4:
      script.ask_permission(fmt::format("p{}", number), "May I?", "bash", "make");
      break;
    case 5:
      script.wait(ms(20'000));
      break;
    case 6:
      script.silent(ms(30'000));
      break;
    case 7:
      script.repeat("again {n} ", static_cast<int64_t>(1 + random.below(20)), ms(100));
      break;
    case 8:
      script.think("Hm. ").use({.input_tokens = 10, .output_tokens = 5, .cost_usd = 0.01});
      break;
    case 9:
      script.warn("note", "Something to know.").session(fmt::format("agent_session_{}", number));
      break;
    case 10:
      script.end_message();
      break;
    default:
      script.tool({.name = "edit", .summary = "b.txt", .output = "no such file", .is_error = true, .ms = 1});
      break;
  }
}

}  // namespace

std::string mark(int number) { return fmt::format("#{}#", number); }

std::vector<int> marks_in(std::string_view text) {
  std::vector<int> out;
  for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    int number = 0;
    const char* const first = text.data() + at + 1;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), number);
    if (error != std::errc{} || end == text.data() + text.size() || *end != '#') continue;
    out.push_back(number);
    at = static_cast<size_t>(end - text.data());
  }
  return out;
}

fake::Script script_for(uint64_t seed, const fake::Prompt& prompt) {
  SeededRandom random(hash_of(seed, prompt.text));
  fake::Script script;
  script.say("Asked for " + prompt.text + ". ");
  const int steps = static_cast<int>(random.below(5));
  for (int i = 0; i < steps; ++i) add_step(script, random, i);
  switch (random.below(8)) {
    case 0:
      script.fail("agent_error", "It could not be done.");
      break;
    case 1:
      if (random.one_in(3)) script.hang();
      break;
    case 2:
      script.finish("A result of its own.");
      break;
    default:
      break;
  }
  return script;
}

fake::Misbehaviour misbehaviour_of(uint64_t seed, const TaskId& task, int run, uint64_t one_in) {
  if (one_in == 0) return {};
  SeededRandom random(hash_of(seed, fmt::format("{}.{}", task.value, run)));
  return fake::random_misbehaviour(random, one_in);
}

}  // namespace errand::sim
