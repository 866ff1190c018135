// An OpenCode in memory, as far as the driver sees it: its HTTP API over http::Client, its sessions, its event stream,
// an agent that follows a script. Time goes with the timers. It was written after the recorded streams in
// tests/fixtures/opencode; what the real one does is tested with the real one (tests/e2e/opencode*.test.mjs). It is
// here because a server that dies at every single report needs an OpenCode that says the same each time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "base/time.h"
#include "base/timers.h"
#include "http/client.h"

namespace errand::test {

class ScriptedOpenCode final : public http::Client {
 public:
  // `up`: whether its process is alive.
  ScriptedOpenCode(Timers& timers, Clock& clock, std::function<bool()> up)
      : timers_(timers), clock_(clock), up_(std::move(up)) {}

  std::unique_ptr<http::Call> start(http::Request request, http::Handler& handler) override;

  int busy() const;
  size_t sessions() const { return sessions_.size(); }
  // The connection of every event stream is lost.
  void lose_streams();
  int refuse = 0;   // So many requests find nobody.
  int prompts = 0;  // That began something: the same one is taken once.
  int waited = 0;   // Events that came while their stream was held.

 private:
  struct Session {
    boost::json::array messages;
    bool busy = false;
    bool answering = false;
    size_t answer = 0;  // Which message is being said, or was last.
    size_t seen = 0;    // Messages that it knows of.
    int answers = 0;    // That are complete.
    int turn = 0;       // Goes up with an abort: what was to come does not.
  };
  struct Answer {
    int status = 200;
    std::string body;
  };
  // A call that is under way, as both ends have it.
  struct Wire {
    http::Handler* handler;
    bool live = true;
    bool held = false;
    std::deque<std::string> waiting;  // What was not given to the handler yet.
    void flow();
  };
  class LiveCall;
  using Doing = std::function<void(Session&)>;

  Answer answer(const http::Request& request);
  Answer answer_session(const std::string& method, const std::string& id, const std::string& what,
                        const std::string& body);
  void prompt(const std::string& id, const boost::json::value& body);
  // The doings of one answer, one after the other, and how it goes on behind them.
  void go(const std::string& id, std::vector<Doing> doings);
  void next_answer(const std::string& id);
  std::vector<Doing> looks(const std::string& id);
  std::vector<Doing> says(std::function<std::string(const Session&)> words);
  void end_answer(const std::string& id, boost::json::value error);
  void abort(const std::string& id);

  void begin(Session& session, const std::string& id, std::string_view role, const std::string& message);
  void put(Session& session, size_t message, boost::json::object part);
  void grow(Session& session, std::string_view more);
  void set_tool(Session& session, std::string_view status, std::string_view output);
  // The last part, as it is: at the end of each, too.
  void tell_part(Session& session);
  void tell(const std::string& type, boost::json::object properties);
  std::string make_id(std::string_view prefix);

  Timers& timers_;
  Clock& clock_;
  std::function<bool()> up_;
  std::map<std::string, Session> sessions_;
  std::map<std::string, boost::json::object> permissions_;  // That are open.
  std::map<std::string, std::vector<Doing>> held_;          // What waits for them.
  std::vector<std::weak_ptr<Wire>> streams_;
  int ids_ = 0;
};

}  // namespace errand::test
