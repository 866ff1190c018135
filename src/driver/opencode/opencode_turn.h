// A turn in OpenCode: its prompts, what comes of them, and its end.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "driver/opencode/fork_copy.h"
#include "driver/opencode/server.h"
#include "driver/opencode/translate.h"

namespace errand::opencode {

class OpencodeTurn final : public Turn, private SessionListener {
 public:
  OpencodeTurn(Server& server, TurnRequest request, Sink& sink);
  ~OpencodeTurn() override;

  Status send(const Message& message) override;
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override;
  void stop() override;
  void probe() override;
  void drop() override;

 private:
  // A message on its way: first its id is stored, then it is sent under that id, so that it is there once whoever dies
  // when.
  struct Sent {
    MessageId message;
    std::string id;      // OpenCode's.
    bool taken = false;  // OpenCode has it.
  };

  void event(const Event& event) override;
  void stream_lost() override { translator_.missed(); }
  void stream_open() override;
  void gone(const std::string& why) override;

  void make_session();
  void fork_parent();
  void got_session(const std::string& id, std::vector<errand::Part> preamble);
  void put_transcript();
  Prompt as_prompt(std::string id, std::string text) const;
  void next_prompt();
  void post_prompt(const Sent& sent, const std::string& text);
  void taken(const std::string& id);
  void read_again();
  void messages_read(const Result<std::vector<MessageSeen>>& messages, bool busy);
  void read(const std::vector<MessageSeen>& messages, bool busy);
  void read_asks();
  void ask(const Event& event);
  void give(const std::string& request_id);
  void abort();
  void report(std::vector<Report> reports);
  void end(Outcome outcome);
  std::string checkpoint() const;
  void restore(std::string_view text);
  std::string target(std::string_view path) const;
  bool is_ours(std::string_view session) const {
    return session == session_ || children_.contains(std::string(session));
  }

  Server& server_;
  TurnRequest request_;
  Sink& sink_;
  Calls calls_;
  Beside beside_;
  Timer again_, stopping_timer_;
  Translator translator_;
  std::unique_ptr<ForkCopy> fork_;       // While the session is being made as a fork,
  std::string copy_;                     // in this one.
  std::vector<Message> carried_;         // Copied by the engine: to be put into a new session.
  std::string last_agent_, last_model_;  // Of the session's last prompt.
  std::string session_;
  std::string before_;  // The last message before this turn; empty until it is known.
  std::set<std::string> children_;
  std::deque<Message> waiting_;               // Not sent yet.
  std::map<std::string, std::string> texts_;  // Of what was sent and is not taken, by OpenCode's id.
  std::vector<Sent> sent_;
  std::set<MessageId> known_;
  struct Answer {
    std::string decision, message;
  };
  std::map<std::string, Event::Type> asks_;
  std::map<std::string, Answer> answers_;  // To those of them that were answered.
  bool opened_ = false;                    // The stream has been open: the session is known or being made.
  bool sending_ = false;                   // A prompt is on its way.
  bool reading_ = false, read_more_ = false;
  bool stopping_ = false, over_ = false, quota_ = false;
  int unanswered_ = 0;  // Looks at an idle session that has not answered.
  int aborts_ = 0;
  bool alive_ = false;  // Something came since the last probe.
};

}  // namespace errand::opencode
