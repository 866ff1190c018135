#include "driver/opencode/visits.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/beside.h"
#include "base/log.h"
#include "driver/opencode/fork_plan.h"

namespace errand::opencode {

namespace {

constexpr int64_t session_bytes_max = 256 << 20;
constexpr int64_t models_bytes_max = 16 << 20;  // It tells all that it knows of each.
constexpr Millis again_ms = 500;
constexpr int failures_max = 6;  // The last after half a minute.

}  // namespace

class Readers::One final : public SessionListener {
 public:
  One(Readers& all, SessionId session, Conversations::Read done)
      : all_(all),
        session_(std::move(session)),
        done_(std::move(done)),
        calls_(all.server_.parts().http),
        beside_(all.server_.parts().background, all.server_.parts().engine) {
    all_.server_.join(*this);
  }
  ~One() override { all_.server_.leave(*this); }

  void event(const Event&) override {}
  void stream_lost() override {}
  void stream_open() override {
    if (!calls_.empty() || reading_) return;
    http::Request request = all_.server_.request("GET", fmt::format("/session/{}/message", url_encode(session_.value)));
    request.body_max = session_bytes_max;
    calls_.start(std::move(request), [this](Result<Reply> reply) {
      if (!reply) return finish(std::unexpected(reply.error()));
      if (reply->status == 404)
        return finish(
            fail(Code::not_found, fmt::format("OpenCode has no session {}.", session_.value), "unknown_session"));
      if (reply->status != 200) return finish(fail(Code::unavailable, error_text(reply->status, reply->body)));
      reading_ = true;
      beside_.run(
          [body = std::move(reply->body)]() -> Result<std::vector<Message>> {
            const Result<std::vector<MessageSeen>> seen = parse_messages(body);
            if (!seen) return std::unexpected(seen.error());
            std::vector<Message> messages;
            for (const MessageSeen& message : *seen) messages.push_back(as_message(message));
            return messages;
          },
          [this](Result<std::vector<Message>> messages) { finish(std::move(messages)); });
    });
  }
  void gone(const std::string& why) override { finish(fail(Code::unavailable, why)); }

 private:
  void finish(Result<std::vector<Message>> read) {
    const auto self = std::ranges::find_if(all_.readers_, [&](const auto& one) { return one.get() == this; });
    const std::unique_ptr<One> kept = std::move(*self);
    all_.readers_.erase(self);
    done_(std::move(read));
  }

  Readers& all_;
  SessionId session_;
  Conversations::Read done_;
  Calls calls_;
  Beside beside_;
  bool reading_ = false;  // What came is being taken apart.
};

Readers::Readers(Server& server) : server_(server) {}

Readers::~Readers() = default;

void Readers::read(const SessionId& session, Conversations::Read done) {
  readers_.push_back(std::make_unique<One>(*this, session, std::move(done)));
}

Lister::Lister(Server& server)
    : server_(server), calls_(server.parts().http), beside_(server.parts().background, server.parts().engine) {}

Lister::~Lister() { server_.leave(*this); }

void Lister::list(ModelList::Listed done) {
  waiting_.push_back(std::move(done));
  if (waiting_.size() == 1) server_.join(*this);
}

void Lister::stream_open() {
  if (!calls_.empty() || waiting_.empty() || reading_) return;
  http::Request request = server_.request("GET", "/config/providers");
  request.body_max = models_bytes_max;
  calls_.start(std::move(request), [this](Result<Reply> reply) {
    if (!reply) return finish(std::unexpected(reply.error()));
    if (reply->status != 200)
      return finish(fail(Code::unavailable, error_text(reply->status, reply->body), "no_models"));
    reading_ = true;
    beside_.run([body = std::move(reply->body)] { return parse_models(body); },
                [this](const Result<std::vector<ListedModel>>& listed) { finish(listed); });
  });
}

void Lister::gone(const std::string& why) { finish(fail(Code::unavailable, why, "no_models")); }

void Lister::finish(const Result<std::vector<ListedModel>>& listed) {
  reading_ = false;
  calls_.clear();
  beside_.clear();
  server_.leave(*this);
  // One that asks again inside is the first of the next ones.
  for (ModelList::Listed& done : std::exchange(waiting_, {})) {
    if (listed)
      done(ListedModels{.models = *listed, .by = ListedBy::program});
    else
      done(std::unexpected(listed.error()));
  }
}

Cleaner::Cleaner(Server& server, const Sessions& sessions)
    : server_(server),
      sessions_(sessions),
      again_(server.parts().timers),
      calls_(server.parts().http),
      beside_(server.in_order(), server.parts().engine) {}

Cleaner::~Cleaner() { server_.leave(*this); }

void Cleaner::wake() {
  failures_ = 0;
  visit();
}

void Cleaner::visit() {
  woken_ = true;
  if (std::exchange(visiting_, true)) return;
  woken_ = false;
  beside_.run([sessions = sessions_] { return !sessions.given_up().empty(); },
              [this](bool some) {
                if (some) return server_.join(*this);
                visiting_ = false;
                if (woken_) visit();
              });
}

void Cleaner::try_again() {
  rest();
  if (++failures_ <= failures_max) again_.set(again_ms << failures_, [this] { visit(); });
}

void Cleaner::stream_open() {
  if (!std::exchange(at_work_, true)) next();
}

void Cleaner::gone(const std::string& /*why*/) { try_again(); }

void Cleaner::rest() {
  visiting_ = at_work_ = false;
  task_ = {};
  left_.clear();
  calls_.clear();
  beside_.clear();
  server_.leave(*this);
}

void Cleaner::next() {
  if (!left_.empty()) return delete_one();
  using Found = std::pair<TaskId, std::vector<std::string>>;
  beside_.run(
      [sessions = sessions_, done = std::exchange(task_, {})] {
        if (done) sessions.remove(done);
        for (const TaskId& task : sessions.given_up()) {
          if (std::vector<std::string> left = sessions.of(task); !left.empty()) return Found(task, std::move(left));
          sessions.remove(task);
        }
        return Found();
      },
      [this](Found found) {
        std::tie(task_, left_) = std::move(found);
        if (task_) return delete_one();
        rest();
        if (woken_) visit();
      });
}

void Cleaner::delete_one() {
  calls_.start(server_.request("DELETE", "/session/" + url_encode(left_.back())), [this](Result<Reply> reply) {
    if (!reply || (reply->status != 200 && reply->status != 404)) {
      log_warning("opencode", fmt::format("the session {} could not be deleted: {}", left_.back(),
                                          reply ? error_text(reply->status, reply->body) : reply.error().message));
      return try_again();
    }
    failures_ = 0;
    left_.pop_back();
    next();
  });
}

}  // namespace errand::opencode
