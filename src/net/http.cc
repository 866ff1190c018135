#include "net/http.h"

#include <algorithm>

namespace errand::net {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string_view name(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::del:
      return "DELETE";
    case Method::options:
      return "OPTIONS";
    case Method::other:
      return "OTHER";
  }
  return "OTHER";
}

std::string_view Request::header(std::string_view name) const {
  const auto found =
      std::ranges::find(headers, name, [](const auto& header) -> std::string_view { return header.first; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

size_t Request::count_header(std::string_view name) const {
  return static_cast<size_t>(
      std::ranges::count(headers, name, [](const auto& header) -> std::string_view { return header.first; }));
}

std::optional<std::string_view> Request::param(std::string_view name) const {
  const auto found = std::ranges::find(query, name, [](const auto& pair) -> std::string_view { return pair.first; });
  if (found == query.end()) return std::nullopt;
  return found->second;
}

namespace {

class GoodSource final : public StreamSource {
 public:
  GoodSource(std::unique_ptr<StreamSource> source, std::function<bool()> still_good)
      : source_(std::move(source)), still_good_(std::move(still_good)) {}
  Pulled pull(std::vector<Slice>& out, size_t bytes) override {
    return still_good_() ? source_->pull(out, bytes) : Pulled::end;
  }
  void on_ready(std::function<void()> wake) override { source_->on_ready(std::move(wake)); }

 private:
  const std::unique_ptr<StreamSource> source_;
  const std::function<bool()> still_good_;
};

}  // namespace

std::unique_ptr<StreamSource> while_good(std::unique_ptr<StreamSource> source, std::function<bool()> still_good) {
  if (!still_good) return source;
  return std::make_unique<GoodSource>(std::move(source), std::move(still_good));
}

}  // namespace errand::net
