// HTTP as the rest of net/ sees it: plain requests, replies and streams. Only server.cc (and client.cc of cli/) know
// the HTTP library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/principal.h"

namespace errand::net {

// ASCII letters only.
std::string lower_case(std::string_view text);

enum class Method : uint8_t { get, head, post, put, patch, del, options, other };
std::string_view name(Method method);

struct Request {
  Method method = Method::get;
  std::string path;  // Percent-decoded, normalised: begins with '/', no empty or dot segments. Else the server has
                     // answered 400.
  std::vector<std::pair<std::string, std::string>> query;    // Decoded, in order.
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  std::string body;
  std::string peer;        // The client's address, canonical (IPv4-mapped addresses as IPv4).
  bool over_unix = false;  // Came through the unix socket: the peer is the owner.
  bool secure = false;     // TLS, or a trusted proxy said https.
  Principal who;           // Whose credentials it has; set by the HeadCheck.
  // Set for those whose credentials may end: whether they still hold. A stream is over when they do not.
  std::function<bool()> still_good;
  // What every answer to this request carries besides its own headers: the HeadCheck puts a renewed cookie here.
  std::vector<std::pair<std::string, std::string>> reply_headers;

  // The first of that name; empty where there is none.
  std::string_view header(std::string_view name) const;
  size_t count_header(std::string_view name) const;
  std::optional<std::string_view> param(std::string_view name) const;
};

// Every reply also gets the security headers (nosniff, no-referrer, a policy that allows nothing, no-store); one that
// the response names itself is left as it is.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// One piece to write: the bytes, and who keeps them alive. Shared by all readers of a stream.
struct Slice {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

// What a streaming reply writes. The connection pulls from it whenever it can write; a slow connection pulls rarely and
// costs nothing else. I/O thread only.
class StreamSource {
 public:
  // The connection is gone, or the stream has ended. Never inside pull() or wake: a source may be woken from a loop
  // over its fellows.
  virtual ~StreamSource() = default;
  enum class Pulled : uint8_t {
    some,  // Slices were appended; ask again when they are written.
    none,  // Nothing now: `wake` will be called.
    end,   // The last slices, if any, were appended: write them and close the reply.
  };
  // Appends up to about `bytes`.
  virtual Pulled pull(std::vector<Slice>& out, size_t bytes) = 0;
  // Given once, before the first pull: call it (on the I/O thread) when there is something to pull again. It may write
  // to the socket at once.
  virtual void on_ready(std::function<void()> wake) = 0;
};

// The same source, which ends at the first pull for which `still_good` says no. An empty `still_good` changes nothing.
std::unique_ptr<StreamSource> while_good(std::unique_ptr<StreamSource> source, std::function<bool()> still_good);

// One request being answered. A handler keeps it until it has answered. It calls exactly one of reply() and stream(),
// once, on the I/O thread, at any time. If the peer has left meanwhile, the answer is dropped; that is not an error. An
// exchange that is destroyed without an answer answers 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Request request;
  virtual void reply(Response response) = 0;
  // `response` gives status and headers; its body is empty. Sent chunked and kept open.
  virtual void stream(Response response, std::unique_ptr<StreamSource> source) = 0;
  // Called (at most once, later, never inside this call) when the peer goes away before the answer: a waiting call may
  // be given up. A peer that only closed its sending side counts as gone, and still gets an answer that is given.
  virtual void on_gone(std::function<void()> gone) = 0;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// A body whose length the head does not tell (chunked).
inline constexpr uint64_t unknown_length = UINT64_MAX;

// Decides on the head alone, before the body is read. A response refuses the request (401, 403, 421, 413, ...); no
// response lets it pass. It may set `secure`, `peer` (behind a proxy) and `reply_headers`.
using HeadCheck = std::function<std::optional<Response>(Request& head, uint64_t content_length)>;
using Handler = std::function<void(ExchangePtr)>;

}  // namespace errand::net
