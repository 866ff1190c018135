#include "tests/contract/scripted_claude.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"

namespace errand::test {
namespace {

namespace json = boost::json;

constexpr const char* session = "6b8dcbcb-cad6-4690-91ba-3af5984e986b";

std::string as_json(std::string_view text) {
  std::string out;
  JsonOut(out).value(text);
  return out;
}

}  // namespace

ScriptedClaude::ScriptedClaude(FakeSupervisor& supervisor, Timers& timers) : supervisor_(supervisor), timers_(timers) {
  supervisor_.heard = [this](const std::string& run, const std::string& line) { hear(run, line); };
  supervisor_.input_closed = [this](const std::string& run) {
    runs_[run].closed = true;
    then(run, [] {});
  };
}

void ScriptedClaude::print(const std::string& name, const std::string& line) {
  supervisor_.print(name, process::Stream::out, line + "\n");
}

void ScriptedClaude::then(const std::string& name, std::function<void()> step) {
  Run& run = runs_[name];
  run.steps.push_back(std::move(step));
  if (std::exchange(run.stepping, true)) return;
  timers_.add(1, [this, name] { this->step(name); });
}

void ScriptedClaude::step(const std::string& name) {
  Run& run = runs_[name];
  run.stepping = false;
  const auto process = supervisor_.runs.find(name);
  if (process == supervisor_.runs.end() || process->second.end) return run.steps.clear();
  if (!run.steps.empty()) {
    const std::function<void()> next = std::move(run.steps.front());
    run.steps.pop_front();
    next();
  }
  if (!run.steps.empty()) {
    run.stepping = true;
    timers_.add(1, [this, name] { this->step(name); });
  } else if (run.closed && !run.busy) {
    supervisor_.end(name, {.how = process::RunEnd::How::exited, .exit_code = 0});
  }
}

void ScriptedClaude::lifecycle(const std::string& name, const std::string& uuid, const char* state) {
  if (!says_lifecycle) return;
  print(name, fmt::format(R"({{"type":"command_lifecycle","command_uuid":"{}","state":"{}","session_id":"{}"}})", uuid,
                          state, session));
}

void ScriptedClaude::hear(const std::string& name, const std::string& line) {
  told.push_back(line);
  Run& run = runs_[name];
  const json::value value = json::parse(line);
  const std::string type(value.at("type").as_string());
  if (type == "user") {
    ++prompts;
    Said said{std::string(value.at("uuid").as_string()),
              std::string(value.at("message").at("content").at(0).at("text").as_string())};
    said.asks = !value.as_object().contains("shouldQuery") || value.at("shouldQuery").as_bool();
    lifecycle(name, said.uuid, "queued");
    run.queue.push_back(std::move(said));
    if (!run.busy) begin(name);
  } else if (type == "control_request") {
    interrupt(name, std::string(value.at("request_id").as_string()));
  } else if (type == "control_response" && run.answered) {
    const json::value& response = value.at("response");
    if (std::string(response.at("request_id").as_string()) != run.open_ask) return;
    const bool allowed = response.at("response").at("behavior").as_string() == "allow";
    run.open_ask.clear();
    std::exchange(run.answered, nullptr)(allowed);
  }
}

void ScriptedClaude::begin(const std::string& name) {
  Run& run = runs_[name];
  run.busy = true;
  const Said said = run.queue.front();
  run.queue.pop_front();
  run.current = said.uuid;
  then(name, [=, this] { lifecycle(name, said.uuid, "started"); });
  then(name, [=, this] {
    print(name, fmt::format(R"({{"type":"system","subtype":"init","session_id":"{}","tools":["Bash"]}})", session));
  });
  // Nobody is asked because of it: it stands before the next message.
  if (!said.asks)
    return then(name, [=, this] {
      Run& taken = runs_[name];
      taken.notes += said.text + " | ";
      print(name, R"({"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":""})");
      taken.busy = false;
      lifecycle(name, said.uuid, "completed");
      if (!taken.queue.empty()) begin(name);
    });
  for (const std::string& line : std::exchange(first_steps, {})) then(name, [=, this] { print(name, line); });
  if (said.text == "speaks") {
    speaks(name);
  } else if (said.text == "goes_on") {
    say(name, "I begin.");
  } else if (said.text == "fails") {
    then(name, [=, this] { finish(name, "API Error: 400 no such model", true, "api_error"); });
  } else if (said.text == "limit") {
    then(name, [=, this] {
      print(name,
            fmt::format(R"({{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{}}}}})",
                        resets.ms / 1000));
      print(name, R"({"type":"result","subtype":"success","is_error":true,"api_error_status":429,)"
                  R"("result":"You have hit your limit.","terminal_reason":"api_error"})");
      runs_[name].busy = false;
      lifecycle(name, runs_[name].current, "cancelled");
    });
  } else {
    say(name, "You said: " + std::exchange(run.notes, {}) + said.text);
    echo_queue(name);
  }
}

// In pieces, then as a whole.
void ScriptedClaude::say(const std::string& name, const std::string& text) {
  const std::string id = fmt::format("msg_{}", ++runs_[name].messages);
  const auto event = [=, this](const std::string& inner) {
    then(name, [=, this] {
      print(name, fmt::format(R"({{"type":"stream_event","event":{},"parent_tool_use_id":null,"session_id":"{}"}})",
                              inner, session));
    });
  };
  event(fmt::format(R"({{"type":"message_start","message":{{"id":"{}"}}}})", id));
  event(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
  size_t half = text.size() / 2;
  while (half < text.size() && (static_cast<unsigned char>(text[half]) & 0xc0) == 0x80) ++half;
  for (const std::string& piece : {text.substr(0, half), text.substr(half)})
    event(fmt::format(R"({{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{}}}}})",
                      as_json(piece)));
  then(name, [=, this] {
    print(name, fmt::format(R"({{"type":"assistant","message":{{"id":"{}","content":[{{"type":"text","text":{}}}]}}}})",
                            id, as_json(text)));
  });
  event(R"({"type":"message_stop"})");
}

void ScriptedClaude::speaks(const std::string& name) {
  say(name, "Größe 你好 🙂");
  then(name, [=, this] {
    Run& run = runs_[name];
    run.open_call = "toolu_1";
    print(name, fmt::format(R"({{"type":"assistant","message":{{"id":"msg_{}","content":[{{"type":"tool_use",)"
                            R"("id":"toolu_1","name":"Bash","input":{{"command":"touch é"}}}}]}}}})",
                            run.messages));
  });
  then(name, [=, this] {
    Run& run = runs_[name];
    run.open_ask = "req_1";
    run.answered = [=, this](bool allowed) {
      then(name, [=, this] {
        runs_[name].open_call.clear();
        print(name, fmt::format(R"({{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":)"
                                R"("toolu_1","content":"{}","is_error":{}}}]}}}})",
                                allowed ? "done" : "not allowed", !allowed));
      });
      say(name, "All done.");
      echo_queue(name);
    };
    print(name, R"({"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_name":)"
                R"("Bash","input":{"command":"touch é"},"tool_use_id":"toolu_1"}})");
  });
}

// What came meanwhile, then the end of the turn.
void ScriptedClaude::echo_queue(const std::string& name) {
  then(name, [=, this] {
    Run& run = runs_[name];
    if (run.queue.empty()) return finish(name, "All done.", false, "completed");
    const Said said = run.queue.front();
    run.queue.pop_front();
    lifecycle(name, said.uuid, "started");
    say(name, "You said: " + said.text);
    then(name, [=, this] { lifecycle(name, said.uuid, "completed"); });
    echo_queue(name);
  });
}

void ScriptedClaude::finish(const std::string& name, const std::string& text, bool is_error,
                            const std::string& reason) {
  Run& run = runs_[name];
  print(name,
        fmt::format(R"({{"type":"result","subtype":"success","is_error":{},"result":{},"terminal_reason":"{}",)"
                    R"("result_index":{},"model_usage_since_last_result":{{"m":{{"inputTokens":10,"outputTokens":5,)"
                    R"("costUSD":0.25}}}},"total_cost_usd":0.25}})",
                    is_error, as_json(text), reason, run.results++));
  run.busy = false;
  lifecycle(name, run.current, is_error ? "cancelled" : "completed");
  if (!run.queue.empty()) begin(name);
}

void ScriptedClaude::interrupt(const std::string& name, const std::string& request_id) {
  Run& run = runs_[name];
  run.steps.clear();
  if (!run.open_ask.empty())
    print(name, fmt::format(R"({{"type":"control_cancel_request","request_id":"{}"}})", run.open_ask));
  run.open_ask.clear();
  run.answered = nullptr;
  print(name, fmt::format(R"({{"type":"control_response","response":{{"subtype":"success","request_id":"{}"}}}})",
                          request_id));
  if (run.busy) finish(name, "", true, "aborted_tools");
}

}  // namespace errand::test
