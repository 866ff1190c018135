#include "tests/contract/scripted_acp.h"

#include <memory>

namespace errand::test {

namespace json = boost::json;

ScriptedAcp::ScriptedAcp(FakeSupervisor& supervisor, Timers& timers) : supervisor_(supervisor), timers_(timers) {
  can = {{"loadSession", true}, {"sessionCapabilities", {{"resume", json::object()}}}};
  supervisor_.heard = [this](const std::string& run, const std::string& line) {
    boost::system::error_code error;
    const json::value message = json::parse(line, error);
    if (error || !message.is_object()) return;
    heard.push_back(message.get_object());
    if (!silent) take(run, message.get_object());
  };
}

std::vector<json::object> ScriptedAcp::requests(std::string_view method) const {
  std::vector<json::object> found;
  for (const json::object& message : heard)
    if (const json::value* name = message.if_contains("method"); name && name->get_string() == method)
      found.push_back(message);
  return found;
}

std::vector<json::object> ScriptedAcp::answers() const {
  std::vector<json::object> found;
  for (const json::object& message : heard)
    if (!message.contains("method")) found.push_back(message);
  return found;
}

void ScriptedAcp::print(const std::string& run, const std::string& line) {
  supervisor_.print(run, process::Stream::out, line);
}

void ScriptedAcp::answer(const std::string& run, const json::value& id, json::value result) {
  print(run, json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}) + "\n");
}

void ScriptedAcp::refuse(const std::string& run, const json::value& id, int code, const std::string& message,
                         const std::string& details) {
  json::object error = {{"code", code}, {"message", message}};
  if (!details.empty()) error["data"] = json::parse(details);
  print(run, json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"error", error}}) + "\n");
}

void ScriptedAcp::ask(const std::string& run, const std::string& method, json::object params) {
  params["sessionId"] = "s1";
  const int64_t id = processes_[run].asked++;
  print(run, json::serialize(
                 json::object{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}) +
                 "\n");
}

void ScriptedAcp::update(const std::string& run, json::object what) {
  const json::object params = {{"sessionId", "s1"}, {"update", std::move(what)}};
  print(run,
        json::serialize(json::object{{"jsonrpc", "2.0"}, {"method", "session/update"}, {"params", params}}) + "\n");
}

void ScriptedAcp::say(const std::string& run, const std::string& text, const char* kind) {
  update(run, {{"sessionUpdate", kind}, {"content", {{"type", "text"}, {"text", text}}}});
}

void ScriptedAcp::go(const std::string& run, std::vector<Doing> doings) {
  step(run, processes_[run].turn, std::make_shared<const std::vector<Doing>>(std::move(doings)), 0);
}

void ScriptedAcp::step(const std::string& run, int turn, std::shared_ptr<const std::vector<Doing>> doings, size_t at) {
  timers_.add(20, [this, run, turn, doings = std::move(doings), at] {
    if (at >= doings->size() || processes_[run].turn != turn || supervisor_.runs.at(run).end) return;
    (*doings)[at]();
    step(run, turn, doings, at + 1);
  });
}

void ScriptedAcp::stop(const std::string& run, const char* reason) {
  Process& process = processes_[run];
  ++process.turn;
  answer(run, process.prompt,
         {{"stopReason", reason}, {"usage", {{"inputTokens", 40}, {"outputTokens", 9}, {"totalTokens", 49}}}});
  process.prompt = -1;
}

void ScriptedAcp::take(const std::string& run, const json::object& message) {
  const json::value* const method = message.if_contains("method");
  if (!method) {
    auto then = std::exchange(processes_[run].on_answer, nullptr);
    if (then) then(message);
    return;
  }
  const std::string_view name = method->get_string();
  if (name == "initialize")
    return answer(run, message.at("id"),
                  {{"protocolVersion", 1}, {"agentCapabilities", can}, {"agentInfo", {{"name", "Scripted"}}}});
  if (name == "session/new") {
    if (!auth_error.empty()) return refuse(run, message.at("id"), -32000, auth_error);
    ++sessions_;
    json::object session = offers;
    session["sessionId"] = "s1";
    return answer(run, message.at("id"), std::move(session));
  }
  if (name == "session/load" || name == "session/resume") {
    if (forgets) return refuse(run, message.at("id"), -32002, "Session not found");
    if (name == "session/load") {
      say(run, "what was asked", "user_message_chunk");
      answer(run, message.at("id"), json::object());
      return say(run, "what was answered before");  // Behind the answer, as Gemini does.
    }
    return answer(run, message.at("id"), json::object());
  }
  if (name == "session/cancel") {
    if (ignores_cancel || processes_[run].prompt < 0) return;
    return stop(run, "cancelled");
  }
  if (name == "session/prompt") prompted(run, message);
}

void ScriptedAcp::prompted(const std::string& run, const json::object& message) {
  Process& process = processes_[run];
  process.prompt = message.at("id").as_int64();
  ++process.turn;
  std::string text;
  for (const json::value& block : message.at("params").at("prompt").as_array())
    text += (text.empty() ? "" : " | ") + std::string(block.at("text").as_string());
  if (!limited.empty()) return refuse(run, process.prompt, -32603, "Internal error", limited);
  if (text == "goes_on") return go(run, {[this, run] { say(run, "I go on"); }});
  if (text == "fails") return refuse(run, process.prompt, -32603, "the model says no");
  if (text != "speaks")
    return go(run, {[this, run, text] { say(run, "You said: " + text); }, [this, run] { stop(run, "end_turn"); }});
  go(run, {[this, run] { say(run, "hm", "agent_thought_chunk"); }, [this, run] { say(run, "Je réfléchis: "); },
           [this, run] { say(run, "语 — "); },
           [this, run] {
             update(run, {{"sessionUpdate", "plan"}, {"entries", {{{"content", "look"}, {"status", "in_progress"}}}}});
           },
           [this, run] {
             const json::object call = {{"toolCallId", "c1"},
                                        {"title", "ls"},
                                        {"kind", "execute"},
                                        {"status", "pending"},
                                        {"rawInput", {{"command", "ls"}}}};
             processes_[run].on_answer = [this, run](const json::object& answered) {
               const bool yes = answered.at("result").at("outcome").as_object().contains("optionId") &&
                                answered.at("result").at("outcome").at("optionId") == "once";
               update(run, {{"sessionUpdate", "tool_call_update"},
                            {"toolCallId", "c1"},
                            {"status", yes ? "completed" : "failed"},
                            {"rawOutput", yes ? "a b" : "denied"}});
               go(run, {[this, run] { say(run, "There are "); }, [this, run] { say(run, "zwei: ä, b."); },
                        [this, run] { stop(run, "end_turn"); }});
             };
             ask(run, "session/request_permission",
                 {{"toolCall", call},
                  {"options",
                   {{{"optionId", "once"}, {"name", "Yes"}, {"kind", "allow_once"}},
                    {{"optionId", "no"}, {"name", "No"}, {"kind", "reject_once"}}}}});
           }});
}

}  // namespace errand::test
