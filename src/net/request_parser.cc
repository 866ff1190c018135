#include "net/request_parser.h"

#include <algorithm>
#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "net/target.h"

namespace errand::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::string_view std_view(string_view text) { return {text.data(), text.size()}; }

Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return Method::get;
    case http::verb::head:
      return Method::head;
    case http::verb::post:
      return Method::post;
    case http::verb::put:
      return Method::put;
    case http::verb::patch:
      return Method::patch;
    case http::verb::delete_:
      return Method::del;
    case http::verb::options:
      return Method::options;
    default:
      return Method::other;
  }
}

// Headers that decide something and would be ambiguous twice.
constexpr std::array single_headers = {
    std::string_view("host"),           std::string_view("content-length"), std::string_view("transfer-encoding"),
    std::string_view("content-type"),   std::string_view("authorization"),  std::string_view("origin"),
    std::string_view("sec-fetch-site"), std::string_view("expect"),         std::string_view("x-errand-session"),
    std::string_view("last-event-id"),  std::string_view("idempotency-key")};

}  // namespace

class RequestParser::Beast final : public http::basic_parser<true> {
 public:
  Beast(RequestParser& owner, Limits limits) : owner_(owner), limits_(limits) {
    header_limit(limits.header_bytes);
    body_limit(boost::none);
  }

  // The bytes being parsed: a value that lies elsewhere was unfolded.
  std::string_view input;
  size_t head_bytes = 0;
  bool skipped_line = false;
  const Limits& limits() const { return limits_; }

  void fail(error_code& ec, int http_status, std::string text) {
    owner_.status = http_status;
    owner_.problem = std::move(text);
    ec = http::error::bad_field;
  }

 private:
  void on_request_impl(http::verb verb, string_view, string_view target, int version, error_code& ec) override {
    owner_.request.method = method_of(verb);
    owner_.http10 = version == 10;
    Result<Target> parsed = net::parse_target(std_view(target));
    if (!parsed) return fail(ec, 400, parsed.error().message);
    owner_.request.path = std::move(parsed->path);
    owner_.request.query = std::move(parsed->query);
    authority_ = std::move(parsed->authority);
  }

  void on_field_impl(http::field, string_view name, string_view value, error_code& ec) override {
    if (!in_head_) {  // A trailer: it can only contradict the head.
      if (++trailers_ > limits_.headers) fail(ec, 400, "The chunked body has too many trailers.");
      return;
    }
    auto& headers = owner_.request.headers;
    if (headers.empty()) headers.reserve(12);
    if (headers.size() == limits_.headers) return fail(ec, 431, "The request has too many headers.");
    if (folded(name, value))
      return fail(ec, 400, "A header is folded over several lines, which HTTP no longer allows.");
    std::string key = lower_case(std_view(name));
    if (std::ranges::find(single_headers, key) != single_headers.end() && owner_.request.count_header(key) > 0)
      return fail(ec, 400, "The header " + key + " is given twice.");
    headers.emplace_back(std::move(key), std::string(std_view(value)));
  }

  void on_header_impl(error_code& ec) override {
    in_head_ = false;
    const Request& head = owner_.request;
    const std::string_view length = head.header("content-length");
    if (head.count_header("content-length") > 0 &&
        (length.empty() || !std::ranges::all_of(length, [](char c) { return c >= '0' && c <= '9'; })))
      return fail(ec, 400, "Content-Length must be a single number.");
    if (head.count_header("transfer-encoding") > 0) {
      if (owner_.http10 || !chunked() || lower_case(head.header("transfer-encoding")) != "chunked" ||
          head.count_header("content-length") > 0)
        return fail(ec, 400, "Send either a Content-Length or \"Transfer-Encoding: chunked\", and no other coding.");
    }
    const std::string host = lower_case(head.header("host"));
    if (!owner_.http10 && head.count_header("host") == 0) return fail(ec, 400, "The Host header is missing.");
    if (!authority_.empty() && authority_ != host)
      return fail(ec, 400, "The host in the request target is not the one in the Host header.");
    const std::string expect = lower_case(head.header("expect"));
    if (!expect.empty() && expect != "100-continue")
      return fail(ec, 417, "The only supported value of Expect is 100-continue.");
    owner_.expects_continue = !expect.empty() && !owner_.http10;
    owner_.keep_alive = keep_alive();
    owner_.content_length =
        chunked() ? unknown_length : std::min(basic_parser::content_length().value_or(0), unknown_length - 1);
  }

  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}

  std::size_t on_body_impl(string_view body, error_code&) override {
    owner_.request.body.append(body.data(), body.size());
    return body.size();
  }

  void on_chunk_header_impl(std::uint64_t size, string_view, error_code& ec) override {
    if (size > limits_.body_bytes - owner_.request.body.size())
      fail(ec, 413, "The body is larger than " + std::to_string(limits_.body_bytes) + " bytes.");
  }

  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override {
    return on_body_impl(body, ec);
  }

  void on_finish_impl(error_code&) override {}

  void on_response_impl(int, string_view, int, error_code&) override {}

  // In an ordinary field only the colon and blanks stand between the name and its value.
  bool folded(string_view name, string_view value) const {
    const auto from = reinterpret_cast<uintptr_t>(name.data() + name.size());
    const auto to = reinterpret_cast<uintptr_t>(value.data());
    const auto end = reinterpret_cast<uintptr_t>(input.data() + input.size());
    if (to <= from || to > end) return true;
    return std::any_of(name.data() + name.size() + 1, value.data(), [](char c) { return c != ' ' && c != '\t'; });
  }

  RequestParser& owner_;
  const Limits limits_;
  std::string authority_;
  bool in_head_ = true;
  uint32_t trailers_ = 0;
};

RequestParser::RequestParser(Limits limits) : beast_(std::make_unique<Beast>(*this, limits)) {}
RequestParser::~RequestParser() = default;

size_t RequestParser::put(std::string_view bytes) {
  const bool in_head = state_ == State::head;
  size_t skipped = 0;
  // RFC 9112 2.2: an empty line before the request is forgiven, once.
  if (in_head && !beast_->got_some() && !beast_->skipped_line && bytes.front() == '\r') {
    if (bytes.size() == 1) return 0;
    if (bytes[1] == '\n') skipped = 2;
    beast_->skipped_line = true;
    if (bytes.size() == skipped) return skipped;
  }
  const std::string_view input = bytes.substr(skipped);
  beast_->input = input;
  beast_->eager(!in_head);
  error_code ec;
  const size_t used = beast_->put(boost::asio::const_buffer(input.data(), input.size()), ec);
  if (in_head) beast_->head_bytes += used;
  const size_t waiting = input.size() - used;
  const Limits& limits = beast_->limits();
  if (ec && ec != http::error::need_more) {
    if (problem.empty()) {
      const bool too_long = ec == http::error::header_limit;
      status = too_long ? 431 : 400;
      problem =
          too_long ? "The request's head is too long." : "The request is not well-formed HTTP: " + ec.message() + ".";
    }
    state_ = State::failed;
  } else if (in_head && beast_->head_bytes + (ec ? waiting : 0) > limits.header_bytes) {
    status = 431;
    problem = "The request's head is longer than " + std::to_string(limits.header_bytes) + " bytes.";
    state_ = State::failed;
  } else if (ec &&
             waiting >
                 limits.header_bytes) {  // Only the line before a chunk, or the trailers, can be whole no earlier.
    problem = "A chunk's size line or the trailers are too long.";
    state_ = State::failed;
  } else if (beast_->is_done()) {
    state_ = State::done;
  } else if (beast_->is_header_done()) {
    state_ = in_head ? State::head_done : State::body;
  }
  return skipped + used;
}

}  // namespace errand::net
