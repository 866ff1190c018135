#include <list>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/sse.h"
#include "base/text.h"
#include "driver/builtin/mcp_client/messages.h"
#include "driver/builtin/mcp_client/transport.h"

namespace errand::builtin::mcp {
namespace {

constexpr size_t session_id_max = 512;
constexpr size_t calls_max = 64;  // At once.
constexpr Millis goodbye_ms = 2'000;

class Http final : public Transport {
 public:
  Http(http::Client& client, Executor& engine, std::string url, http::Headers headers, Millis timeout_ms)
      : client_(client), engine_(engine), url_(std::move(url)), headers_(std::move(headers)), timeout_ms_(timeout_ms) {}

  void start(Listener& listener) override { listener_ = &listener; }
  void agreed(std::string version) override { version_ = std::move(version); }

  void send(std::string message, int64_t id) override {
    if (posts_.size() >= calls_max) {
      engine_.post([this, here = std::weak_ptr(here_), id] {
        if (!here.expired() && listener_ && id != 0) listener_->lost(id, "Too many calls are under way at once.");
      });
      return;
    }
    http::Request request{.method = "POST", .url = url_, .headers = headers(), .body = std::move(message)};
    request.headers.emplace_back("Content-Type", "application/json");
    request.headers.emplace_back("Accept", "application/json, text/event-stream");
    request.first_byte_ms = timeout_ms_;
    request.silence_ms = timeout_ms_;
    request.body_max = static_cast<int64_t>(4 * message_bytes_max);
    Post& post = posts_.emplace_back(*this, id);
    post.self = std::prev(posts_.end());
    post.call = client_.start(std::move(request), post);
  }

  // The session is said good-bye to, for a moment at most.
  void close(std::move_only_function<void()> gone) override {
    listener_ = nullptr;
    posts_.clear();
    closed_ = std::move(gone);
    if (session_.empty()) {
      engine_.post([this, here = std::weak_ptr(here_)] {
        if (!here.expired()) said_goodbye();
      });
      return;
    }
    http::Request request{.method = "DELETE", .url = url_, .headers = headers(), .body = {}};
    request.connect_ms = goodbye_ms;
    request.first_byte_ms = goodbye_ms;
    request.silence_ms = goodbye_ms;
    goodbye_ = client_.start(std::move(request), farewell_);
  }

 private:
  struct Post final : http::Handler {
    Post(Http& of, int64_t request_id) : http(of), id(request_id) {}
    void head(const http::Head& head) override {
      status = head.status;
      events = head.header("content-type").starts_with("text/event-stream");
      const std::string_view given = head.header("mcp-session-id");
      if (!given.empty() && given.size() <= session_id_max) http.session_ = given;
    }
    void body(std::string_view bytes) override {
      if (!events) {
        if (text.size() + bytes.size() <= message_bytes_max) text += bytes;
        return;
      }
      if (status / 100 != 2) return;
      const std::weak_ptr here = http.here_;
      std::vector<std::string> messages;
      sse.feed(bytes, [&](const SseEvent& event) {
        if (!event.data.empty()) messages.push_back(event.data);
        return true;
      });
      for (const std::string& message : messages) {
        if (here.expired() || !http.listener_) return;
        http.listener_->received(message);
      }
    }
    void done(Status status_of_call) override { http.finished(*this, status_of_call); }

    Http& http;
    const int64_t id;
    std::list<Post>::iterator self;
    std::unique_ptr<http::Call> call;
    int status = 0;
    bool events = false;
    std::string text;
    SseParser sse;
  };

  struct Farewell final : http::Handler {
    explicit Farewell(Http& of) : http(of) {}
    void body(std::string_view) override {}
    void done(Status) override { http.said_goodbye(); }
    Http& http;
  };
  void said_goodbye() {
    goodbye_.reset();
    if (auto closed = std::exchange(closed_, nullptr)) closed();
  }

  http::Headers headers() const {
    http::Headers out = headers_;
    if (!session_.empty()) out.emplace_back("Mcp-Session-Id", session_);
    if (!version_.empty()) out.emplace_back("MCP-Protocol-Version", version_);
    return out;
  }

  void finished(Post& post, const Status& status) {
    const int64_t id = post.id;
    const int code = post.status;
    const std::string text = std::move(post.text);
    const bool events = post.events;
    const std::unique_ptr<http::Call> call = std::move(post.call);
    posts_.erase(post.self);  // `post` is gone.
    if (!listener_) return;
    if (!status) return lose(id, status.error().message);
    if (code == 404 && !session_.empty()) return end("It has forgotten the session.");
    if (code == 401 || code == 403)
      return lose(id, fmt::format("It refused the request (HTTP {}). Check the headers in its settings.", code));
    if (code / 100 != 2)
      return lose(id, fmt::format("It answered HTTP {}: {}", code, first_characters(one_line(text), 300)));
    const std::weak_ptr here = here_;
    if (!events && !trim(text).empty()) listener_->received(trim(text));
    // A stream that ended, or an answer of nothing, without what was asked for: whoever waits knows by the id.
    if (!here.expired()) lose(id, "It ended its answer without a result.");
  }
  void lose(int64_t id, std::string why) {
    if (id != 0 && listener_) listener_->lost(id, std::move(why));
  }
  void end(std::string why) {
    if (Listener* const listener = std::exchange(listener_, nullptr)) listener->ended(std::move(why));
  }

  http::Client& client_;
  Executor& engine_;
  const std::string url_;
  const http::Headers headers_;
  const Millis timeout_ms_;
  Listener* listener_ = nullptr;
  std::string session_, version_;
  std::list<Post> posts_;
  Farewell farewell_{*this};
  std::unique_ptr<http::Call> goodbye_;
  std::move_only_function<void()> closed_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace

std::unique_ptr<Transport> make_http_transport(http::Client& client, Executor& engine, std::string url,
                                               http::Headers headers, Millis timeout_ms) {
  return std::make_unique<Http>(client, engine, std::move(url), std::move(headers), timeout_ms);
}

}  // namespace errand::builtin::mcp
