// Asking, over real connections; time is turned by hand, so that the waits between tries are known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "model/model.h"
#include "tests/http/test_server.h"

namespace errand::model {
namespace {

using http::Peer;
using http::TestLoop;
using http::TestServer;
using Kind = Failure::Kind;

struct Heard : Listener {
  std::vector<std::string> events;
  std::vector<Failure> tries;
  std::vector<Millis> waits;
  std::optional<Answer> answer;
  std::optional<Failure> failure;
  std::function<void()> on_event;

  void note(std::string text) {
    EXPECT_FALSE(answer || failure) << "nothing comes behind the end";
    events.push_back(std::move(text));
    if (on_event) on_event();
  }
  void block_began(size_t index, const Block& block) override { note(fmt::format("began {} {}", index, block.name)); }
  void text(size_t index, std::string_view text) override { note(fmt::format("text {} {}", index, text)); }
  void input(size_t index, std::string_view text) override { note(fmt::format("input {} {}", index, text)); }
  void retrying(int attempt, Millis wait, const Failure& why) override {
    tries.push_back(why);
    waits.push_back(wait);
    note(fmt::format("try {}", attempt));
  }
  void answered(Answer got) override {
    note("answered");
    answer = std::move(got);
  }
  void failed(Failure why) override {
    note("failed");
    failure = std::move(why);
  }
  bool over() const { return answer || failure; }
};

const std::string stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
std::string chunk(std::string_view data) { return fmt::format("{:x}\r\n{}\r\n", data.size(), data); }
std::string event(std::string_view json) { return chunk(fmt::format("data: {}\n\n", json)); }
const std::string start =
    event(R"({"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":1000,"output_tokens":1}}})");
const std::string block =
    event(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})") +
    event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}})");
const std::string end =
    event(R"({"type":"content_block_stop","index":0})") +
    event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":10}})") +
    event(R"({"type":"message_stop"})");
const std::string last_chunk = "0\r\n\r\n";
std::string refusal(
    int status, std::string_view headers = {},
    std::string_view body = R"({"type":"error","error":{"type":"overloaded_error","message":"Busy"}})") {
  return fmt::format("HTTP/1.1 {} No\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", status,
                     body.size(), headers, body);
}

// Answers each connection's requests with the next of `answers`; the last one stays. What ends with "\0" ends the
// connection.
struct Asking : testing::Test {
  TestLoop loop;
  ManualClock clock;
  TimerQueue timers{clock};
  SeededRandom random{7};
  std::unique_ptr<http::Client> client = http::make_client(loop, {});
  AskLimits limits;
  std::vector<std::string> answers;
  std::mutex mutex;
  std::vector<std::string> requests;  // Guarded by mutex.
  std::unique_ptr<TestServer> server = std::make_unique<TestServer>([this](Peer& peer) { serve(peer); });
  Request request;

  Asking() {
    request.model = "claude-sonnet-4-5";
    request.conversation = {{Entry::Role::user, {{.type = Block::Type::text, .text = "hello"}}}};
  }
  ~Asking() override { server.reset(); }

  void serve(Peer& peer) {
    for (std::string got; !(got = peer.request()).empty();) {
      std::string answer;
      {
        const std::lock_guard lock(mutex);
        answer = answers[std::min(requests.size(), answers.size() - 1)];
        requests.push_back(got);
      }
      const bool ends = answer.ends_with('\0');
      if (ends) answer.pop_back();
      if (!peer.write(answer) || ends) return;
    }
  }
  size_t asked() {
    const std::lock_guard lock(mutex);
    return requests.size();
  }
  Endpoint endpoint() {
    return {Api::anthropic, fmt::format("http://127.0.0.1:{}", server->port()), "sk-ant-topsecret", {}};
  }
  // Until the end; time passes only where a wait is under way.
  void run(Heard& heard) {
    const auto models = make_models(*client, timers, clock, random, limits);
    const auto ask = models->ask(endpoint(), request, heard);
    EXPECT_TRUE(heard.events.empty()) << "nothing is called inside";
    ASSERT_TRUE(loop.run_until([&] {
      if (timers.next_due() && !heard.over() && heard.waits.size() > run_waits_) {
        clock.advance(timers.next_due() - clock.steady());
        ++run_waits_;
        timers.run_due();
      }
      return heard.over();
    }));
  }
  size_t run_waits_ = 0;
};

TEST_F(Asking, AnAnswerComesInPieces) {
  answers = {stream_head + start + block + end + last_chunk};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.answer) << heard.failure->message;
  EXPECT_EQ(heard.events.front(), "began 0 ");
  EXPECT_EQ(heard.answer->blocks.at(0).text, "Hi");
  EXPECT_EQ(heard.answer->model, "m-1");
  EXPECT_EQ(heard.answer->stop, Stop::end);
  EXPECT_DOUBLE_EQ(heard.answer->cost_usd, (1000 * 3 + 10 * 15) / 1e6);
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(requests.at(0).contains("x-api-key: sk-ant-topsecret\r\n"));
  EXPECT_TRUE(requests.at(0).contains("POST /v1/messages HTTP/1.1"));
}

TEST_F(Asking, PricesOfTheRequestGoOverTheCatalog) {
  answers = {stream_head + start + block + end + last_chunk};
  request.info = ModelInfo{.input_usd = 1000};
  Heard heard;
  run(heard);
  EXPECT_DOUBLE_EQ(heard.answer->cost_usd, 1);
}

TEST_F(Asking, ABusyServerIsTriedAgainAsTheOfficialClientsDo) {
  answers = {refusal(529), refusal(500), stream_head + start + block + end + last_chunk};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.answer);
  EXPECT_EQ(heard.tries.size(), 2u);
  EXPECT_LE(heard.waits[0], 500);
  EXPECT_GE(heard.waits[0], 375);
  EXPECT_LE(heard.waits[1], 1000);
  EXPECT_GE(heard.waits[1], 750);
}

TEST_F(Asking, AWaitThatIsAskedForIsTheWait) {
  answers = {refusal(429, "Retry-After: 7\r\n"), refusal(529, "Retry-After-Ms: 1234\r\n"),
             stream_head + start + block + end + last_chunk};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.answer);
  EXPECT_EQ(heard.waits, (std::vector<Millis>{7000, 1234}));
}

TEST_F(Asking, TriesEnd) {
  answers = {refusal(529)};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.failure);
  EXPECT_EQ(heard.failure->kind, Kind::overloaded);
  EXPECT_TRUE(heard.failure->retryable);
  EXPECT_EQ(heard.failure->status, 529);
  EXPECT_TRUE(heard.failure->message.contains("Busy")) << heard.failure->message;
  EXPECT_EQ(asked(), 3u);
}

TEST_F(Asking, WhatWouldBeRefusedAgainIsNotTriedAgain) {
  answers = {refusal(
      400, "", R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}})")};
  Heard heard;
  run(heard);
  EXPECT_EQ(heard.failure->kind, Kind::context_too_long);
  EXPECT_EQ(asked(), 1u);
}

TEST_F(Asking, AUsageLimitSaysWhenItIsOver) {
  answers = {refusal(429, "Retry-After: 3600\r\n")};
  Heard heard;
  run(heard);
  EXPECT_EQ(heard.failure->kind, Kind::quota);
  EXPECT_EQ(heard.failure->retry_at, clock.wall() + 3'600'000);
  EXPECT_EQ(asked(), 1u);
}

TEST_F(Asking, AKeyThatTheServerQuotesIsNotInTheFailure) {
  answers = {refusal(401, "", R"({"error":{"message":"bad key sk-ant-topsecret, sk-ant-api03-other"}})")};
  Heard heard;
  run(heard);
  EXPECT_EQ(heard.failure->kind, Kind::auth);
  EXPECT_FALSE(heard.failure->message.contains("topsecret")) << heard.failure->message;
  EXPECT_FALSE(heard.failure->message.contains("api03")) << heard.failure->message;
}

TEST_F(Asking, AKeyThatTheServerQuotesIsInNoPieceOfTheAnswer) {
  const std::string key = endpoint().key;
  for (size_t cut = 0; cut <= key.size(); ++cut) {
    const auto piece = [](std::string_view json) {
      return event(fmt::format(R"({{"type":"content_block_delta","index":{}}})", json));
    };
    const std::string first = key.substr(0, cut), second = key.substr(cut);
    const std::string quoting =
        stream_head + start +
        event(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})") +
        piece(fmt::format(R"(0,"delta":{{"type":"text_delta","text":"It is {}"}})", first)) +
        piece(fmt::format(R"(0,"delta":{{"type":"text_delta","text":"{} s"}})", second)) +
        event(R"({"type":"content_block_stop","index":0})") +
        event(
            R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"bash"}})") +
        piece(fmt::format(R"(1,"delta":{{"type":"input_json_delta","partial_json":"{{\"k\":\"{}"}})", first)) +
        piece(fmt::format(R"(1,"delta":{{"type":"input_json_delta","partial_json":"{}\"}}"}})", second)) + end +
        last_chunk;
    {
      const std::lock_guard lock(mutex);
      answers = {quoting};
      requests.clear();
    }
    Heard heard;
    run(heard);
    ASSERT_TRUE(heard.answer) << heard.failure->message;
    std::string said, asked_for;
    for (const std::string& told : heard.events) {
      if (told.starts_with("text 0 ")) said += told.substr(7);
      if (told.starts_with("input 1 ")) asked_for += told.substr(8);
    }
    EXPECT_EQ(said, "It is [key] s") << cut;
    EXPECT_EQ(asked_for, R"({"k":"[key]"})") << cut;
    EXPECT_EQ(heard.answer->blocks.at(0).text, said);
    EXPECT_EQ(heard.answer->blocks.at(1).input, asked_for);
  }
}

TEST_F(Asking, AConnectionThatEndsBeforeTheFirstBlockIsTriedAgain) {
  answers = {std::string(1, '\0'), stream_head + start + std::string(1, '\0'),
             stream_head + start + block + end + last_chunk};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.answer) << heard.failure->message;
  EXPECT_EQ(heard.tries.size(), 2u);
  EXPECT_EQ(heard.tries[0].kind, Kind::network);
}

TEST_F(Asking, AnErrorInTheStreamBeforeTheFirstBlockIsTriedAgain) {
  answers = {stream_head + start + event(R"({"type":"error","error":{"type":"overloaded_error","message":"Busy"}})") +
                 last_chunk,
             stream_head + start + block + end + last_chunk};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.answer) << heard.failure->message;
  EXPECT_EQ(heard.tries.at(0).kind, Kind::overloaded);
}

TEST_F(Asking, AnAnswerThatIsCutLaterIsNotTriedAgain) {
  const std::vector<std::string> ways = {
      stream_head + start + block + std::string(1, '\0'),  // The connection breaks.
      stream_head + start + block + last_chunk,            // It ends as if all were well.
      stream_head + start + block + event(R"({"type":"error","error":{"type":"api_error","message":"x"}})") +
          last_chunk,
      stream_head + start + block + event(R"({"type":"content_bl)") + last_chunk,  // Rubbish.
  };
  for (const std::string& way : ways) {
    answers = {way};
    const size_t before = asked();
    Heard heard;
    run(heard);
    ASSERT_TRUE(heard.failure) << way;
    EXPECT_EQ(heard.failure->kind, Kind::cut) << heard.failure->message;
    EXPECT_TRUE(heard.failure->retryable);
    EXPECT_EQ(asked(), before + 1);
  }
}

TEST_F(Asking, NobodyThereFailsAfterItsTries) {
  const int port = server->port();
  server.reset();
  const auto models = make_models(*client, timers, clock, random, limits);
  Heard heard;
  const auto ask = models->ask({Api::anthropic, fmt::format("http://127.0.0.1:{}", port), "", {}}, request, heard);
  ASSERT_TRUE(loop.run_until([&] {
    clock.advance(10'000);
    timers.run_due();
    return heard.over();
  }));
  EXPECT_EQ(heard.failure->kind, Kind::network);
  EXPECT_TRUE(heard.failure->retryable);
  EXPECT_EQ(heard.tries.size(), 2u);
}

TEST_F(Asking, ADestroyedQuestionIsSilent) {
  answers = {stream_head + start + block};
  const auto models = make_models(*client, timers, clock, random, limits);
  Heard heard;
  auto ask = models->ask(endpoint(), request, heard);
  ASSERT_TRUE(loop.run_until([&] { return !heard.events.empty(); }));
  ask.reset();
  const size_t before = heard.events.size();
  server.reset();
  loop.run_posted();
  EXPECT_EQ(heard.events.size(), before);
}

TEST_F(Asking, AQuestionMayBeDestroyedInAnyOfItsCalls) {
  const std::string whole = stream_head + start + block + end + last_chunk;
  for (const auto& [first, at] : std::vector<std::pair<std::string, size_t>>{
           {whole, 1}, {whole, 2}, {whole, 3}, {refusal(529), 1}, {refusal(400), 1}}) {
    answers = {first};
    {
      const std::lock_guard lock(mutex);
      requests.clear();
    }
    const auto models = make_models(*client, timers, clock, random, limits);
    Heard heard;
    std::unique_ptr<Ask> ask;
    heard.on_event = [&] {
      if (heard.events.size() == at) ask.reset();
    };
    ask = models->ask(endpoint(), request, heard);
    ASSERT_TRUE(loop.run_until([&] { return !ask; })) << at;
    clock.advance(100'000);
    timers.run_due();
    loop.run_posted();
    EXPECT_EQ(heard.events.size(), at);
    EXPECT_EQ(timers.size(), 0u);
  }
}

TEST_F(Asking, AServerThatStaysAfterItsLastWordIsNotWaitedFor) {
  answers = {stream_head + start + block + end};  // No end of the body.
  const auto models = make_models(*client, timers, clock, random, limits);
  Heard heard;
  const auto ask = models->ask(endpoint(), request, heard);
  ASSERT_TRUE(loop.run_until([&] { return timers.size() == 1; }));
  clock.advance(2'000);
  timers.run_due();
  ASSERT_TRUE(heard.answer);
}

TEST_F(Asking, AServerThatDoesNotStreamIsUnderstood) {
  const std::string body =
      R"({"type":"message","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}})";
  answers = {fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                         body.size(), body)};
  Heard heard;
  run(heard);
  ASSERT_TRUE(heard.answer);
  EXPECT_EQ(heard.answer->blocks.at(0).text, "Hi");
}

TEST_F(Asking, SilenceIsBounded) {
  answers = {stream_head + start + block};
  limits.silence_ms = 50;
  Heard heard;
  run(heard);
  EXPECT_EQ(heard.failure->kind, Kind::cut);
  EXPECT_TRUE(heard.failure->message.contains("sent nothing more")) << heard.failure->message;
}

}  // namespace
}  // namespace errand::model
