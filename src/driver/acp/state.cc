#include "driver/acp/state.h"

#include <algorithm>
#include <charconv>

#include <boost/json.hpp>

#include "base/json_out.h"

namespace errand::acp {

namespace {

namespace json = boost::json;

void write_end(JsonOut& out, const Outcome& end) {
  out.key("end").object().field("kind", static_cast<int>(end.kind));
  if (end.result) out.field("result", *end.result);
  if (end.error)
    out.field("code", end.error->code).field("message", end.error->message).field("details", end.error->details);
  out.end();
}

// Reads what encode() wrote; where something is of another type, `good` says so in the end.
class In {
 public:
  explicit In(const json::value& value) : object_(value.if_object()) { good_ = object_ != nullptr; }

  const json::value& at(const char* name) {
    static const json::value none;
    const json::value* found = object_ ? object_->if_contains(name) : nullptr;
    return found ? *found : none;
  }
  std::string text(const char* name) { return text_of(at(name)); }
  int64_t number(const char* name) {
    const json::value& value = at(name);
    good_ = good_ && value.is_int64();
    return value.is_int64() ? value.get_int64() : 0;
  }
  bool flag(const char* name) {
    const json::value& value = at(name);
    good_ = good_ && value.is_bool();
    return value.is_bool() && value.get_bool();
  }
  json::array list(const char* name) {
    const json::value& value = at(name);
    good_ = good_ && value.is_array();
    return value.is_array() ? value.get_array() : json::array();
  }
  // The texts of a list of at least so many.
  std::vector<std::string> texts(const json::value& value, size_t least) {
    std::vector<std::string> out;
    if (const json::array* array = value.if_array())
      for (const json::value& item : *array) out.push_back(text_of(item));
    good_ = good_ && out.size() >= least;
    out.resize(std::max(out.size(), least));
    return out;
  }
  bool good() const { return good_; }

 private:
  std::string text_of(const json::value& value) {
    good_ = good_ && value.is_string();
    return value.is_string() ? std::string(value.get_string()) : std::string();
  }
  const json::object* object_;
  bool good_;
};

Outcome read_end(In& in) {
  Outcome end{.kind = static_cast<Outcome::Kind>(std::clamp<int64_t>(in.number("kind"), 0, 3))};
  if (!in.at("result").is_null()) end.result = in.text("result");
  if (!in.at("code").is_null()) end.error = TaskError{in.text("code"), in.text("message"), in.text("details")};
  return end;
}

}  // namespace

State go_on_after(State before, const program::Kept& kept) {
  State state;
  state.phase = Phase::choosing;  // There is nothing to choose: the prompt is next.
  state.run = kept.run;
  state.cpu_from = kept.cpu_s;
  state.next = kept.next;
  state.last_request = before.last_request;
  state.session = std::move(before.session);
  state.agent = std::move(before.agent);
  if (kept.began) state.begun = kept.begun + 1;
  return state;
}

std::string encode(const State& state) {
  std::string text;
  JsonOut out(text);
  out.object().field("phase", static_cast<int>(state.phase)).field("next", state.next);
  out.field("last", state.last_request).field("request", state.request).field("session", state.session);
  out.field("method", state.method).field("new", state.is_new).field("failing", state.failing);
  if (!state.run.empty()) out.field("run", state.run).field("cpu_from", state.cpu_from);
  const AgentInfo& agent = state.agent;
  out.key("agent").array().value(agent.name).value(agent.version).end();
  out.key("can").array().value(agent.load).value(agent.resume).value(agent.http).value(agent.directories).end();
  out.key("wishes").array();
  for (const Wish& wish : state.wishes)
    out.array().value(wish.choice.method).value(wish.choice.config).value(wish.value).end();
  out.end().key("frames").array();
  for (const Frame& frame : state.frames) {
    out.object().field("n", frame.number).field("line", frame.opens ? "" : frame.line).field("opens", frame.opens);
    out.key("messages").array();
    for (const MessageId& message : frame.messages) out.value(message.value);
    out.end().end();
  }
  out.end().key("asks").array();
  for (const OpenAsk& ask : state.asks) {
    out.array().value(ask.request_id).value(ask.rpc_id).value(ask.call_id);
    for (const Option& option : ask.options) out.value(option.id).value(option.name).value(option.kind);
    out.end();
  }
  out.end().key("serving").array();
  for (const std::string& id : state.serving) out.value(id);
  out.end();
  if (state.terminals_made > 0) {
    out.field("terminals_made", state.terminals_made).key("terminals").array();
    for (const OpenTerminal& open : state.terminals) {
      out.array().value(open.id).value(open.run).value(std::to_string(open.limit));
      for (const std::string& id : open.waiting) out.value(id);
      out.end();
    }
    out.end();
  }
  if (state.until || state.backoff_ms > 0) out.field("until", state.until.ms).field("backoff", state.backoff_ms);
  if (state.begun > 0) out.field("begun", state.begun).field("by_itself", state.by_itself);
  out.field("asked", state.asked);
  if (state.end) write_end(out, *state.end);
  out.key("mark").raw(state.translator.mark()).end();
  return text;
}

Result<State> decode(std::string_view text) {
  State state;
  if (text.empty()) return state;
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return fail(Code::internal, "The turn's checkpoint cannot be read.");
  In in(value);
  state.phase = static_cast<Phase>(std::clamp<int64_t>(in.number("phase"), 0, static_cast<int>(Phase::leaving)));
  state.next = in.number("next");
  if (!in.at("run").is_null()) {
    state.run = in.text("run");
    if (const json::value& cpu = in.at("cpu_from"); cpu.is_number()) state.cpu_from = cpu.to_number<double>();
  }
  state.last_request = in.number("last");
  state.request = in.number("request");
  state.session = in.text("session");
  state.method = in.text("method");
  state.is_new = in.flag("new");
  state.failing = in.flag("failing");
  const std::vector<std::string> agent = in.texts(in.at("agent"), 2);
  state.agent.name = agent[0];
  state.agent.version = agent[1];
  if (const json::array can = in.list("can"); can.size() == 4) {
    bool* const flags[] = {&state.agent.load, &state.agent.resume, &state.agent.http, &state.agent.directories};
    for (size_t i = 0; i < 4; ++i) *flags[i] = can[i].is_bool() && can[i].get_bool();
  }
  for (const json::value& item : in.list("wishes")) {
    const std::vector<std::string> wish = in.texts(item, 3);
    state.wishes.push_back({{.method = wish[0], .config = wish[1], .current = {}, .values = {}}, wish[2]});
  }
  bool frames_good = true;
  for (const json::value& item : in.list("frames")) {
    In frame(item);
    Frame read{.number = frame.number("n"), .line = frame.text("line"), .messages = {}, .opens = frame.flag("opens")};
    for (std::string& message : frame.texts(frame.at("messages"), 0)) read.messages.emplace_back(std::move(message));
    frames_good = frames_good && frame.good();
    state.frames.push_back(std::move(read));
  }
  for (const json::value& item : in.list("asks")) {
    const std::vector<std::string> ask = in.texts(item, 3);
    OpenAsk read{.request_id = ask[0], .rpc_id = ask[1], .call_id = ask[2], .options = {}};
    for (size_t i = 3; i + 2 < ask.size(); i += 3) read.options.push_back({ask[i], ask[i + 1], ask[i + 2]});
    state.asks.push_back(std::move(read));
  }
  state.serving = in.texts(in.at("serving"), 0);
  if (!in.at("terminals_made").is_null()) {
    state.terminals_made = in.number("terminals_made");
    for (const json::value& item : in.list("terminals")) {
      const std::vector<std::string> open = in.texts(item, 3);
      OpenTerminal read{.id = open[0], .run = open[1], .limit = 0, .waiting = {open.begin() + 3, open.end()}};
      std::from_chars(open[2].data(), open[2].data() + open[2].size(), read.limit);
      state.terminals.push_back(std::move(read));
    }
  }
  if (!in.at("until").is_null()) {
    state.until = Time{in.number("until")};
    state.backoff_ms = in.number("backoff");
  }
  if (!in.at("begun").is_null()) {
    state.begun = static_cast<int>(in.number("begun"));
    state.by_itself = in.flag("by_itself");
  }
  state.asked = in.number("asked");
  bool end_good = true;
  if (const json::value& end = in.at("end"); !end.is_null()) {
    In read(end);
    state.end = read_end(read);
    end_good = read.good();
  }
  state.translator = Translator::from(json::serialize(in.at("mark")));
  if (!in.good() || !frames_good || !end_good) return fail(Code::internal, "The turn's checkpoint cannot be read.");
  return state;
}

}  // namespace errand::acp
