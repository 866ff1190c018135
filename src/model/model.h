// Model APIs, as one: a conversation goes out, an answer comes in pieces. Anthropic Messages, OpenAI Chat Completions
// (and the many servers that speak it) and OpenAI Responses.
//
// The parts: `encode.h` (a request's bytes), `decode.h` (an answer's bytes), both pure; `errors.h` (what a refusal
// means and whether it is worth another try); `catalog.h` (limits and prices); this, which asks.
//
// A key is in the header of the request and nowhere else: not in a log line, not in a Failure's message, not in an
// Answer.
//
// Threads: the engine's thread only, in both directions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "base/timers.h"
#include "http/client.h"
#include "model/catalog.h"

namespace errand::model {

enum class Api : uint8_t { anthropic, openai_chat, openai_responses };
std::string_view name(Api api);  // "anthropic", "openai_chat", "openai_responses": as in settings.
std::optional<Api> parse_api(std::string_view text);

struct Endpoint {
  Api api = Api::anthropic;
  std::string base_url;  // "https://api.anthropic.com", "http://127.0.0.1:11434/v1"; a slash at its end is ignored.
  std::string key;       // Never stored or logged. Empty: none is sent (a local server).
  std::map<std::string, std::string>
      headers;  // Sent with each request, over our own of the same name; may hold secrets too.

  bool operator==(const Endpoint&) const = default;
};

// A piece of a conversation or of an answer.
struct Block {
  enum class Type : uint8_t {
    text,         // text
    reasoning,    // text (may be empty: hidden or encrypted), opaque
    tool_call,    // call_id, name, input
    tool_result,  // call_id, text, is_error; in an entry of the user, before its other blocks
    image,        // media_type, data
  } type = Type::text;
  std::string text;
  std::string call_id, name;
  std::string input;  // JSON: an object. What a model wrote and is none stays as it came, and `input_broken` says so.
  bool is_error = false;
  bool input_broken = false;
  std::string media_type, data;  // data: base64.
  // The provider's own data of this block (signature, encrypted item, item id), given back to it as it came. Says which
  // Api it is from; another one leaves it out.
  std::string opaque;

  bool operator==(const Block&) const = default;
};

struct Entry {
  enum class Role : uint8_t { user, assistant } role = Role::user;
  std::vector<Block> blocks;

  bool operator==(const Entry&) const = default;
};

struct ToolSpec {
  std::string name, description;
  std::string input_schema;  // JSON: an object.
};

struct Request {
  std::string model;
  std::string system;
  std::vector<Entry> conversation;  // Neighbours of one role are joined where the provider wants turns to alternate.
  std::vector<ToolSpec> tools;
  int64_t max_output_tokens = 0;  // 0: the model's own bound.
  std::string effort;             // "low", "medium", "high", ...; empty: the provider's default.
  std::string cache_key;          // The same for all requests of a conversation.
  std::optional<ModelInfo> info;  // Limits and prices that settings gave; else those of the catalog.
};

struct TokenUse {
  int64_t input = 0;   // Without what was read from or written to the cache.
  int64_t output = 0;  // With the reasoning.
  int64_t cache_read = 0, cache_write = 0;
  int64_t reasoning = 0;

  // What the model had before it: the size of the context.
  int64_t context() const { return input + cache_read + cache_write; }
  bool operator==(const TokenUse&) const = default;
};

enum class Stop : uint8_t { end, tool_calls, length, refusal, other };
std::string_view name(Stop stop);

// Where Answer::cost_usd comes from. Unknown: there is none, which is not 0.
enum class CostFrom : uint8_t { unknown, provider, table, setting };

struct Answer {
  std::vector<Block> blocks;
  Stop stop = Stop::end;
  TokenUse use;
  bool use_known = false;  // Some servers count nothing.
  double cost_usd = 0;     // What the provider said it costs, else by the prices that are known; 0 where none is.
  CostFrom cost_from = CostFrom::unknown;
  std::string model;  // That answered, where it said so.

  bool operator==(const Answer&) const = default;
};

struct Failure {
  enum class Kind : uint8_t {
    quota,             // A usage or spending limit: wait until retry_at (0: not known); trying now does not help.
    overloaded,        // Too much at once, there or here; all tries are used up.
    auth,              // The key is missing, wrong, or may not do this.
    context_too_long,  // The conversation is longer than the model takes: compact it.
    invalid,           // The request is refused, and would be again.
    network,           // No connection, wrong certificate, or no answer in time.
    cut,               // The answer ended in the middle, after a block had begun: ask again.
  } kind = Kind::network;
  int status = 0;          // HTTP's, 0 where there was none.
  std::string message;     // A sentence for people, with what the provider said; no secrets in it.
  Time retry_at;           // Wall time, where it is known when it is worth another try.
  bool retryable = false;  // The same request may succeed later.
};
std::string_view name(Failure::Kind kind);

// Hears how an answer comes. Blocks begin in the order of Answer::blocks, indexes are those; pieces of an earlier block
// may come after a later one began. May destroy its Ask inside any of these.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void block_began(size_t /*index*/, const Block&) {}
  virtual void text(size_t /*index*/, std::string_view) {}   // Of a text or a reasoning block.
  virtual void input(size_t /*index*/, std::string_view) {}  // Of a tool call: a piece of JSON, whole only at the end.
  // The request is tried again after `wait`. Only before the first block, so that nothing is shown twice. `attempt`
  // counts from 1.
  virtual void retrying(int /*attempt*/, Millis /*wait*/, const Failure&) {}
  // One of these two, once, last.
  virtual void answered(Answer) = 0;
  virtual void failed(Failure) = 0;
};

// A question under way. Its destructor ends the request; after it no callback comes.
class Ask {
 public:
  virtual ~Ask() = default;
  // The answer is not read on until go_on(). The listener may hear the rest of what was read already.
  virtual void hold() {}
  virtual void go_on() {}
};

class Models {
 public:
  virtual ~Models() = default;
  // Never calls the listener inside. The listener outlives the ask or its last call.
  virtual std::unique_ptr<Ask> ask(const Endpoint& endpoint, Request request, Listener& listener) = 0;
};

// The bounds of a question: the official clients' tries and waits, and how long a silence may be.
struct AskLimits {
  int retries = 2;
  Millis first_wait_ms = 500, wait_max_ms = 8'000;
  Millis asked_wait_max_ms = 60'000;        // A provider that asks for a longer wait has set a limit: that is `quota`.
  Millis retry_at_max_ms = 24 * 3'600'000;  // Whatever it says, it is worth another try then.
  Millis connect_ms = 10'000, first_byte_ms = 300'000, silence_ms = 120'000;
  int64_t answer_bytes_max = 64 << 20;
};

// All outlive what it makes.
std::unique_ptr<Models> make_models(http::Client& client, Timers& timers, Clock& clock, Random& random,
                                    const AskLimits& limits = {});

// ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and ANTHROPIC_BASE_URL; else OPENAI_API_KEY and OPENAI_BASE_URL, whose
// API is Responses at api.openai.com and Chat Completions elsewhere. Either of a pair is enough. ERRAND_MODEL_API (a
// name of an Api) decides where both are there or the rule is wrong.
std::optional<Endpoint> endpoint_from_environment(const std::map<std::string, std::string>& environment);
// The default model of the provider; empty for a compatible server, whose models only its owner knows.
std::string_view default_model(const Endpoint& endpoint);

}  // namespace errand::model
