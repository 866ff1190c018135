// The API without sockets: real routes over the real engine, a store in memory and a clock turned by hand.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "engine/world_test.h"
#include "net/auth.h"
#include "net/loop.h"
#include "net/routes/routes.h"
#include "net/sse.h"

namespace errand::net {

class TestExchange final : public Exchange {
 public:
  void reply(Response response) override {
    EXPECT_FALSE(answer) << "answered twice";
    answer = std::move(response);
  }
  void stream(Response response, std::unique_ptr<StreamSource> stream_source) override {
    EXPECT_FALSE(answer) << "answered twice";
    answer = std::move(response);
    source = while_good(std::move(stream_source), request.still_good);
  }
  void on_gone(std::function<void()>) override {}

  std::optional<Response> answer;
  std::unique_ptr<StreamSource> source;
};

// One connection's end of a stream: pulls as a connection does, also inside wakes.
class Reader {
 public:
  struct Seen {
    std::string id;
    std::string event;
    boost::json::value data;
  };

  explicit Reader(std::unique_ptr<StreamSource> source) : source_(std::move(source)) {
    if (source_) source_->on_ready([this] { pump(); });
  }

  // Takes what there is, `bytes` at a time; at most `pulls` times.
  void pump(size_t bytes = 64 * 1024, int pulls = 100'000) {
    if (!source_ || paused || pumping_ || ended) return;
    pumping_ = true;
    while (pulls-- > 0 && !ended) {
      std::vector<Slice> slices;
      const StreamSource::Pulled pulled = source_->pull(slices, bytes);
      size_t size = 0;
      for (const Slice& slice : slices) {
        text += slice.bytes;
        size += slice.bytes.size();
      }
      largest_pull = std::max(largest_pull, size);
      ended = pulled == StreamSource::Pulled::end;
      if (size == 0) break;
    }
    pumping_ = false;
  }
  void cut() { source_.reset(); }

  std::vector<Seen> events() const;
  std::vector<int64_t> ids() const {
    std::vector<int64_t> all;
    for (const Seen& seen : events()) {
      if (!seen.id.empty()) all.push_back(std::stoll(seen.id));
    }
    return all;
  }
  std::vector<std::string> types() const {
    std::vector<std::string> all;
    for (const Seen& seen : events()) all.push_back(seen.event);
    return all;
  }

  std::string text;
  bool paused = false;
  bool ended = false;
  size_t largest_pull = 0;

 private:
  std::unique_ptr<StreamSource> source_;
  bool pumping_ = false;
};

inline std::string text_in(const boost::json::value& value) { return std::string(value.as_string()); }

struct Site {
  World world;
  std::unique_ptr<Loop> timers = Loop::make();
  Heartbeats heartbeats{*timers};
  bool owner = true;
  tools::Toolbox toolbox{{.engine = *world.engine,
                          .store = *world.store,
                          .loop = world.loop,
                          .readers = world.readers,
                          .clock = world.clock}};
  Tokens tokens{*world.store, world.clock, world.random};
  Devices devices{*world.store, world.clock, world.random};
  Pairing pairing{world.clock, world.random};
  Auth auth{{.token = "the-token-of-the-owner-of-this-site-01234567"},
            world.clock,
            world.random,
            &tokens,
            &devices,
            &pairing};
  int ended_stale = 0;
  Routes routes{{.engine = *world.engine,
                 .store = *world.store,
                 .loop = world.loop,
                 .readers = world.readers,
                 .clock = world.clock,
                 .heartbeats = heartbeats,
                 .version = "0.0.0",
                 .authenticated = [this](const Request&) { return owner; },
                 .stats = [] { return ServerStats{}; },
                 .login = [this](const ExchangePtr& exchange) { return auth.handle(exchange); },
                 .page = {},
                 .tools = &toolbox,
                 .tokens = &tokens,
                 .devices = &devices,
                 .pairing = &pairing,
                 .end_stale = [this] { ++ended_stale; },
                 .page_url = "https://errand.example"}};

  struct Ask {
    Method method = Method::get;
    std::string path;
    std::vector<std::pair<std::string, std::string>> query = {};
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
    Principal who = Principal::owner();
  };

  std::shared_ptr<TestExchange> begin(Ask ask) {
    auto exchange = std::make_shared<TestExchange>();
    exchange->request.method = ask.method;
    exchange->request.path = std::move(ask.path);
    exchange->request.query = std::move(ask.query);
    exchange->request.body = std::move(ask.body);
    exchange->request.headers = std::move(ask.headers);
    exchange->request.who = std::move(ask.who);
    routes.handle(exchange);
    return exchange;
  }
  Response call(Ask ask) {
    const auto exchange = begin(std::move(ask));
    world.settle();
    EXPECT_TRUE(exchange->answer) << "no answer";
    return exchange->answer.value_or(Response{.status = 0});
  }
  boost::json::value json(Ask ask, int status = 200) {
    const Response response = call(std::move(ask));
    EXPECT_EQ(response.status, status) << response.body;
    boost::json::error_code error;
    boost::json::value value = boost::json::parse(response.body, error);
    EXPECT_FALSE(error) << response.body;
    return value;
  }
  // Opens a stream; it has taken what there was.
  std::unique_ptr<Reader> open(Ask ask, bool paused = false) {
    const auto exchange = begin(std::move(ask));
    world.settle();
    EXPECT_TRUE(exchange->source) << (exchange->answer ? exchange->answer->body : "no answer");
    auto reader = std::make_unique<Reader>(std::move(exchange->source));
    reader->paused = paused;
    reader->pump();
    world.settle();
    return reader;
  }
  std::unique_ptr<Reader> stream(const TaskId& id, int64_t after = 0) {
    return open({.path = "/api/tasks/" + id.value + "/stream", .query = {{"after", std::to_string(after)}}});
  }
};

inline std::vector<Reader::Seen> Reader::events() const {
  std::vector<Seen> all;
  std::string_view rest = text;
  for (size_t end = 0; (end = rest.find("\n\n")) != std::string_view::npos; rest.remove_prefix(end + 2)) {
    std::string_view block = rest.substr(0, end);
    Seen seen;
    bool has_data = false;
    while (!block.empty()) {
      const std::string_view line = block.substr(0, block.find('\n'));
      block.remove_prefix(std::min(block.size(), line.size() + 1));
      if (line.starts_with("id: ")) seen.id = line.substr(4);
      if (line.starts_with("event: ")) seen.event = line.substr(7);
      if (!line.starts_with("data: ")) continue;
      has_data = true;
      seen.data = boost::json::parse(line.substr(6));
    }
    if (has_data) all.push_back(std::move(seen));
  }
  EXPECT_TRUE(rest.empty()) << "an event that is not whole: " << rest;
  return all;
}

}  // namespace errand::net
