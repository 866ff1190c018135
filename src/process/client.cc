#include "process/client.h"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <set>

#include "base/mutex.h"
#include "process/connection.h"
#include "process/journal.h"
#include "process/journal_format.h"
#include "process/protocol.h"
#include "process/run.h"

namespace errand::process {
namespace {

constexpr Millis first_patience_ms = 10'000;  // A disk that stalls is waited for.

RunUsage get_usage(const Fields& fields) {
  RunUsage usage;
  usage.cpu_s = static_cast<double>(fields.number("cpu_us")) / 1e6;
  usage.memory_bytes = fields.number("memory");
  usage.processes = static_cast<int>(fields.number("processes"));
  usage.io_bytes = fields.number("io");
  usage.states = fields.text("states");
  return usage;
}

// The state, all of it on the executor's thread. The connection's thread only hands payloads over.
//
// A request is kept until it is answered. After a lost connection all of them are sent again, in their order, behind an
// attach for each run that somebody listens to: every request may be repeated, so nothing is lost and nothing done
// twice.
class Client : public std::enable_shared_from_this<Client> {
 public:
  using Answer = std::move_only_function<void(Result<const Fields*>)>;

  explicit Client(Executor& executor) : executor_(executor) {}

  void open(const ClientOptions& options, SupervisorFinder finder, FoundSupervisor found);
  void close() { connection_.reset(); }

  void request(FrameOut frame, Answer answer) { add_request(std::move(frame), {{}, std::move(answer), {}}); }
  // One after which `listener` hears of `run`. Where it fails the listener is dropped.
  void subscribe(FrameOut frame, const std::string& run, RunListener* listener, Answer done);
  void forget(RunListener* listener);
  void list(std::move_only_function<void(Result<std::vector<RunStatus>>)> done);
  Abilities abilities() const {
    const Lock lock(mutex_);
    return abilities_;
  }

 private:
  struct Request {
    std::string frame;
    Answer answer;
    std::string subscribes;  // The run that it makes us hear of.
    bool again = false;      // Made by replay(), so the next replay makes its own.
    bool resent = false;     // To a further connection: perhaps the first one had it.
  };

  void set_abilities(Abilities abilities) {
    const Lock lock(mutex_);
    abilities_ = std::move(abilities);
  }
  void add_request(FrameOut frame, Request request);
  void replay();
  void attach_again(const std::string& run);
  void take(const std::string& payload);
  void take_event(const Fields& fields);
  void end(const std::string& run, const RunEnd& end);
  void unavailable(const Error& error);

  Executor& executor_;
  std::string data_dir_;
  mutable Mutex mutex_;
  Abilities abilities_ GUARDED_BY(mutex_);
  std::map<int64_t, Request> requests_;
  std::map<std::string, RunListener*> listeners_;
  int64_t next_id_ = 1;
  std::unique_ptr<Connection> connection_;  // Last: its thread uses the rest.
};

void Client::open(const ClientOptions& options, SupervisorFinder finder, FoundSupervisor found) {
  data_dir_ = options.data_dir;
  bool other_build = found.build != build_of(options.self.c_str());
  std::weak_ptr<Client> weak = weak_from_this();
  auto on_executor = [weak, &executor = executor_](auto work) {
    executor.post([weak, work = std::move(work)]() mutable {
      if (auto self = weak.lock(); self && self->connection_) work(*self);
    });
  };
  Connection::Events events;
  set_abilities(found.abilities);
  events.connected = [on_executor](Abilities abilities) {
    on_executor([abilities = std::move(abilities)](Client& self) mutable {
      self.set_abilities(std::move(abilities));
      self.replay();
    });
  };
  events.payloads = [on_executor](std::vector<std::string> payloads) {
    on_executor([payloads = std::move(payloads)](Client& self) {
      for (const std::string& payload : payloads) self.take(payload);
    });
  };
  events.unavailable = [on_executor](const Error& error) {
    on_executor([error](Client& self) { self.unavailable(error); });
  };
  connection_ = std::make_unique<Connection>(std::move(finder), std::move(found), std::move(events));
  // One of another build goes on with the runs that it has; when it has none it leaves, and ours is started.
  if (other_build) request(std::move(FrameOut().add("op", "retire")), [](auto&&) {});
}

void Client::add_request(FrameOut frame, Request request) {
  int64_t id = next_id_++;
  frame.add("id", id);
  if (!frame.fits()) {
    executor_.post([answer = std::move(request.answer)]() mutable {
      answer(fail(Code::too_large, "The request is over 16 MiB; pass the data in a file."));
    });
    return;
  }
  request.frame = frame.take();
  auto entry = requests_.emplace(id, std::move(request)).first;
  connection_->send(entry->second.frame);
}

void Client::subscribe(FrameOut frame, const std::string& run, RunListener* listener, Answer done) {
  listeners_[run] = listener;
  auto answer = [this, run, listener, done = std::move(done)](Result<const Fields*> reply) mutable {
    auto entry = listeners_.find(run);
    if (!reply && entry != listeners_.end() && entry->second == listener) listeners_.erase(entry);
    done(std::move(reply));
  };
  add_request(std::move(frame), {{}, std::move(answer), run});
}

void Client::forget(RunListener* listener) {
  for (auto entry = listeners_.begin(); entry != listeners_.end();) {
    if (entry->second != listener) {
      ++entry;
      continue;
    }
    request(std::move(FrameOut().add("op", "forget").add("run", entry->first)), [](auto&&) {});
    entry = listeners_.erase(entry);
  }
}

void Client::replay() {
  connection_->open();
  std::erase_if(requests_, [](const auto& entry) { return entry.second.again; });
  std::set<std::string> asked;
  for (const auto& entry : requests_) asked.insert(entry.second.subscribes);
  std::vector<std::string> runs;
  runs.reserve(listeners_.size());
  for (const auto& entry : listeners_)
    if (!asked.contains(entry.first)) runs.push_back(entry.first);
  for (auto& entry : requests_) {
    entry.second.resent = true;
    connection_->send(entry.second.frame);
  }
  for (const std::string& run : runs) attach_again(run);
}

void Client::attach_again(const std::string& run) {
  auto answer = [this, run](Result<const Fields*> reply) {
    if (reply || reply.error().code != Code::not_found) return;
    RunEnd lost;
    lost.how = RunEnd::How::lost;
    lost.text = "The folder of the run is gone.";
    end(run, lost);
  };
  add_request(std::move(FrameOut().add("op", "attach").add("run", run)), {{}, std::move(answer), run, true});
}

void Client::take(const std::string& payload) {
  auto fields = Fields::parse(payload);
  if (!fields) return;
  if (fields->has("event")) return take_event(*fields);
  auto entry = requests_.find(fields->number("re"));
  if (entry == requests_.end()) return;
  Status status = get_status(*fields);
  if (!status && status.error().code == Code::unavailable) return;  // It leaves: replay() asks the next one.
  // Sent again, it is what was taken the first time.
  if (status && fields->has("again") && !entry->second.resent)
    status = fail(Code::conflict, "This frame of standard input was taken before.", input_taken);
  Answer answer = std::move(entry->second.answer);
  requests_.erase(entry);
  if (!status)
    answer(std::unexpected(status.error()));
  else
    answer(&*fields);
}

void Client::take_event(const Fields& fields) {
  std::string run(fields.text("run"));
  if (fields.text("event") == "ended") return end(run, get_end(fields));
  auto entry = listeners_.find(run);
  if (entry == listeners_.end()) return;
  if (fields.text("event") == "output") entry->second->output(fields.number("total"));
  if (fields.text("event") == "used") entry->second->used(get_usage(fields));
}

void Client::end(const std::string& run, const RunEnd& end) {
  auto entry = listeners_.find(run);
  if (entry == listeners_.end()) return;
  RunListener* listener = entry->second;
  listeners_.erase(entry);  // ended() is the last that it hears.
  listener->ended(end);
}

// No run is left: its keeper ends it when the supervisor dies, and what it printed is in its folder. So nothing is owed
// to the next supervisor: a folder that was to go is found by the next start.
void Client::unavailable(const Error& error) {
  const Error told{Code::unavailable,
                   "No supervisor runs, and none can be started. " + error.message + " Fix that, then retry the task.",
                   supervisor_unavailable};
  const auto open_folder = [this](const std::string& run) {
    return Fd(::open(run_folder(data_dir_, run).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  };
  for (auto& [id, request] : std::exchange(requests_, {})) {
    // A run that has a folder was begun, though nobody heard the answer: it is lost, not refused.
    const Fields nothing;
    if (!request.subscribes.empty() && open_folder(request.subscribes))
      request.answer(&nothing);
    else
      request.answer(std::unexpected(told));
  }
  std::vector<std::string> runs;
  runs.reserve(listeners_.size());
  for (const auto& entry : listeners_) runs.push_back(entry.first);
  for (const std::string& run : runs) {
    RunEnd lost;
    lost.how = RunEnd::How::lost;
    lost.text = "The supervisor died, and the run's processes were ended. " + error.message;
    const Fd folder = open_folder(run);
    if (folder) lost.output_bytes = journal_total(folder.get());
    end(run, lost);
  }
}

// Every folder under run/: those that the supervisor says are alive, and what the others say of themselves.
std::vector<RunStatus> read_folders(const std::string& data_dir, const std::set<std::string>& live) {
  std::vector<RunStatus> all;
  Fd runs(::open((data_dir + "/" + runs_name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!runs) return all;
  for (const std::string& run : names_in(runs.get())) {
    if (!is_run_name(run)) continue;
    Fd folder(::openat(runs.get(), run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!folder) continue;
    RunStatus status{run, false, 0, read_end(folder.get())};
    status.alive = live.contains(run) && !status.end;
    status.output_bytes = status.end ? status.end->output_bytes : journal_total(folder.get());
    all.push_back(std::move(status));
  }
  std::ranges::sort(all, {}, &RunStatus::run);
  return all;
}

void Client::list(std::move_only_function<void(Result<std::vector<RunStatus>>)> done) {
  request(std::move(FrameOut().add("op", "list")), [this, done = std::move(done)](Result<const Fields*> reply) mutable {
    if (!reply) return done(std::unexpected(reply.error()));
    std::set<std::string> live;
    for (std::string_view run : (*reply)->all("run")) live.emplace(run);
    // There may be many folders: they are read beside the engine's thread.
    connection_->post([data_dir = data_dir_, live = std::move(live), done = std::move(done),
                       &executor = executor_]() mutable {
      executor.post([all = read_folders(data_dir, live), done = std::move(done)]() mutable { done(std::move(all)); });
    });
  });
}

// What callers hold: its end closes the connection, whoever else still has the state in hand.
class ClientHandle final : public SupervisorClient {
 public:
  explicit ClientHandle(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  ~ClientHandle() override { client_->close(); }

  void spawn(SpawnRequest request, RunListener* listener, Done done) override {
    FrameOut frame;
    frame.add("op", "spawn");
    put_spawn(frame, request);
    client_->subscribe(std::move(frame), request.run, listener,
                       [done = std::move(done)](Result<const Fields*> reply) mutable {
                         reply ? done({}) : done(std::unexpected(reply.error()));
                       });
  }
  void attach(const std::string& run, RunListener* listener, TakenUp done) override {
    client_->subscribe(about("attach", run), run, listener,
                       [done = std::move(done)](Result<const Fields*> reply) mutable {
                         if (!reply) return done(std::unexpected(reply.error()));
                         Attached attached;
                         if ((*reply)->has("number")) attached.input_taken = (*reply)->number("number");
                         done(attached);
                       });
  }
  void forget(RunListener* listener) override { client_->forget(listener); }
  void stop(const std::string& run, std::optional<Millis> grace_ms) override {
    FrameOut frame = about("stop", run);
    if (grace_ms) frame.add("grace", *grace_ms);
    client_->request(std::move(frame), [](auto&&) {});
  }
  void input(const std::string& run, int64_t number, std::string bytes, Taken done) override {
    FrameOut frame = about("input", run);
    frame.add("number", number).add("bytes", bytes);
    client_->request(std::move(frame), [done = std::move(done)](Result<const Fields*> reply) mutable {
      if (!reply) return done(std::unexpected(reply.error()));
      done((*reply)->number("number"));
    });
  }
  void close_input(const std::string& run) override {
    client_->request(about("close_input", run), [](auto&&) {});
  }
  void usage(const std::string& run, std::move_only_function<void(Result<RunUsage>)> done) override {
    client_->request(about("usage", run), [done = std::move(done)](Result<const Fields*> reply) mutable {
      if (!reply) return done(std::unexpected(reply.error()));
      done(get_usage(**reply));
    });
  }
  void release_journal(const std::string& run, int64_t offset) override {
    FrameOut frame = about("release_journal", run);
    frame.add("offset", offset);
    client_->request(std::move(frame), [](auto&&) {});
  }
  void release(const std::string& run) override {
    client_->request(about("release", run), [](auto&&) {});
  }
  void list(std::move_only_function<void(Result<std::vector<RunStatus>>)> done) override {
    client_->list(std::move(done));
  }
  Abilities abilities() const override { return client_->abilities(); }

 private:
  static FrameOut about(std::string_view op, const std::string& run) {
    return std::move(FrameOut().add("op", op).add("run", run));
  }

  std::shared_ptr<Client> client_;
};

}  // namespace

Result<std::unique_ptr<SupervisorClient>> connect_supervisor(const ClientOptions& options, Executor& executor) {
  SupervisorFinder finder(options);
  auto found = finder.find(first_patience_ms);
  if (!found) return std::unexpected(found.error());
  auto client = std::make_shared<Client>(executor);
  client->open(options, std::move(finder), std::move(*found));
  return std::make_unique<ClientHandle>(std::move(client));
}

}  // namespace errand::process
