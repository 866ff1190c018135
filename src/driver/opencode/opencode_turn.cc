#include "driver/opencode/opencode_turn.h"

#include <algorithm>
#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "driver/agent_driver.h"
#include "fork/transcript.h"
#include "shell/subjects.h"

namespace errand::opencode {

namespace {

constexpr Millis look_again_ms = 1'000;  // An idle session whose prompt has no answer yet.
constexpr int looks_max = 15;
constexpr Millis abort_again_ms = 5'000;
constexpr int aborts_max = 4;
constexpr Millis quota_ms = 60'000;  // A retry that is further away is a wait.
constexpr int messages_max = 500;    // Of a session, the newest.

}  // namespace

OpencodeTurn::OpencodeTurn(Server& server, TurnRequest request, Sink& sink)
    : server_(server),
      request_(std::move(request)),
      sink_(sink),
      calls_(server.parts().http),
      beside_(server.parts().background, server.parts().engine),
      again_(server.parts().timers),
      stopping_timer_(server.parts().timers),
      session_(request_.task->driver_session) {
  if (request_.reattach) {
    restore(request_.task->checkpoint);
    for (const Ask& ask : request_.task->asks) {
      asks_.emplace(ask.request_id, ask.kind == AskKind::permission ? Event::Type::permission : Event::Type::question);
      if (!ask.decision.empty()) answers_[ask.request_id] = {ask.decision, ask.reply};
    }
  }
  for (const Message& message : request_.messages)
    if (known_.insert(message.id).second) waiting_.push_back(message);
  // What a fork has of a conversation that errand keeps; what OpenCode keeps is copied by OpenCode.
  if (request_.task->launch.fork)
    std::ranges::copy_if(request_.history, std::back_inserter(carried_),
                         [](const Message& message) { return message.turn == 0; });
  server_.join(*this);
}

OpencodeTurn::~OpencodeTurn() { server_.leave(*this); }

void OpencodeTurn::drop() {
  if (std::exchange(over_, true)) return;
  if (fork_) fork_->abandon();
  if (!session_.empty()) server_.send(server_.request("POST", target("/abort")));
  fork_.reset();
  calls_.clear();
  again_.cancel();
  stopping_timer_.cancel();
}

// ---- What is kept

// {"before":"msg_…","copy":"ses_…","sent":[["msg_…","msg_…",true]],"mark":[…]}
std::string OpencodeTurn::checkpoint() const {
  std::string text;
  JsonOut out(text);
  out.object().field("before", before_).field("copy", copy_).key("sent").array();
  for (const Sent& sent : sent_) out.array().value(sent.message).value(sent.id).value(sent.taken).end();
  out.end().key("mark").raw(translator_.mark()).end();
  return text;
}

void OpencodeTurn::restore(std::string_view text) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text.empty() ? "null" : text, error);
  const boost::json::object* object = error ? nullptr : value.if_object();
  if (!object) return;
  if (const auto* before = object->if_contains("before"); before && before->is_string()) before_ = before->get_string();
  if (const auto* copy = object->if_contains("copy"); copy && copy->is_string()) copy_ = copy->get_string();
  if (const auto* sent = object->if_contains("sent"); sent && sent->is_array())
    for (const boost::json::value& item : sent->get_array()) {
      const boost::json::array* one = item.if_array();
      if (!one || one->size() != 3 || !(*one)[0].is_string() || !(*one)[1].is_string() || !(*one)[2].is_bool())
        continue;
      sent_.push_back(
          {MessageId(std::string((*one)[0].get_string())), std::string((*one)[1].get_string()), (*one)[2].get_bool()});
    }
  if (const auto* mark = object->if_contains("mark")) translator_ = Translator::from(boost::json::serialize(*mark));
  // What was sent and not taken is among the turn's messages again, under the id that it had.
  for (const Sent& sent : sent_)
    if (sent.taken) known_.insert(sent.message);
}

void OpencodeTurn::report(std::vector<Report> reports) {
  if (over_ || reports.empty()) return;
  alive_ = true;
  sink_.report(std::move(reports), checkpoint());
  if (sink_.has_room()) return;
  server_.hold(*this);
  sink_.when_room([this] { server_.go_on(*this); });
}

void OpencodeTurn::end(Outcome outcome) {
  if (over_) return;
  std::vector<Report> last;
  if (std::exchange(quota_, false)) last.emplace_back(report::GoesOn{});
  translator_.close(last);
  report(std::move(last));
  over_ = true;
  fork_.reset();
  calls_.clear();
  again_.cancel();
  stopping_timer_.cancel();
  server_.leave(*this);
  sink_.ended(std::move(outcome));
}

std::string OpencodeTurn::target(std::string_view path) const {
  return fmt::format("/session/{}{}{}", session_, path, in_directory(request_.task->launch.work_dir));
}

// ---- The way to it

void OpencodeTurn::stream_open() {
  if (over_) return;
  opened_ = true;
  if (session_.empty()) {
    if (stopping_) return end({.kind = Outcome::Kind::stopped});
    // The stream may have been lost while the session was being made.
    if (!fork_ && calls_.empty()) make_session();
    return;
  }
  // What was asked while nobody listened is asked still.
  if (!sent_.empty()) read_asks();
  read_again();
}

// R6: the whole conversation of the parent, copied by OpenCode; what errand has copied of another agent's is put in
// later, as a transcript.
void OpencodeTurn::fork_parent() {
  // Of a try that was cut short.
  if (!copy_.empty()) server_.send(server_.request("DELETE", "/session/" + url_encode(std::exchange(copy_, {}))));
  fork_ = std::make_unique<ForkCopy>(
      server_, request_.task, server_.options().fork_limits(),
      [this](const std::string& copy) {
        copy_ = copy;
        server_.add_session(request_.task->id, copy);
        report({report::Alive{}});
      },
      [this](Result<ForkCopy::Made> made) {
        copy_.clear();
        if (!made)
          return end({.kind = Outcome::Kind::failed, .error = TaskError{"fork_failed", made.error().message, {}}});
        const std::unique_ptr<ForkCopy> done = std::move(fork_);
        const std::string note = fmt::format("OpenCode copied {} messages of the session {}.\n\n{}", made->messages,
                                             request_.task->launch.parent_session_id.value, made->preamble);
        got_session(made->session, {{.type = PartType::text, .text = note}});
      });
}

void OpencodeTurn::make_session() {
  const bool carried = !carried_.empty();
  if (request_.task->launch.fork && !carried) return fork_parent();
  const std::string where = "/session" + in_directory(request_.task->launch.work_dir);
  calls_.start(server_.request("POST", where, session_body(request_.task->title, request_.task->id)),
               [this](Result<Reply> reply) {
                 const std::string id = reply && reply->status == 200 ? text_field(reply->body, "id") : std::string();
                 if (!id.empty()) return got_session(id, {});
                 const std::string why = reply ? error_text(reply->status, reply->body) : reply.error().message;
                 end({.kind = Outcome::Kind::failed, .error = TaskError{"agent_error", why, {}}});
               });
}

void OpencodeTurn::got_session(const std::string& id, std::vector<errand::Part> preamble) {
  session_ = id;
  server_.add_session(request_.task->id, id);
  std::vector<Report> reports = {report::AgentSession{id}};
  if (!preamble.empty()) reports.emplace_back(report::SystemMessage{.id = {}, .parts = std::move(preamble)});
  report(std::move(reports));
  if (stopping_) return end({.kind = Outcome::Kind::stopped});
  if (request_.task->launch.fork) return read_again();  // There is something before the first prompt.
  next_prompt();
}

// The conversation of another agent, without an answer.
void OpencodeTurn::put_transcript() {
  sending_ = true;
  Prompt prompt = as_prompt({}, fork::transcript(carried_));
  prompt.no_reply = true;
  calls_.start(server_.request("POST", target("/message"), prompt_body(prompt)), [this](Result<Reply> reply) {
    sending_ = false;
    if (reply && reply->status < 300) return read_again();
    end({.kind = Outcome::Kind::failed,
         .error = TaskError{"fork_failed",
                            "The parent's conversation could not be put in: " +
                                (reply ? error_text(reply->status, reply->body) : reply.error().message),
                            {}}});
  });
}

Prompt OpencodeTurn::as_prompt(std::string id, std::string text) const {
  const auto agent = request_.agent->options.find("agent");
  const std::string& model = request_.task->launch.model;
  Prompt prompt{.message_id = std::move(id),
                .text = std::move(text),
                .model = model.empty() ? request_.agent->model : model,
                .agent = agent == request_.agent->options.end() ? "" : agent->second,
                .system = request_.agent->prompt};
  // Where nobody says, the session goes on as it was: OpenCode would take its defaults.
  if (prompt.model.empty()) prompt.model = last_model_;
  if (prompt.agent.empty()) prompt.agent = last_agent_;
  return prompt;
}

void OpencodeTurn::next_prompt() {
  if (over_ || stopping_ || sending_ || waiting_.empty() || session_.empty()) return;
  sending_ = true;
  const Message message = std::move(waiting_.front());
  waiting_.pop_front();
  auto sent = std::ranges::find(sent_, message.id, &Sent::message);
  if (sent == sent_.end()) {
    sent_.push_back({message.id, make_message_id(server_.parts().clock.wall(), server_.parts().random), false});
    sent = sent_.end() - 1;
  }
  texts_[sent->id] = words_of(message);
  // Its id is on disk before it is sent.
  report({report::Alive{}});
  sink_.when_stored([this, id = sent->id] {
    if (over_) return;
    const auto found = std::ranges::find(sent_, id, &Sent::id);
    if (found != sent_.end()) post_prompt(*found, texts_[id]);
  });
}

void OpencodeTurn::post_prompt(const Sent& sent, const std::string& text) {
  calls_.start(server_.request("POST", target("/prompt_async"), prompt_body(as_prompt(sent.id, text))),
               [this, id = sent.id](Result<Reply> reply) {
                 sending_ = false;
                 if (!reply) return read_again();  // Perhaps it has it.
                 if (reply->status >= 300)
                   return end({.kind = Outcome::Kind::failed,
                               .error = TaskError{reply->status == 404 ? "session_gone" : "agent_error",
                                                  error_text(reply->status, reply->body),
                                                  {}}});
                 unanswered_ = 0;
                 taken(id);
                 if (stopping_) return abort();
                 next_prompt();
               });
}

void OpencodeTurn::taken(const std::string& id) {
  const auto sent = std::ranges::find(sent_, id, &Sent::id);
  if (sent == sent_.end() || std::exchange(sent->taken, true)) return;
  texts_.erase(id);
  // After a restart it is among those that are to be sent, too.
  std::erase_if(waiting_, [&](const Message& message) { return message.id == sent->message; });
  report({report::Taken{sent->message}});
}

Status OpencodeTurn::send(const Message& message) {
  if (over_ || stopping_) return fail(Code::conflict, "The turn is over.");
  if (!known_.insert(message.id).second) return {};
  waiting_.push_back(message);
  if (opened_) next_prompt();
  return {};
}

// ---- What comes of it

void OpencodeTurn::event(const Event& event) {
  if (over_ || session_.empty()) return;
  if (event.type == Event::Type::session_created && is_ours(event.parent)) children_.insert(event.session_id);
  if (!is_ours(event.session_id)) return;
  alive_ = true;
  if (event.type == Event::Type::permission || event.type == Event::Type::question) return ask(event);
  if (event.session_id != session_) return;
  std::vector<Report> reports;
  switch (event.type) {
    case Event::Type::message:
      if (event.info.role == "user") taken(event.info.id);
      translator_.take(event, reports);
      break;
    case Event::Type::retry: {
      const bool far = event.next - server_.parts().clock.wall() > quota_ms;
      if (far && !std::exchange(quota_, true))
        // As long as it says, for it is OpenCode that waits. How long that holds others is the engine's to bound.
        reports.emplace_back(report::Waits{WaitKind::quota, event.text, event.next});
      reports.emplace_back(report::Warning{"retry", fmt::format("Attempt {}: {}", event.attempt, event.text)});
      break;
    }
    case Event::Type::busy:
      if (std::exchange(quota_, false)) reports.emplace_back(report::GoesOn{});
      break;
    case Event::Type::idle:
      return read_again();
    case Event::Type::session_deleted:
      return end({.kind = Outcome::Kind::failed,
                  .error = TaskError{"session_gone", "The session was deleted in OpenCode.", {}}});
    default:
      translator_.take(event, reports);
  }
  report(std::move(reports));
}

// Those that are open: one that was answered did not get its answer.
void OpencodeTurn::read_asks() {
  calls_.start(server_.request("GET", target("/children")), [this](Result<Reply> children) {
    if (children && children->status == 200)
      for (std::string& id : parse_ids(children->body)) children_.insert(std::move(id));
    const std::string where = in_directory(request_.task->launch.work_dir);
    for (const auto& [path, type] :
         {std::pair("/permission", Event::Type::permission), std::pair("/question", Event::Type::question)})
      calls_.start(server_.request("GET", path + where), [this, asked = type](Result<Reply> reply) {
        if (!reply || reply->status != 200) return;
        for (const Event& event : parse_requests(reply->body, asked))
          if (is_ours(event.session_id)) answers_.contains(event.request.id) ? give(event.request.id) : ask(event);
      });
  });
}

void OpencodeTurn::ask(const Event& event) {
  if (event.request.id.empty() || !asks_.emplace(event.request.id, event.type).second) return;
  report::Asks asks{.request_id = event.request.id};
  if (event.type == Event::Type::permission) {
    asks.kind = AskKind::permission;
    asks.tool = event.request.permission;
    std::string words;
    for (const std::string& pattern : event.request.patterns) {
      // Of a script it names each command: each is a line that the rules look at.
      asks.subject += (asks.subject.empty() ? "" : "\n");
      asks.subject += asks.tool == "bash" ? shell::subject_of(pattern) : pattern;
      words += (words.empty() ? "" : " ") + pattern;
    }
    asks.text = fmt::format("OpenCode asks to use {}: {}", asks.tool, words);
    asks.diff = event.request.diff;
  } else {
    asks.text = event.text;
    asks.options = event.request.options;
  }
  report({std::move(asks)});
}

void OpencodeTurn::answer(const std::string& request_id, const std::string& decision, const std::string& message) {
  if (over_ || !asks_.contains(request_id)) return;
  answers_[request_id] = {decision, message};
  if (opened_) give(request_id);  // Otherwise when what is open is read.
}

void OpencodeTurn::give(const std::string& request_id) {
  const auto& [decision, message] = answers_[request_id];
  const auto found = asks_.find(request_id);
  const std::string where = in_directory(request_.task->launch.work_dir);
  std::string body;
  JsonOut out(body);
  if (found->second == Event::Type::permission) {
    out.object().field("reply", decision == "allow_always" ? "always" : decision == "allow" ? "once" : "reject");
    // Without a word the turn would end here.
    if (decision == "deny") out.field("message", message.empty() ? std::string("Denied. Go on without it.") : message);
    out.end();
    server_.send(server_.request("POST", "/permission/" + url_encode(request_id) + "/reply" + where, body));
  } else {
    out.object().key("answers").array().array().value(message).end().end().end();
    server_.send(server_.request("POST", "/question/" + url_encode(request_id) + "/reply" + where, body));
  }
}

// The whole session, and whether it is at work: after a lost stream, and to see whether it is done.
void OpencodeTurn::read_again() {
  if (over_ || session_.empty()) return;
  read_more_ = true;
  if (std::exchange(reading_, true)) return;
  read_more_ = false;
  const std::string where = "/session/status" + in_directory(request_.task->launch.work_dir);
  calls_.start(server_.request("GET", where), [this](Result<Reply> status) {
    if (!status || status->status != 200) {
      reading_ = false;
      return again_.set(look_again_ms, [this] { read_again(); });
    }
    const bool busy = is_busy(status->body, session_);
    calls_.start(
        server_.request("GET", target("/message") + fmt::format("&limit={}", messages_max)),
        [this, busy](Result<Reply> reply) {
          if (reply && reply->status == 404)
            return end({.kind = Outcome::Kind::failed,
                        .error = TaskError{"session_gone", "The session is no longer there in OpenCode.", {}}});
          if (!reply || reply->status != 200) return messages_read(fail(Code::unavailable, "No answer."), busy);
          beside_.run(
              [body = std::move(reply->body)] { return parse_messages(body); },
              [this, busy](const Result<std::vector<MessageSeen>>& messages) { messages_read(messages, busy); });
        });
  });
}

void OpencodeTurn::messages_read(const Result<std::vector<MessageSeen>>& messages, bool busy) {
  reading_ = false;
  if (over_) return;
  if (!messages) return again_.set(look_again_ms, [this] { read_again(); });
  read(*messages, busy);
}

void OpencodeTurn::read(const std::vector<MessageSeen>& messages, bool busy) {
  for (const MessageSeen& message : messages) {
    if (message.info.role != "user") continue;
    if (!message.info.agent.empty()) last_agent_ = message.info.agent;
    if (!message.info.provider.empty()) last_model_ = message.info.provider + "/" + message.info.model;
  }
  if (messages.empty() && !carried_.empty() && !stopping_ && !sending_) return put_transcript();
  // A further turn begins behind what is there.
  if (sent_.empty() && !messages.empty()) {
    before_ = messages.back().info.id;
    translator_ = Translator(before_);
  }
  for (const MessageSeen& message : messages)
    if (message.info.role == "user") taken(message.info.id);
  std::vector<Report> reports;
  translator_.take(messages, reports);
  report(std::move(reports));
  if (over_) return;
  if (read_more_) return read_again();
  if (busy) {
    unanswered_ = 0;
    if (stopping_ && aborts_ == 0) return abort();
    return next_prompt();
  }
  if (stopping_ && !sending_) return end(outcome_of(messages, before_, true));
  next_prompt();
  if (sending_ || !waiting_.empty()) return;
  // Sent, not taken, and not there: the one who sent it died too early.
  for (const Sent& sent : sent_)
    if (!sent.taken)
      if (const auto text = texts_.find(sent.id); text != texts_.end()) {
        sending_ = true;
        return post_prompt(sent, text->second);
      }
  const Info* last = messages.empty() ? nullptr : &messages.back().info;
  const bool answered = last && last->role == "assistant" && (last->completed || !last->error_name.empty()) &&
                        last->id > (sent_.empty() ? before_ : sent_.back().id);
  // It may not have begun yet, or not have said yet why it failed.
  if (!answered && ++unanswered_ < looks_max) return again_.set(look_again_ms, [this] { read_again(); });
  end(outcome_of(messages, sent_.empty() ? before_ : sent_.front().id, false));
}

// ---- Its end

void OpencodeTurn::stop() {
  if (over_ || std::exchange(stopping_, true)) return;
  if (fork_) {
    fork_->abandon();
    return end({.kind = Outcome::Kind::stopped});
  }
  if (!opened_ && !request_.reattach) return end({.kind = Outcome::Kind::stopped});
  if (!session_.empty() && !sending_) abort();
}

void OpencodeTurn::abort() {
  if (over_) return;
  if (++aborts_ > aborts_max) {
    report({report::Warning{"abort", "OpenCode did not say that it has stopped."}});
    return end({.kind = Outcome::Kind::stopped});
  }
  for (const auto& [id, type] : asks_)
    if (type == Event::Type::permission)
      server_.send(server_.request(
          "POST", "/permission/" + url_encode(id) + "/reply" + in_directory(request_.task->launch.work_dir),
          R"({"reply":"reject"})"));
  calls_.start(server_.request("POST", target("/abort")), [this](const Result<Reply>&) { read_again(); });
  stopping_timer_.set(abort_again_ms, [this] { abort(); });
}

void OpencodeTurn::gone(const std::string& why) {
  if (over_) return;
  if (stopping_) return end({.kind = Outcome::Kind::stopped});
  const bool began = std::ranges::any_of(sent_, &Sent::taken);
  const char* const code = began ? "interrupted" : fork_ ? "fork_failed" : "spawn_failed";
  end({.kind = began ? Outcome::Kind::lost : Outcome::Kind::failed, .error = TaskError{code, why, {}}});
}

void OpencodeTurn::probe() {
  if (over_) return;
  if (std::exchange(alive_, false)) return report({report::Alive{}});
  report({report::Still{"OpenCode says nothing of this session"}});
  alive_ = false;
}

}  // namespace errand::opencode
