#include "cli/http_reader.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace errand::cli {

namespace {

constexpr size_t head_bytes_max = 64 << 10;

std::unexpected<Error> wrong(std::string_view what) {
  return fail(Code::unavailable,
              std::string("The program that answers there is not an errand server: ").append(what).append("."),
              "not_http");
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return lower(c); });
  return out;
}

bool number(std::string_view text, int base, uint64_t& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && out < uint64_t{1} << 62;
}

}  // namespace

std::string_view HttpReader::header(std::string_view name) const {
  for (const auto& [key, value] : headers_)
    if (key == name) return value;
  return {};
}

Status HttpReader::feed(std::string_view piece) {
  while (!piece.empty()) {
    switch (state_) {
      case State::body_length:
      case State::chunk_data: {
        size_t n = static_cast<size_t>(std::min<uint64_t>(left_, piece.size()));
        body_ += piece.substr(0, n);
        piece.remove_prefix(n);
        left_ -= n;
        if (left_ == 0) state_ = state_ == State::body_length ? State::done : State::chunk_end;
        break;
      }
      case State::body_until_close:
        body_ += piece;
        return {};
      case State::done:
        return wrong("it sent more than one reply");
      default: {
        size_t end = piece.find('\n');
        line_ += piece.substr(0, end);
        head_bytes_ += std::min(end, piece.size());
        if (line_.size() > head_bytes_max || (!head_done() && head_bytes_ > head_bytes_max))
          return wrong("its head is too long");
        if (end == std::string_view::npos) return {};
        piece.remove_prefix(end + 1);
        if (line_.ends_with('\r')) line_.pop_back();
        std::string whole = std::move(line_);
        line_.clear();
        if (Status taken = line(whole); !taken) return taken;
      }
    }
  }
  return {};
}

Status HttpReader::line(std::string_view text) {
  switch (state_) {
    case State::status_line: {
      uint64_t status = 0;
      if (!text.starts_with("HTTP/1.") || text.size() < 12 || text[8] != ' ' ||
          !number(text.substr(9, 3), 10, status) || (text.size() > 12 && text[12] != ' ') || status < 100)
        return wrong("it does not speak HTTP");
      status_ = static_cast<int>(status);
      keep_alive_ = text[7] == '1';
      state_ = State::headers;
      return {};
    }
    case State::headers: {
      if (text.empty()) return end_of_head();
      size_t colon = text.find(':');
      if (colon == 0 || colon == std::string_view::npos || text[0] == ' ' || text[0] == '\t')
        return wrong("it sent a malformed header");
      headers_.emplace_back(lower(text.substr(0, colon)), std::string(trim(text.substr(colon + 1))));
      return {};
    }
    case State::chunk_size:
      if (!number(text.substr(0, text.find_first_of("; ")), 16, left_)) return wrong("it sent a malformed chunk");
      state_ = left_ == 0 ? State::trailers : State::chunk_data;
      return {};
    case State::chunk_end:
      if (!text.empty()) return wrong("it sent a malformed chunk");
      state_ = State::chunk_size;
      return {};
    case State::trailers:
      if (text.empty()) state_ = State::done;
      return {};
    default:
      return {};
  }
}

Status HttpReader::end_of_head() {
  if (status_ < 200) {  // 100 Continue and the like: the reply proper follows.
    headers_.clear();
    state_ = State::status_line;
    return {};
  }
  if (lower(header("connection")).find("close") != std::string::npos) keep_alive_ = false;
  std::string_view length = header("content-length");
  if (status_ == 204 || status_ == 304) {
    state_ = State::done;
  } else if (lower(header("transfer-encoding")) == "chunked") {
    if (!length.empty()) return wrong("it sent two lengths for one body");
    state_ = State::chunk_size;
  } else if (!header("transfer-encoding").empty()) {
    return wrong("it sent an unknown transfer encoding");
  } else if (!length.empty()) {
    if (!number(length, 10, left_)) return wrong("the length of its reply is not a number");
    state_ = left_ == 0 ? State::done : State::body_length;
  } else {
    keep_alive_ = false;
    state_ = State::body_until_close;
  }
  return {};
}

Status HttpReader::eof() {
  if (state_ == State::body_until_close) state_ = State::done;
  if (state_ == State::done) return {};
  return fail(Code::unavailable, "The server closed the connection in the middle of its answer. Try again.", "closed");
}

}  // namespace errand::cli
