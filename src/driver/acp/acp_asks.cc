// What an agent asks of its client: leave to do something, files, and terminals.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/acp/acp_turn.h"
#include "driver/acp/files.h"
#include "driver/run_name.h"

namespace errand::acp {

namespace {

constexpr size_t asks_max = 100;               // Open at once, of one turn.
constexpr size_t kept_answer_max = 16 * 1024;  // Of an answer with a file, in the checkpoint.

std::string try_again(std::string_view id) {
  return error_line(id, -32603, "errand was restarted before it could answer; ask again.");
}

}  // namespace

void AcpTurn::ask(const Incoming& in, std::vector<Report>& out) {
  if (stopping_ || state_.phase != Phase::prompting || state_.asks.size() >= asks_max)
    return put(permission_line(in.id, ""));
  const ToolCall& call = in.update.call;
  state_.translator.take_asked(call, out);
  PermissionView view = permission_view(agent_name(), request_.task->launch.work_dir, call);
  // Where it offers more than yes and no, whoever is asked may name one in his answer.
  if (in.options.size() > 3) {
    view.text += "\nIt offers:";
    for (const Option& option : in.options) view.text += fmt::format("\n- {}", option.name);
  }
  OpenAsk open{.request_id = fmt::format("acp_{}_{}", request_.task->run, ++state_.asked),
               .rpc_id = in.id,
               .call_id = call.id,
               .options = in.options};
  out.emplace_back(report::Asks{.request_id = open.request_id,
                                .kind = AskKind::permission,
                                .text = std::move(view.text),
                                .options = {},
                                .tool = std::move(view.tool),
                                .subject = std::move(view.subject),
                                .work_dir = std::move(view.work_dir),
                                .diff = std::move(view.diff),
                                .reads = view.reads});
  state_.asks.push_back(std::move(open));
}

void AcpTurn::answer(const std::string& request_id, const std::string& decision, const std::string& message) {
  if (over_) return;
  if (!started_) {
    decided_[request_id] = {decision, message};
    return;
  }
  give(request_id, decision, message);
  tell({});
}

// A request that is not open was answered before.
void AcpTurn::give(const std::string& request_id, const std::string& decision, const std::string& word) {
  const auto open = std::ranges::find(state_.asks, request_id, &OpenAsk::request_id);
  if (open == state_.asks.end()) return;
  const OpenAsk asked = std::move(*open);
  state_.asks.erase(open);
  if (decision == "deny") state_.translator.take_denied(asked.call_id);
  put(permission_line(asked.rpc_id, option_for(asked.options, decision, word)));
}

// What was being served when the server died: nobody knows how far it came.
void AcpTurn::answer_served() {
  for (const std::string& id : std::exchange(state_.serving, {})) put(try_again(id));
}

void AcpTurn::serve_file(const Incoming& in) {
  if (state_.serving.size() >= asks_max)
    return put(error_line(in.id, invalid_params, "Too many files are asked for at once; wait for the answers."));
  std::vector<std::string> folders = folders_of(request_.task->launch);
  state_.serving.push_back(in.id);
  const bool writes = in.kind == Incoming::Kind::write_file;
  files_.run(
      [folders = std::move(folders), file = in.file, id = in.id, writes] {
        Result<std::string> body = std::string("null");
        if (writes) {
          if (const Status written = write_text(folders, file); !written) body = std::unexpected(written.error());
        } else {
          body = read_text(folders, file);
        }
        if (body) return result_line(id, *body);
        return error_line(id, body.error().code == Code::not_found ? not_found : invalid_params, body.error().message);
      },
      [this, id = in.id](std::string line) { served(id, std::move(line)); });
}

void AcpTurn::served(const std::string& id, std::string line) {
  if (over_ || state_.phase == Phase::leaving) return;
  std::erase(state_.serving, id);
  std::string kept = line.size() <= kept_answer_max ? line : try_again(id);
  put(std::move(line), std::move(kept));
  tell({});
}

// ---- Terminals

void AcpTurn::serve_terminal(const Incoming& in) {
  const auto option = request_.agent->options.find("client_terminals");
  if (option == request_.agent->options.end() || option->second != "true")
    return put(error_line(in.id, method_not_found, fmt::format("errand does not serve {}.", in.method)));
  if (state_.serving.size() >= asks_max)
    return put(error_line(in.id, invalid_params, "Too much is asked for at once; wait for the answers."));
  if (in.method == "terminal/create") return create_terminal(in);
  const std::string& id = in.terminal.id;
  const auto open = std::ranges::find(state_.terminals, id, &OpenTerminal::id);
  if (open == state_.terminals.end() || !terminals_.has(id))
    return put(error_line(in.id, not_found, fmt::format("There is no terminal \"{}\".", to_utf8(id))));
  if (in.method == "terminal/output") {
    state_.serving.push_back(in.id);
    terminals_.output(id, in.id);
  } else if (in.method == "terminal/wait_for_exit") {
    if (open->waiting.size() >= asks_max)
      return put(error_line(in.id, invalid_params, "Too many wait for this terminal."));
    const std::string status = terminals_.exit_status(id);
    if (status != "null") return put(result_line(in.id, status));
    open->waiting.push_back(in.id);
  } else if (in.method == "terminal/kill") {
    terminals_.kill(id);
    put(result_line(in.id, "{}"));
  } else if (in.method == "terminal/release") {
    for (const std::string& waits : open->waiting)
      put(error_line(waits, not_found, "The terminal was released before it had ended."));
    state_.terminals.erase(open);
    terminals_.release(id);
    put(result_line(in.id, "{}"));
  } else {
    put(error_line(in.id, method_not_found, fmt::format("errand does not serve {}.", in.method)));
  }
}

void AcpTurn::create_terminal(const Incoming& in) {
  if (stopping_ || state_.phase != Phase::prompting)
    return put(error_line(in.id, invalid_params, "No turn is at work: nothing is run."));
  if (state_.terminals.size() >= terminals_max)
    return put(error_line(in.id, invalid_params,
                          fmt::format("{} terminals are open; release those that are not needed.", terminals_max)));
  const std::string number = std::to_string(++state_.terminals_made);
  OpenTerminal open{.id = "term_" + number,
                    .run = run_name({request_.task->id, request_.task->run, terminal_tool, number}),
                    .limit = in.terminal.limit,
                    .waiting = {}};
  Result<process::SpawnRequest> spawn = terminals_.plan(in.terminal, open.run);
  if (!spawn) return put(error_line(in.id, invalid_params, spawn.error().message));
  state_.serving.push_back(in.id);
  state_.terminals.push_back(open);
  starts_.push_back({std::move(open), std::move(*spawn), in.id});  // By tell(), which follows.
}

void AcpTurn::terminal_ended(const std::string& id) {
  if (over_ || state_.phase == Phase::leaving) return;
  const auto open = std::ranges::find(state_.terminals, id, &OpenTerminal::id);
  if (open == state_.terminals.end()) return;
  const std::vector<std::string> waiting = std::exchange(open->waiting, {});
  const std::string status = terminals_.exit_status(id);
  // Where it could not be started there is none.
  if (!terminals_.has(id)) state_.terminals.erase(open);
  for (const std::string& request : waiting) put(result_line(request, status == "null" ? "{}" : status));
  if (!waiting.empty()) tell({});
}

}  // namespace errand::acp
