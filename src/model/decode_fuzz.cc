// What a server that is no model may answer: never more than refused, the same whichever way it is cut, and what is
// made of it can be sent to any provider.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "model/decode.h"
#include "model/encode.h"
#include "model/errors.h"

namespace {

using namespace errand::model;

struct Outcome {
  std::optional<Answer> answer;
  bool failed = false;
};

Outcome decode(Api api, std::string_view bytes, size_t piece) {
  const auto decoder = Decoder::make(api, "made_");
  std::vector<Delta> deltas;
  size_t blocks = 0;
  while (!bytes.empty()) {
    deltas.clear();
    const bool more = decoder->feed(bytes.substr(0, piece), deltas);
    for (const Delta& delta : deltas) {
      if (delta.kind == Delta::Kind::began && delta.index != blocks++) std::abort();
      if (delta.index >= blocks) std::abort();
    }
    if (!more) break;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  Outcome out;
  out.failed = decoder->error().has_value();
  if (decoder->error()) static_cast<void>(judge_stream(*decoder->error(), decoder->began()));
  out.answer = decoder->finish();
  return out;
}

void send_back(const Answer& answer) {
  Request request;
  request.model = "m";
  request.conversation = {{Entry::Role::user, {{.text = "x"}}}, {Entry::Role::assistant, answer.blocks}};
  for (const Api api : {Api::anthropic, Api::openai_chat, Api::openai_responses}) {
    boost::system::error_code error;
    boost::json::parse_options options;
    options.max_depth = 200;
    boost::json::parse(encode({api, "http://x/v1", "", {}}, request).body, error, {}, options);
    if (error) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const Api api = static_cast<Api>(data[0] % 3);
  text.remove_prefix(1);
  const Outcome whole = decode(api, text, text.size() + 1);
  const Outcome pieces = decode(api, text, 7);
  if (whole.failed != pieces.failed || whole.answer != pieces.answer) std::abort();
  if (whole.answer) send_back(*whole.answer);
  const auto decoder = Decoder::make(api, "made_");
  std::vector<Delta> deltas;
  decoder->document(text, deltas);
  if (const auto answer = decoder->finish()) send_back(*answer);
  const errand::http::Head head{
      static_cast<int>(400 + text.size() % 200), {{"retry-after", std::string(text.substr(0, 40))}}, ""};
  static_cast<void>(judge_status(head, text, AskLimits{}, errand::Time{1'763'200'000'000}));
  return 0;
}
