#include "driver/acp/terminals.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "driver/acp/files.h"
#include "driver/run/spawn.h"

namespace errand::acp {
namespace {

constexpr int64_t output_kept = 8LL << 20;  // Of a terminal's log: past it head and tail.
constexpr int64_t given_max = 1 << 20;      // Of its output, in one answer.
constexpr size_t shown_max = 8 * 1024;      // Of it, where people are shown the call.
constexpr size_t words_max = 1'000;

// The last `limit` bytes, from the beginning of a character on. Blocking.
struct Printed {
  std::string text;
  bool truncated = false;
};
Printed read_end(const Result<std::shared_ptr<process::Journal>>& journal, int64_t limit) {
  Printed printed;
  if (!journal) return printed;
  const int64_t size = (*journal)->size();
  const int64_t from = std::max<int64_t>(0, size - limit);
  printed.truncated = from > 0;
  for (int64_t at = from; at < size;) {
    const Result<process::JournalRead> read = (*journal)->read(at, size - at);
    if (!read || read->next <= at) break;
    printed.truncated = printed.truncated || read->cut > 0;
    for (const process::Piece& piece : read->pieces) printed.text += piece.bytes;
    at = read->next;
  }
  printed.text = to_utf8(std::string_view(printed.text)
                             .substr(printed.text.size() - utf8_suffix(printed.text, static_cast<size_t>(limit))));
  return printed;
}

std::string status_of(const process::RunEnd& end) {
  std::string text;
  JsonOut out(text);
  out.object().key("exitCode");
  if (end.signal > 0)
    out.null().field("signal", fmt::format("SIG{}", ::sigabbrev_np(end.signal) ? ::sigabbrev_np(end.signal) : "?"));
  else
    out.value(end.exit_code).key("signal").null();
  out.end();
  return text;
}

}  // namespace

struct Terminals::Terminal final : process::RunListener {
  Terminal(Terminals& terminals, const OpenTerminal& open)
      : terminals(terminals), id(open.id), run(open.run), limit(open.limit) {}

  void output(int64_t /*total*/) override { terminals.parts_.alive(); }
  void used(const process::RunUsage& /*usage*/) override { terminals.parts_.alive(); }
  void ended(const process::RunEnd& how) override {
    end = how;
    terminals.gone(*this);
  }

  Terminals& terminals;
  const std::string id, run;
  const int64_t limit;
  std::optional<process::RunEnd> end;
  std::string last_output;
  std::shared_ptr<char> here = std::make_shared<char>();
};

Terminals::Terminals(Parts parts, std::shared_ptr<const Task> task)
    : parts_(std::move(parts)), task_(std::move(task)) {}

Terminals::~Terminals() {
  for (const auto& [id, terminal] : all_) parts_.supervisor.forget(terminal.get());
  for (const auto& terminal : released_) parts_.supervisor.forget(terminal.get());
}

Result<process::SpawnRequest> Terminals::plan(const TerminalRequest& wanted, std::string run) const {
  if (wanted.command.empty()) return fail(Code::invalid_argument, "The command is empty.");
  if (wanted.args.size() > words_max) return fail(Code::invalid_argument, "The command has too many words.");
  std::vector<std::string> argv = {wanted.command};
  argv.insert(argv.end(), wanted.args.begin(), wanted.args.end());
  // Without words of its own it may be a whole line.
  if (wanted.args.empty()) argv = {"/bin/sh", "-c", wanted.command};
  const std::string folder = wanted.work_dir.empty() ? task_->launch.work_dir : wanted.work_dir;
  if (!is_within(folders_of(task_->launch), folder))
    return fail(Code::forbidden, fmt::format("{} is outside of the task's folders (work_dir and add_dirs).", folder));
  for (const std::string& word : argv)
    if (word.find('\0') != std::string::npos) return fail(Code::invalid_argument, "A word of the command has a NUL.");
  process::SpawnRequest spawn = run::plan_spawn(parts_.options, *task_, std::move(run), std::move(argv)).request;
  spawn.work_dir = folder;
  spawn.timeout_ms = 0;  // It ends with the turn at the latest.
  spawn.output_limit = output_kept;
  for (const auto& [name, value] : wanted.env) {
    if (name.empty() || name.contains('=') || name.contains('\0') || value.contains('\0'))
      return fail(Code::invalid_argument, fmt::format("\"{}\" is no name of a variable.", to_utf8(name)));
    std::string variable = name + "=";
    std::erase_if(spawn.env, [&](const std::string& known) { return known.starts_with(variable); });
    spawn.env.push_back(variable.append(value));
  }
  return spawn;
}

void Terminals::start(const OpenTerminal& open, process::SpawnRequest spawn, std::string request) {
  Terminal& terminal = *(all_[open.id] = std::make_unique<Terminal>(*this, open));
  parts_.supervisor.spawn(std::move(spawn), &terminal,
                          [this, here = std::weak_ptr(terminal.here), &terminal, request](const Status& started) {
                            if (here.expired()) return;
                            std::string line;
                            if (started) {
                              std::string body;
                              JsonOut(body).object().field("terminalId", terminal.id).end();
                              line = result_line(request, body);
                            } else {
                              line = error_line(request, invalid_params, started.error().message);
                              const std::string id = terminal.id;
                              parts_.supervisor.forget(&terminal);
                              all_.erase(id);
                              ended(id);
                            }
                            parts_.answer(request, std::move(line));
                          });
}

void Terminals::take_up(const OpenTerminal& open) {
  Terminal& terminal = *(all_[open.id] = std::make_unique<Terminal>(*this, open));
  parts_.supervisor.attach(
      open.run, &terminal, [here = std::weak_ptr(terminal.here), &terminal](const Result<process::Attached>& attached) {
        if (here.expired() || attached || terminal.end) return;
        // It was never started, or is lost.
        terminal.ended({.how = process::RunEnd::How::lost, .exit_code = 1, .text = attached.error().message});
      });
}

void Terminals::output(const std::string& id, std::string request) {
  const Terminal& terminal = *all_.at(id);
  const int64_t limit = terminal.limit > 0 ? std::min(terminal.limit, given_max) : given_max;
  parts_.files.run(
      [open = parts_.options.open_journal, run = terminal.run, limit] { return read_end(open(run), limit); },
      [this, id, request](Printed printed) {
        std::string body;
        JsonOut out(body);
        out.object().field("output", printed.text).field("truncated", printed.truncated);
        const auto known = all_.find(id);
        if (known != all_.end() && known->second->end) out.key("exitStatus").raw(status_of(*known->second->end));
        out.end();
        if (known != all_.end())
          known->second->last_output = printed.text.substr(printed.text.size() - utf8_suffix(printed.text, shown_max));
        parts_.answer(request, result_line(request, body));
      });
}

bool Terminals::wait(const std::string& id, const std::string& request) {
  const Terminal& terminal = *all_.at(id);
  if (!terminal.end) return false;
  parts_.answer(request, result_line(request, status_of(*terminal.end)));
  return true;
}

void Terminals::kill(const std::string& id) {
  const Terminal& terminal = *all_.at(id);
  if (!terminal.end) parts_.supervisor.stop(terminal.run);
}

void Terminals::release(const std::string& id) {
  const auto known = all_.find(id);
  if (known == all_.end()) return;
  std::unique_ptr<Terminal> terminal = std::move(known->second);
  all_.erase(known);
  if (terminal->end) return parts_.supervisor.release(terminal->run);
  parts_.supervisor.stop(terminal->run);
  released_.push_back(std::move(terminal));
}

void Terminals::gone(Terminal& terminal) {
  const auto released = std::ranges::find_if(released_, [&](const auto& one) { return one.get() == &terminal; });
  if (released != released_.end()) {
    parts_.supervisor.release(terminal.run);
    released_.erase(released);
  } else if (!then_) {
    ended(terminal.id);
  }
  settle();
}

std::string Terminals::exit_status(const std::string& id) const {
  const auto known = all_.find(id);
  return known != all_.end() && known->second->end ? status_of(*known->second->end) : "null";
}

std::string Terminals::last_output(const std::string& id) const {
  const auto known = all_.find(id);
  return known == all_.end() ? std::string() : known->second->last_output;
}

void Terminals::end_all(std::function<void()> then) {
  then_ = std::move(then);
  while (!all_.empty()) release(all_.begin()->first);
  settle();
}

void Terminals::settle() {
  if (then_ && all_.empty() && released_.empty()) std::exchange(then_, nullptr)();
}

void Terminals::drop() {
  then_ = nullptr;
  for (auto& [id, terminal] : all_) released_.push_back(std::move(terminal));
  all_.clear();
  for (const auto& terminal : released_) {
    parts_.supervisor.forget(terminal.get());
    parts_.supervisor.release(terminal->run);  // A live one is stopped first.
  }
  released_.clear();
}

}  // namespace errand::acp
