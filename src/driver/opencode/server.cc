#include "driver/opencode/server.h"

#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/json_out.h"
#include "base/log.h"
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
      patience_(parts.timers),
      again_(parts.timers),
      idle_(parts.timers),
      posted_(parts.timers) {}

Server::~Server() { parts_.supervisor.forget(this); }

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
  if (state_ == State::none) return begin();
  if (state_ == State::up && streaming_)
    parts_.timers.add(0, [this, who = &listener] {
      if (listeners_.contains(who) && streaming_) who->stream_open();
    });
}

void Server::leave(SessionListener& listener) {
  listeners_.erase(&listener);
  if (listeners_.empty()) rest();
}

void Server::rest() {
  idle_.set(unneeded_ms, [this] {
    if (!listeners_.empty() || state_ == State::none) return;
    log_info("opencode", "nobody has needed it for a while: it is ended");
    parts_.supervisor.stop(run());
  });
}

void Server::take_up() {
  if (state_ == State::none && load()) attach();
}

void Server::begin() {
  state_ = State::starting;
  patience_.set(start_ms, [this] {
    parts_.supervisor.stop(run());
    fail_all("OpenCode did not start in time; opencode serve shows why.");
  });
  if (load()) return attach();
  spawn();
}

void Server::attach() {
  state_ = State::starting;
  fresh_ = false;
  parts_.supervisor.attach(run(), this, [this](const Status& status) {
    if (status) return read_port();
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
  if (const Status saved = save(); !saved) return fail_all(saved.error().message);
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
  parts_.supervisor.spawn(std::move(request), this, [this](const Status& status) {
    if (!status) fail_all(status.error().message);
  });
}

void Server::output(int64_t) {
  if (state_ == State::starting && port_ == 0) read_port();
}

void Server::read_port() {
  const auto journal = options_.open_journal ? options_.open_journal(run())
                                             : process::Journal::open(process::run_folder(options_.data_dir, run()));
  if (!journal) return;
  const auto read = (*journal)->read(0, 64 << 10);
  if (!read) return;
  std::string text;
  for (const process::Piece& piece : read->pieces) text += piece.bytes;
  const size_t at = text.find(listening);
  if (at == std::string::npos) return;
  const char* begin = text.data() + at + listening.size();
  if (std::from_chars(begin, text.data() + text.size(), port_).ec != std::errc() || port_ < 1 || port_ > 65'535) return;
  check();
}

void Server::check() {
  calls_.start(request("GET", "/global/health"), [this](Result<Reply> reply) {
    if (state_ != State::starting) return;
    if (!reply || reply->status != 200)
      return fail_all(reply ? error_text(reply->status, reply->body) : reply.error().message);
    patience_.cancel();
    state_ = State::up;
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

void Server::ended(const process::RunEnd& end) {
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
  stream_.reset();
  each([&](SessionListener& listener) { listener.gone(why); });
}

bool Server::load() {
  std::ifstream in(options_.data_dir + "/opencode/serve.json");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string number = text_field(text, "run");
  password_ = text_field(text, "password");
  return !password_.empty() &&
         std::from_chars(number.data(), number.data() + number.size(), number_).ec == std::errc() && number_ > 0;
}

Status Server::save() const {
  const std::string folder = options_.data_dir + "/opencode", file = folder + "/serve.json";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  std::string text;
  JsonOut(text).object().field("run", std::to_string(number_)).field("password", password_).end();
  const std::string temporary = file + ".new";
  ::unlink(temporary.c_str());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written =
      fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  written = written && ::rename(temporary.c_str(), file.c_str()) == 0;
  if (!written) return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", file, std::strerror(errno)));
  return {};
}

}  // namespace errand::opencode
