// The one `opencode serve`: found or started when it is needed, ended when nobody has needed it for a while; and its
// event stream, which is opened again when it is lost.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/beside.h"
#include "base/serial.h"
#include "base/sse.h"
#include "driver/opencode/calls.h"
#include "driver/opencode/opencode_driver.h"
#include "driver/opencode/sessions.h"
#include "driver/opencode/wire.h"

namespace errand::opencode {

// Who looks after a session.
class SessionListener {
 public:
  virtual ~SessionListener() = default;
  virtual void event(const Event& event) = 0;
  virtual void stream_lost() = 0;
  // The stream is there (again): what happened before it has to be read.
  virtual void stream_open() = 0;
  // The process is gone, and all that ran in it.
  virtual void gone(const std::string& why) = 0;
};

class Server final : public process::RunListener {
 public:
  Server(Options options, Parts parts);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Hears all events of all sessions from when the stream is open, which is told each time: where it is open already,
  // by a stream_open() that comes later. Without one there is nobody who needs the process.
  void join(SessionListener& listener);
  void leave(SessionListener& listener);
  // One whose reports cannot be stored as fast as they come holds the stream, and with it the events of all sessions,
  // until it goes on or leaves.
  void hold(SessionListener& listener);
  void go_on(SessionListener& listener);

  // A request to it, once it is there. `target` has the path and its query.
  http::Request request(std::string method, const std::string& target, std::string body = {}) const;
  // Sent without anybody who waits for the answer.
  void send(http::Request request);
  // A process that an earlier server left is taken up, so that it is ended when nobody needs it.
  void take_up();
  // errand leaves and no task of its is at work: nobody would need the process (half a gigabyte) until it comes back.
  void end_unneeded();

  const Parts& parts() const { return parts_; }
  const Options& options() const { return options_; }
  // Which sessions are whose is in files: what is done with them is done in_order(), beside the engine's thread.
  const Sessions& sessions() const { return sessions_; }
  Executor* in_order() { return in_order_ ? &*in_order_ : nullptr; }
  // This session was made for this task.
  void add_session(const TaskId& task, const std::string& session);

 private:
  enum class State : uint8_t { none, starting, up };
  class Stream;

  // process::RunListener
  void output(int64_t total) override;
  void ended(const process::RunEnd& end) override;
  void used(const process::RunUsage& usage) override;

  void begin();
  void be_patient();
  void attach();
  void spawn();
  void spawn_saved();
  void read_port();
  void check();
  void open_stream();
  void stream_event(std::string_view data);
  void stream_ended();
  void rest();
  void fail_all(const std::string& why);
  void each(const std::function<void(SessionListener&)>& tell);
  // Looks for the process that an earlier server may have left.
  void find();
  std::string run() const;
  Programs::Program as_program() const;

  Options options_;
  Parts parts_;
  Sessions sessions_;
  std::optional<Serial> in_order_;
  State state_ = State::none;
  bool fresh_ = false;  // Started here, not found.
  int number_ = 0;      // Of the run.
  int port_ = 0;
  std::string password_;
  bool streaming_ = false;
  Millis stream_pause_ = 0;
  std::set<SessionListener*> listeners_;
  std::set<SessionListener*> held_by_;
  Calls calls_;
  Beside beside_;
  bool reading_port_ = false, read_port_again_ = false;
  std::unique_ptr<Stream> stream_;
  Timer patience_, again_, idle_, posted_;
};

}  // namespace errand::opencode
