#include "tests/contract/scripted_opencode.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace errand::test {

namespace json = boost::json;

namespace {

constexpr Millis step_ms = 10;

std::string text_of(const json::value& message) {
  std::string text;
  for (const json::value& part : message.at("parts").as_array())
    if (part.at("type") == "text") text += std::string(part.at("text").as_string());
  return text;
}

bool is_user(const json::value& message) { return message.at("info").at("role") == "user"; }

}  // namespace

class ScriptedOpenCode::LiveCall final : public http::Call {
 public:
  LiveCall(std::shared_ptr<Wire> wire, Timers& timers) : wire_(std::move(wire)), timers_(timers) {}
  ~LiveCall() override { wire_->live = false; }
  void hold() override { wire_->held = true; }
  void go_on() override {
    wire_->held = false;
    timers_.add(1, [weak = std::weak_ptr(wire_)] {
      if (const auto wire = weak.lock()) wire->flow();
    });
  }

 private:
  std::shared_ptr<Wire> wire_;
  Timers& timers_;
};

void ScriptedOpenCode::Wire::flow() {
  while (live && !held && !waiting.empty()) {
    const std::string frame = std::move(waiting.front());
    waiting.pop_front();
    handler->body(frame);
  }
}

// A request is heard after a while, whether or not somebody still waits for its answer then.
std::unique_ptr<http::Call> ScriptedOpenCode::start(http::Request request, http::Handler& handler) {
  auto call = std::make_shared<Wire>(&handler);
  timers_.add(1, [this, request = std::move(request), &handler, weak = std::weak_ptr(call)] {
    const auto deliver = [&](auto told) {
      timers_.add(1, [weak, told = std::move(told)] {
        const auto wire = weak.lock();
        if (wire && wire->live) told(wire);
      });
    };
    if (!up_() || std::exchange(refuse, std::max(refuse - 1, 0)) > 0)
      return deliver([&handler](const auto&) { handler.done(fail(Code::unavailable, "Nobody there.", "connect")); });
    if (request.url.ends_with("/global/event")) {
      streams_.push_back(weak);
      return deliver([this, &handler](const std::shared_ptr<Wire>& wire) {
        handler.head({.status = 200});
        waited += wire->held ? 1 : 0;
        wire->waiting.push_front("data: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n");
        wire->flow();
      });
    }
    deliver([&handler, reply = answer(request)](const std::shared_ptr<Wire>& wire) {
      handler.head({.status = reply.status});
      if (wire->live && !reply.body.empty()) handler.body(reply.body);
      if (wire->live) handler.done({});
    });
  });
  return std::make_unique<LiveCall>(std::move(call), timers_);
}

int ScriptedOpenCode::busy() const {
  return static_cast<int>(std::ranges::count_if(sessions_, [](const auto& entry) { return entry.second.busy; }));
}

void ScriptedOpenCode::lose_streams() {
  for (const std::weak_ptr<Wire>& stream : std::exchange(streams_, {}))
    if (const auto wire = stream.lock(); wire && wire->live)
      wire->handler->done(fail(Code::unavailable, "The connection is cut.", "cut"));
}

std::string ScriptedOpenCode::make_id(std::string_view prefix) {
  const uint64_t mark = (static_cast<uint64_t>(clock_.wall().ms) * 0x1000 + 1) & 0xffff'ffff'ffff;
  return fmt::format("{}_{:012x}{:014}", prefix, mark, ++ids_);
}

void ScriptedOpenCode::tell(const std::string& type, json::object properties) {
  std::string frame = "data: " +
                      json::serialize(json::value{
                          {"directory", "/"}, {"payload", {{"type", type}, {"properties", std::move(properties)}}}}) +
                      "\n\n";
  std::erase_if(streams_, [](const std::weak_ptr<Wire>& stream) { return stream.expired(); });
  for (const std::weak_ptr<Wire>& stream : streams_)
    timers_.add(1, [this, stream, frame] {
      const auto wire = stream.lock();
      if (!wire) return;
      waited += wire->held ? 1 : 0;
      wire->waiting.push_back(frame);
      wire->flow();
    });
}

// --- Its API

ScriptedOpenCode::Answer ScriptedOpenCode::answer(const http::Request& request) {
  std::string path = request.url.substr(request.url.find('/', 8));
  path.resize(std::min(path.size(), path.find('?')));
  if (path == "/global/health") return {200, "{\"healthy\":true}"};
  if (path == "/session" && request.method == "POST") {
    const std::string id = make_id("ses");
    sessions_[id];
    return {200, json::serialize(json::value{{"id", id}})};
  }
  if (path == "/session/status") {
    json::object busy;
    for (const auto& [id, session] : sessions_)
      if (session.busy) busy[id] = {{"type", "busy"}};
    return {200, json::serialize(busy)};
  }
  if (path == "/question") return {200, "[]"};
  if (path == "/permission") {
    json::array open;
    for (const auto& [id, permission] : permissions_) open.push_back(permission);
    return {200, json::serialize(open)};
  }
  if (path.starts_with("/permission/")) {
    const std::string id = path.substr(12, path.find('/', 12) - 12);
    const auto held = held_.extract(id);
    if (held.empty()) return {404, "{}"};
    const std::string session(permissions_.at(id).at("sessionID").as_string());
    permissions_.erase(id);
    go(session, held.mapped());
    return {200, "true"};
  }
  if (!path.starts_with("/session/")) return {404, "{}"};
  const size_t slash = path.find('/', 9);
  const std::string id = path.substr(9, slash == std::string::npos ? slash : slash - 9);
  if (!sessions_.contains(id)) return {404, R"({"name":"NotFoundError","data":{"message":"Session not found"}})"};
  return answer_session(request.method, id, slash == std::string::npos ? "" : path.substr(slash), request.body);
}

ScriptedOpenCode::Answer ScriptedOpenCode::answer_session(const std::string& method, const std::string& id,
                                                          const std::string& what, const std::string& body) {
  if (what == "/message") return {200, json::serialize(sessions_.at(id).messages)};
  if (what == "/children") return {200, "[]"};
  if (what == "/prompt_async") {
    prompt(id, json::parse(body));
    return {204, ""};
  }
  if (what == "/abort") {
    abort(id);
    return {200, "true"};
  }
  if (what.empty() && method == "DELETE") {
    abort(id);
    sessions_.erase(id);
    return {200, "true"};
  }
  return {404, "{}"};
}

void ScriptedOpenCode::prompt(const std::string& id, const json::value& body) {
  Session& session = sessions_.at(id);
  const std::string message(body.at("messageID").as_string());
  const auto known = [&](const json::value& other) { return other.at("info").at("id") == message.c_str(); };
  if (std::ranges::any_of(session.messages, known)) return;
  ++prompts;
  begin(session, id, "user", message);
  put(session, session.messages.size() - 1, {{"type", "text"}, {"text", body.at("parts").at(0).at("text")}});
  if (std::exchange(session.busy, true)) return;  // The answer that is under way is not the last.
  tell("session.status", {{"sessionID", id}, {"status", {{"type", "busy"}}}});
  next_answer(id);
}

void ScriptedOpenCode::abort(const std::string& id) {
  Session& session = sessions_.at(id);
  ++session.turn;
  std::erase_if(held_, [&](const auto& held) { return permissions_.at(held.first).at("sessionID") == id.c_str(); });
  std::erase_if(permissions_, [&](const auto& open) { return open.second.at("sessionID") == id.c_str(); });
  if (session.busy) end_answer(id, {{"name", "MessageAbortedError"}, {"data", {{"message", "Aborted"}}}});
}

// --- Its agent

void ScriptedOpenCode::go(const std::string& id, std::vector<Doing> doings) {
  if (doings.empty()) return;
  timers_.add(step_ms, [this, id, turn = sessions_.at(id).turn, doings = std::move(doings)]() mutable {
    const auto session = sessions_.find(id);
    if (session == sessions_.end() || session->second.turn != turn || !up_()) return;
    const Doing first = std::move(doings.front());
    doings.erase(doings.begin());
    const size_t open = permissions_.size();
    first(session->second);
    if (permissions_.size() > open)
      held_[permissions_.rbegin()->first] = std::move(doings);
    else
      go(id, std::move(doings));
  });
}

// As a real model's: the answer follows from the conversation.
void ScriptedOpenCode::next_answer(const std::string& id) {
  Session& session = sessions_.at(id);
  const std::string first = text_of(session.messages.at(0));
  std::vector<Doing> doings = {[this, id](Session& s) {
    s.seen = s.messages.size();
    s.answering = true;
    s.answer = s.seen;
    begin(s, id, "assistant", make_id("msg"));
  }};
  const auto add = [&](std::vector<Doing> more) { std::ranges::move(more, std::back_inserter(doings)); };
  if (first.starts_with("speaks") && session.answers == 0) {
    add(looks(id));
  } else if (first.starts_with("speaks")) {
    add(says([](const Session& s) {
      std::string words = "You said:";
      for (size_t i = 0; i < s.seen; ++i)
        if (is_user(s.messages[i])) words += " " + text_of(s.messages[i]) + ".";
      return words;
    }));
    doings.emplace_back([this, id](Session&) { end_answer(id, nullptr); });
  } else {
    add(says([](const Session&) { return "I begin."; }));
    if (first.starts_with("fails"))
      doings.emplace_back([this, id](Session&) {
        end_answer(id, {{"name", "APIError"}, {"data", {{"message", "No."}, {"statusCode", 400}}}});
      });
  }
  go(id, std::move(doings));
}

std::vector<ScriptedOpenCode::Doing> ScriptedOpenCode::says(std::function<std::string(const Session&)> words) {
  return {[this](Session& s) { put(s, s.answer, {{"type", "text"}, {"text", ""}}); },
          [this, words](Session& s) { grow(s, words(s).substr(0, 5)); },
          [this, words](Session& s) { grow(s, words(s).substr(5)); }, [this](Session& s) { tell_part(s); }};
}

std::vector<ScriptedOpenCode::Doing> ScriptedOpenCode::looks(const std::string& id) {
  return {[this](Session& s) { put(s, s.answer, {{"type", "reasoning"}, {"text", ""}}); },
          [this](Session& s) { grow(s, "Hm…"); },
          [this](Session& s) { tell_part(s); },
          [this](Session& s) { put(s, s.answer, {{"type", "text"}, {"text", ""}}); },
          [this](Session& s) { grow(s, "Grüße, 你好, "); },
          [this](Session& s) { grow(s, "🙂: I look. "); },
          [this](Session& s) { tell_part(s); },
          [this](Session& s) { put(s, s.answer, {{"type", "tool"}, {"tool", "bash"}, {"callID", "call_1"}}); },
          [this](Session& s) { set_tool(s, "running", ""); },
          [this, id](Session&) {
            const std::string request = make_id("per");
            permissions_[request] = {
                {"id", request}, {"sessionID", id}, {"permission", "bash"}, {"patterns", json::array{"ls"}}};
            tell("permission.asked", permissions_[request]);
          },
          [this](Session& s) { set_tool(s, "running", ""); },
          [this](Session& s) { set_tool(s, "completed", "ä\n"); },
          [this, id](Session&) { end_answer(id, nullptr); }};
}

void ScriptedOpenCode::end_answer(const std::string& id, json::value error) {
  Session& session = sessions_.at(id);
  if (std::exchange(session.answering, false)) {
    json::object& info = session.messages.at(session.answer).at("info").as_object();
    info["time"].as_object()["completed"] = clock_.wall().ms;
    info["tokens"] = {{"input", 10}, {"output", 5}};
    info["cost"] = 0.25;
    if (!error.is_null()) info["error"] = error;
    tell("message.updated", {{"sessionID", id}, {"info", info}});
    ++session.answers;
  }
  // A call wants another answer, and so does what was said meanwhile.
  const auto unseen = std::ranges::subrange(session.messages.begin() + static_cast<std::ptrdiff_t>(session.seen),
                                            session.messages.end());
  if (error.is_null() && (session.answers == 1 || std::ranges::any_of(unseen, is_user))) return next_answer(id);
  session.busy = false;
  if (!error.is_null()) tell("session.error", {{"sessionID", id}, {"error", error}});
  tell("session.status", {{"sessionID", id}, {"status", {{"type", "idle"}}}});
  tell("session.idle", {{"sessionID", id}});
}

void ScriptedOpenCode::begin(Session& session, const std::string& id, std::string_view role,
                             const std::string& message) {
  json::object info = {{"id", message}, {"sessionID", id}, {"role", role}, {"time", {{"created", clock_.wall().ms}}}};
  tell("message.updated", {{"sessionID", id}, {"info", info}});
  session.messages.push_back(json::object{{"info", std::move(info)}, {"parts", json::array()}});
}

void ScriptedOpenCode::put(Session& session, size_t message, json::object part) {
  json::value& whole = session.messages.at(message);
  part["id"] = make_id("prt");
  part["sessionID"] = whole.at("info").at("sessionID");
  part["messageID"] = whole.at("info").at("id");
  if (part["type"] == "tool") part["state"] = {{"status", "pending"}, {"input", json::object()}};
  tell("message.part.updated", {{"sessionID", part["sessionID"]}, {"part", part}});
  whole.at("parts").as_array().push_back(std::move(part));
}

void ScriptedOpenCode::grow(Session& session, std::string_view more) {
  json::object& part = session.messages.at(session.answer).at("parts").as_array().back().as_object();
  part["text"] = std::string(part["text"].as_string()) + std::string(more);
  tell("message.part.delta", {{"sessionID", part["sessionID"]},
                              {"messageID", part["messageID"]},
                              {"partID", part["id"]},
                              {"field", "text"},
                              {"delta", more}});
}

void ScriptedOpenCode::set_tool(Session& session, std::string_view status, std::string_view output) {
  json::object& part = session.messages.at(session.answer).at("parts").as_array().back().as_object();
  part["state"] = {{"status", status},
                   {"input", {{"command", "ls"}}},
                   {"output", output},
                   {"time", {{"start", 1'000}, {"end", 1'005}}}};
  tell_part(session);
}

void ScriptedOpenCode::tell_part(Session& session) {
  const json::value& part = session.messages.at(session.answer).at("parts").as_array().back();
  tell("message.part.updated", {{"sessionID", part.at("sessionID")}, {"part", part}});
}

}  // namespace errand::test
