#include "serve/survey.h"

#include <memory>
#include <utility>

#include <sys/stat.h>

#include "driver/acp/acp_driver.h"
#include "driver/find_program.h"
#include "programs/known.h"

namespace errand::serve {
namespace {

constexpr Millis patience_ms = 500;  // Then what was seen last is told.
constexpr int looks_max = 4;         // At once: where disks hang, no more threads are put behind them.

std::string variable_in(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& variable : environment)
    if (variable.size() > name.size() && variable[name.size()] == '=' && variable.starts_with(name))
      return variable.substr(name.size() + 1);
  return {};
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Survey::Survey(Parts parts) : parts_(std::move(parts)), beside_(&parts_.threads, &parts_.loop) {}

std::optional<Survey::Wanted> Survey::wanted_of(const Agent& agent) {
  if (const auto command = agent.options.find("command"); agent.driver == "acp" && command != agent.options.end())
    if (const Result<std::vector<std::string>> words = acp::command_words(command->second))
      return Wanted{agent.id, words->front()};
  // Also where it is not installed: then it says so.
  if (const programs::Known* const known = programs::find(agent.id)) return Wanted{agent.id, known->program};
  // One of the user's own on the driver of one of them.
  if (const programs::Known* const known = programs::find(agent.driver)) return Wanted{agent.id, known->program};
  return std::nullopt;
}

// Blocking.
Survey::All Survey::look_at(const std::vector<Wanted>& wanted, const Files& known,
                            const std::vector<std::string>& environment) {
  All all;
  for (const Wanted& one : wanted) {
    Seen& seen = all[one.agent];
    File& file = seen.file;
    file.path = one.program.contains('/') ? one.program : find_program(environment, one.program);
    struct stat about = {};
    if (!file.path.empty() && ::stat(file.path.c_str(), &about) != 0) file.path.clear();
    file.changed_ns = int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
    const auto before = known.find(file.path);
    if (before != known.end() && before->second.changed_ns == file.changed_ns)
      file.version = before->second.version;
    else if (!file.path.empty())
      file.version = programs::version_of(file.path);
    const programs::Known* row = programs::find(one.agent);
    for (const programs::Known& other : programs::all())
      if (row == nullptr && file_name(one.program) == other.program) row = &other;
    if (row == nullptr) continue;
    seen.login = programs::login_of(*row, [&](const std::string& name) { return variable_in(environment, name); });
    if (!seen.login.empty() || row->needs_login()) seen.logged_in = !seen.login.empty();
  }
  return all;
}

void Survey::look(const std::vector<Agent>& agents, Done done) {
  std::vector<Wanted> wanted;
  for (const Agent& agent : agents)
    if (std::optional<Wanted> one = wanted_of(agent)) wanted.push_back(std::move(*one));
  // Whichever comes first: what is seen now, or the end of patience.
  struct Waiting {
    explicit Waiting(Timers& timers) : timer(timers) {}
    std::vector<Agent> agents;
    Done done;
    Timer timer;
  };
  auto waiting = std::make_shared<Waiting>(parts_.timers);
  waiting->agents = agents;
  waiting->done = std::move(done);
  const auto tell = [this, waiting] {
    if (waiting->done) std::exchange(waiting->done, nullptr)(answer(waiting->agents));
  };
  if (under_way_ >= looks_max || wanted.empty()) return tell();
  ++under_way_;
  waiting->timer.set(patience_ms, tell);
  Files known;
  for (const auto& [agent, seen] : seen_) known[seen.file.path] = seen.file;
  beside_.run([wanted = std::move(wanted), known = std::move(known),
               environment = parts_.environment] { return look_at(wanted, known, environment); },
              [this, waiting, tell](All all) {
                --under_way_;
                waiting->timer.cancel();
                for (auto& [agent, seen] : all) seen_[agent] = std::move(seen);
                tell();
              });
}

std::vector<std::optional<api::AgentProgram>> Survey::answer(const std::vector<Agent>& agents) const {
  std::vector<std::optional<api::AgentProgram>> programs;
  programs.reserve(agents.size());
  for (const Agent& agent : agents) {
    const std::optional<Wanted> wanted = wanted_of(agent);
    if (!wanted) {
      programs.emplace_back();
      continue;
    }
    const programs::Known* row = programs::find(agent.id);
    if (row == nullptr) row = programs::find(agent.driver);
    api::AgentProgram& program = *programs.emplace_back(api::AgentProgram());
    program.name = row != nullptr ? row->name : file_name(wanted->program);
    if (row != nullptr) program.log_in = row->log_in;
    if (const auto seen = seen_.find(agent.id); seen != seen_.end()) {
      program.path = seen->second.file.path;
      program.version = seen->second.file.version;
      program.logged_in = seen->second.logged_in;
      program.login = seen->second.login;
    }
    const Programs::Seen last = parts_.programs.seen(agent.id);
    // What it says of itself goes before what its folder says.
    if (!last.version.empty()) program.version = last.version;
    program.start_ms = last.start_ms;
    program.memory_bytes = last.memory_bytes;
    program.running = parts_.programs.at_work(agent.id).count;
    const Programs::Sum waiting = parts_.programs.waiting(agent.id);
    program.waiting = waiting.count;
    program.waiting_memory_bytes = waiting.memory_bytes;
  }
  return programs;
}

}  // namespace errand::serve
