// An answer's bytes: the event streams of the three APIs, in whatever pieces they come. Pure, so that golden files and
// fuzzers are easy. Everything here is from outside: it may be cut, broken or hostile, and is bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sse.h"
#include "model/model.h"

namespace errand::model {

// What Listener hears, as a value: to be told after the decoder is done with its bytes.
struct Delta {
  enum class Kind : uint8_t { began, text, input } kind = Kind::text;
  size_t index = 0;
  Block block;       // began
  std::string text;  // text, input
};

// What the provider said went wrong, inside a stream or in the body of a refusal.
struct ProviderError {
  std::string type, code, message;
  bool malformed = false;  // Ours: what came is not the protocol.
};

class Decoder {
 public:
  // `id_prefix`: for calls that a server gives no id; unlike any other answer's.
  static std::unique_ptr<Decoder> make(Api api, std::string id_prefix);
  virtual ~Decoder() = default;

  // Appends what these bytes of the stream tell. False: the answer is over, or wrong.
  bool feed(std::string_view bytes, std::vector<Delta>& out);
  // A server that does not stream: the whole answer as one document.
  bool document(std::string_view body, std::vector<Delta>& out);

  // The provider has said that this is all.
  bool complete() const { return complete_; }
  bool began() const { return !answer_.blocks.empty(); }
  const std::optional<ProviderError>& error() const { return error_; }
  // At the end of the stream: the answer, or nothing where it is not whole or went wrong.
  std::optional<Answer> finish();

 protected:
  explicit Decoder(std::string id_prefix) : id_prefix_(std::move(id_prefix)) {}

  // One event's data. For the implementations, and called by feed.
  virtual void event(std::string_view type, std::string_view data) = 0;
  // The end without the provider's word: may complete what is known to be whole.
  virtual void ended() {}

  size_t begin(Block block);
  void add_text(size_t index, std::string_view text);
  void add_input(size_t index, std::string_view text);
  void wrong(ProviderError error);
  void malformed(std::string_view what);
  std::string next_call_id();

  Answer answer_;
  bool complete_ = false;

 private:
  void merge(Delta::Kind kind, size_t index, std::string_view text);

  SseParser parser_;
  std::optional<ProviderError> error_;
  std::vector<Delta>* out_ = nullptr;  // Of the call to feed that is under way.
  const std::string id_prefix_;
  int made_ids_ = 0;
};

// The body of a refusal, whichever of the many forms it has.
ProviderError decode_error(std::string_view body);

}  // namespace errand::model
