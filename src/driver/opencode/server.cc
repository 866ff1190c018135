#include "driver/opencode/server.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "process/journal.h"

namespace errand::opencode {

namespace {

constexpr Millis start_ms = 90'000;        // Until it listens.
constexpr Millis unneeded_ms = 600'000;    // Then it is ended.
constexpr Millis stream_silence = 60'000;  // It says something every ten seconds.
constexpr Millis pause_min = 100, pause_max = 5'000;
constexpr int64_t log_limit = 1 << 20;
constexpr std::string_view listening = "listening on http://127.0.0.1:";

// What has to be known of the process: a file, so that the next server finds it.
struct Card {
  int number = 0;  // Of the run.
  std::string password;
};

std::optional<Card> load(const std::string& data_dir) {
  std::ifstream in(data_dir + "/opencode/serve.json");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string number = text_field(text, "run");
  Card card{.password = text_field(text, "password")};
  if (card.password.empty() ||
      std::from_chars(number.data(), number.data() + number.size(), card.number).ec != std::errc() || card.number <= 0)
    return {};
  return card;
}

Status save(const std::string& data_dir, const Card& card) {
  const std::string folder = data_dir + "/opencode", file = folder + "/serve.json";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  std::string text;
  JsonOut(text).object().field("run", std::to_string(card.number)).field("password", card.password).end();
  const int failed = replace_file(file, text, 0600, Durability::power);
  if (failed != 0)
    return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", file, std::strerror(failed)));
  return {};
}

// Where it listens, by what it has printed; 0: it has not said yet.
int port_in(const Result<std::shared_ptr<process::Journal>>& journal) {
  if (!journal) return 0;
  const auto read = (*journal)->read(0, 64 << 10);
  if (!read) return 0;
  std::string text;
  for (const process::Piece& piece : read->pieces) text += piece.bytes;
  const size_t at = text.find(listening);
  if (at == std::string::npos) return 0;
  int port = 0;
  const char* begin = text.data() + at + listening.size();
  const bool good = std::from_chars(begin, text.data() + text.size(), port).ec == std::errc() && port <= 65'535;
  return good ? std::max(port, 0) : 0;
}

}  // namespace

class Server::Stream final : public http::Handler {
 public:
  explicit Stream(Server& server) : server_(server) {}
  void head(const http::Head& head) override { status_ = head.status; }
  void body(std::string_view bytes) override {
    if (status_ != 200) return;
    parser_.feed(bytes, [this](const SseEvent& event) {
      server_.stream_event(event.data);
      return true;
    });
  }
  void done(Status) override { server_.stream_ended(); }

  std::unique_ptr<http::Call> call;

 private:
  Server& server_;
  SseParser parser_;
  int status_ = 0;
};

Server::Server(Options options, Parts parts)
    : options_(std::move(options)),
      parts_(parts),
      sessions_(options_.data_dir + "/opencode/tasks"),
      calls_(parts.http),
      beside_(parts.files, parts.engine),
      patience_(parts.timers),
      again_(parts.timers),
      idle_(parts.timers),
      posted_(parts.timers) {
  if (parts_.files != nullptr) in_order_.emplace(*parts_.files);
  if (parts_.programs != nullptr)
    parts_.programs->on_want_room([this] {
      if (listeners_.empty()) end_unneeded();
    });
}

Server::~Server() { parts_.supervisor.forget(this); }

Programs::Program Server::as_program() const {
  return {.agent = "opencode", .task = {}, .driver = "opencode", .waits = listeners_.empty()};
}

std::string Server::run() const { return fmt::format("opencode__serve.{}", number_); }

void Server::each(const std::function<void(SessionListener&)>& tell) {
  // Who is told may leave, and take others along.
  const std::set<SessionListener*> all = listeners_;
  for (SessionListener* listener : all)
    if (listeners_.contains(listener)) tell(*listener);
}

void Server::join(SessionListener& listener) {
  idle_.cancel();
  listeners_.insert(&listener);
  if (state_ != State::none && parts_.programs != nullptr) parts_.programs->runs(run(), as_program());
  if (state_ == State::none) return begin();
  if (state_ == State::up && streaming_)
    parts_.timers.add(0, [this, who = &listener] {
      if (listeners_.contains(who) && streaming_) who->stream_open();
    });
}

void Server::leave(SessionListener& listener) {
  listeners_.erase(&listener);
  go_on(listener);
  if (listeners_.empty()) rest();
}

void Server::hold(SessionListener& listener) {
  if (!listeners_.contains(&listener)) return;
  held_by_.insert(&listener);
  if (stream_ && stream_->call) stream_->call->hold();
}

void Server::go_on(SessionListener& listener) {
  if (held_by_.erase(&listener) == 0 || !held_by_.empty()) return;
  if (stream_ && stream_->call) stream_->call->go_on();
}

void Server::rest() {
  if (parts_.programs != nullptr) parts_.programs->waits(run());
  idle_.set(unneeded_ms, [this] {
    if (!listeners_.empty() || state_ == State::none) return;
    log_info("opencode", "nobody has needed it for a while: it is ended");
    parts_.supervisor.stop(run());
  });
}

void Server::add_session(const TaskId& task, const std::string& session) {
  Beside(in_order(), parts_.engine)
      .run(
          [sessions = sessions_, task, session] {
            sessions.add(task, session);
            return true;
          },
          [](bool) {});
}

void Server::take_up() {
  if (state_ != State::none) return;
  state_ = State::starting;
  find();
}

void Server::end_unneeded() {
  if (state_ == State::none) return;
  log_info("opencode", "no task is at work in it: it is ended");
  parts_.supervisor.stop(run());
}

void Server::begin() {
  state_ = State::starting;
  be_patient();
  find();
}

void Server::be_patient() {
  patience_.set(start_ms, [this] {
    parts_.supervisor.stop(run());
    fail_all("OpenCode did not start in time; opencode serve shows why.");
  });
}

void Server::find() {
  beside_.run([data_dir = options_.data_dir] { return load(data_dir); },
              [this](std::optional<Card> card) {
                if (card) {
                  number_ = card->number;
                  password_ = std::move(card->password);
                  return attach();
                }
                state_ = State::none;
                if (listeners_.empty()) return;
                state_ = State::starting;
                be_patient();
                spawn();
              });
}

void Server::attach() {
  state_ = State::starting;
  fresh_ = false;
  parts_.supervisor.attach(run(), this, [this](const Result<process::Attached>& attached) {
    if (attached) {
      if (parts_.programs != nullptr) parts_.programs->runs(run(), as_program());
      return read_port();
    }
    state_ = State::none;
    if (!listeners_.empty()) {
      state_ = State::starting;
      spawn();
    }
  });
}

void Server::spawn() {
  fresh_ = true;
  ++number_;
  port_ = 0;
  password_ = random_secret(parts_.random, 24);
  beside_.clear();
  reading_port_ = false;
  // Known before it is there: whoever comes after us finds it.
  beside_.run([data_dir = options_.data_dir, card = Card{number_, password_}] { return save(data_dir, card); },
              [this](const Status& saved) { saved ? spawn_saved() : fail_all(saved.error().message); });
}

void Server::spawn_saved() {
  process::SpawnRequest request{.run = run(),
                                .argv = {options_.program, "serve", "--hostname", "127.0.0.1", "--port", "0"},
                                .work_dir = "/",
                                .output_limit = log_limit};
  for (const std::string& variable : options_.environment) {
    if (variable.starts_with("HOME=")) request.work_dir = variable.substr(5);
    // Ours are ours; a plugin in it is to find this server, and the password is not that of another one.
    if (!variable.starts_with("ERRAND_") && !variable.starts_with("OPENCODE_SERVER_")) request.env.push_back(variable);
  }
  request.env.push_back("ERRAND_DATA_DIR=" + options_.data_dir);
  request.env.push_back("OPENCODE_SERVER_PASSWORD=" + password_);
  if (parts_.programs != nullptr) parts_.programs->starts(run(), as_program());
  parts_.supervisor.spawn(std::move(request), this, [this](const Status& status) {
    if (status) return;
    if (parts_.programs != nullptr) parts_.programs->gone(run());
    fail_all(status.error().message);
  });
}

void Server::output(int64_t) {
  if (state_ == State::starting && port_ == 0) read_port();
}

void Server::read_port() {
  if (std::exchange(reading_port_, true)) {
    read_port_again_ = true;
    return;
  }
  read_port_again_ = false;
  beside_.run(
      [open = options_.open_journal, run = run(), data_dir = options_.data_dir] {
        return port_in(open ? open(run) : process::Journal::open(process::run_folder(data_dir, run)));
      },
      [this](int port) {
        reading_port_ = false;
        if (state_ != State::starting) return;
        if (port == 0) {
          if (read_port_again_) read_port();
          return;
        }
        port_ = port;
        check();
      });
}

void Server::check() {
  calls_.start(request("GET", "/global/health"), [this](Result<Reply> reply) {
    if (state_ != State::starting) return;
    if (!reply || reply->status != 200)
      return fail_all(reply ? error_text(reply->status, reply->body) : reply.error().message);
    patience_.cancel();
    state_ = State::up;
    if (parts_.programs != nullptr) parts_.programs->ready(run(), version_in(reply->body));
    open_stream();
    if (listeners_.empty()) rest();
  });
}

http::Request Server::request(std::string method, const std::string& target, std::string body) const {
  http::Request request{
      .method = std::move(method), .url = fmt::format("http://127.0.0.1:{}{}", port_, target), .body = std::move(body)};
  request.headers = {{"Authorization", "Basic " + to_base64("opencode:" + password_)}, {"Accept", "application/json"}};
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  return request;
}

void Server::send(http::Request request) {
  calls_.start(std::move(request), [](const Result<Reply>&) {});
}

void Server::open_stream() {
  http::Request wanted = request("GET", "/global/event");
  wanted.silence_ms = stream_silence;
  wanted.body_max = INT64_MAX;
  stream_ = std::make_unique<Stream>(*this);
  stream_->call = parts_.http.start(std::move(wanted), *stream_);
  if (!held_by_.empty()) stream_->call->hold();
}

void Server::stream_event(std::string_view data) {
  const std::optional<Event> event = parse_event(data);
  if (!event) return;
  if (event->type == Event::Type::connected) {
    streaming_ = true;
    stream_pause_ = 0;
    return each([](SessionListener& listener) { listener.stream_open(); });
  }
  if (event->type != Event::Type::other) each([&](SessionListener& listener) { listener.event(*event); });
}

void Server::stream_ended() {
  const bool was = std::exchange(streaming_, false);
  if (state_ != State::up) return;
  if (was) each([](SessionListener& listener) { listener.stream_lost(); });
  again_.set(std::max(stream_pause_, pause_min), [this] {
    if (state_ == State::up) open_stream();
  });
  stream_pause_ = std::clamp(stream_pause_ * 2, pause_min, pause_max);
}

void Server::used(const process::RunUsage& usage) {
  if (parts_.programs != nullptr) parts_.programs->uses(run(), usage.memory_bytes);
}

void Server::ended(const process::RunEnd& end) {
  if (parts_.programs != nullptr) parts_.programs->gone(run());
  parts_.supervisor.release(run());
  const bool earlier = state_ == State::starting && !fresh_;
  // One of an earlier server that has ended meanwhile: another takes its place where it is needed.
  if (earlier && !listeners_.empty()) {
    calls_.clear();
    return spawn();
  }
  fail_all(end.how == process::RunEnd::How::spawn_failed ? "OpenCode could not be started: " + end.text
                                                         : "OpenCode's process has ended.");
}

void Server::fail_all(const std::string& why) {
  state_ = State::none;
  port_ = 0;
  streaming_ = false;
  patience_.cancel();
  again_.cancel();
  idle_.cancel();
  calls_.clear();
  beside_.clear();
  reading_port_ = false;
  stream_.reset();
  each([&](SessionListener& listener) { listener.gone(why); });
}

}  // namespace errand::opencode
