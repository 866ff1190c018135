#include "driver/builtin/tools/fetch.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/html_text.h"
#include "driver/builtin/tools/in_background.h"
#include "http/public_address.h"
#include "model/model.h"
#include "task/notice.h"

namespace errand::builtin {
namespace {

constexpr size_t body_bytes_max = 2 << 20;  // Of a longer page the beginning is used.
constexpr int redirects_max = 5;
constexpr Millis patience_ms = 60'000;
constexpr size_t url_bytes_max = 4'096;

struct Arguments {
  std::string url;
  bool raw = false;
};

Result<Arguments> read_input(std::string_view input) {
  Arguments arguments;
  const Status good = read_arguments(input, [&](Fields& fields) {
    require(fields, "url");
    fields.text("url", arguments.url, {.bytes_max = url_bytes_max, .one_line = true});
    fields.flag("raw", arguments.raw);
    if (fields.failed()) return;
    arguments.url = arguments.url.substr(0, arguments.url.find('#'));
    if (origin_of(arguments.url).empty() || arguments.url.contains(' '))
      fields.refuse("url", "must be an http or https address, without a name or password in it");
  });
  if (!good) return std::unexpected(good.error());
  return arguments;
}

std::string host_of(std::string_view url) {
  const std::string origin = origin_of(url);
  std::string_view host = std::string_view(origin).substr(std::min(origin.size(), origin.find("//") + 2));
  if (!host.starts_with('[')) return std::string(host.substr(0, host.find(':')));
  return std::string(host.substr(0, host.find(']') + 1));
}

// Said before anybody is asked; what a name is resolved to is looked at by the client.
Status check_host(const std::string& url, bool allow_private) {
  if (allow_private) return {};
  const std::string host = host_of(url);
  const bool literal = host.starts_with('[') || host.find_first_not_of("0123456789.") == std::string::npos;
  if ((literal && !http::is_public_address(host)) || host == "localhost" || host.ends_with(".localhost"))
    return fail(Code::forbidden,
                fmt::format("{} is this machine or a private network, which fetch does not reach here (the server's "
                            "setting fetch.allow_private).",
                            host),
                "private_address");
  return {};
}

bool is_text_type(std::string_view type) {
  constexpr std::array named = {"application/json",       "application/xml",          "application/javascript",
                                "application/xhtml+xml",  "application/x-javascript", "application/yaml",
                                "application/ecmascript", "application/x-ndjson",     "application/toml"};
  return type.empty() || type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml") ||
         std::ranges::find(named, type) != named.end();
}

std::string from_latin1(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) append_character(out, static_cast<unsigned char>(c));
  return out;
}

struct Page {
  std::string url, type, body;
  int status = 0;
  bool latin1 = false, raw = false, cut = false;
};

// A page as the model gets it. In the background: there may be megabytes of it.
ToolOutcome page_text(const Page& page) {
  std::string text = page.latin1 ? from_latin1(page.body) : to_utf8(page.body);
  if (!page.raw && (page.type.contains("html") || (page.type.empty() && text.contains("<html"))))
    text = html_text(text);
  text = without_escapes(text, EscapeFilter::Colours::drop);
  std::string about = fmt::format("{} (HTTP {}{})\n\n", page.url, page.status, page.cut ? "; only its beginning" : "");
  if (text.empty()) text = "(there is nothing in it)";
  return {.output = about + bounded(text, tool_output_max - 1'000 - std::min<size_t>(count_characters(about), 5'000),
                                    "The middle is left out."),
          .is_error = page.status / 100 != 2};
}

class FetchRun final : public ToolRun, private http::Handler {
 public:
  FetchRun(const FetchParts& parts, Arguments arguments, Tool::Done done)
      : parts_(parts), arguments_(std::move(arguments)), done_(std::move(done)), timer_(parts.timers) {
    timer_.set(patience_ms, [this] {
      if (!body_.empty()) return finish(true);
      tell(
          {.output = fmt::format("{} did not answer within {}.", host_of(arguments_.url), format_duration(patience_ms)),
           .is_error = true});
    });
    start();
  }

 private:
  void start() {
    http::Request request{.method = "GET", .url = arguments_.url, .headers = {}, .body = {}};
    request.headers.emplace_back("Accept", "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1");
    request.first_byte_ms = 30'000;
    request.silence_ms = 20'000;
    request.body_max = INT64_MAX;
    request.compressed = true;
    request.public_only = !parts_.allow_private;
    call_ = parts_.http.start(std::move(request), *this);
  }

  void head(const http::Head& head) override {
    status_ = head.status;
    const std::string_view type = head.header("content-type");
    const std::string lower = lowered(type);
    type_ = trim(std::string_view(lower).substr(0, lower.find(';')));
    latin1_ = lower.contains("iso-8859-1") || lower.contains("windows-1252");
    location_ = head.header("location");
    if (status_ / 100 != 3 && !is_text_type(type_))
      tell({.output = fmt::format("{} is {}, and only text is fetched.", arguments_.url, one_line(type_)),
            .is_error = true});
  }
  void body(std::string_view bytes) override {
    body_ += bytes.substr(0, body_bytes_max - std::min(body_.size(), body_bytes_max));
    if (body_.size() >= body_bytes_max) finish(true);
  }
  void done(Status status) override {
    if (!status) return tell({.output = status.error().message, .is_error = true});
    if (status_ / 100 == 3 && !location_.empty()) return redirected();
    finish(false);
  }

  void redirected() {
    const std::string next = redirect_target(arguments_.url, location_);
    if (next.empty() || ++redirects_ > redirects_max)
      return tell(
          {.output = fmt::format("{} redirects to nowhere that can be followed.", arguments_.url), .is_error = true});
    // Another host is another question.
    if (origin_of(next) != origin_of(arguments_.url))
      return tell({.output = fmt::format("{} redirects to {}; fetch that where you need it.", arguments_.url,
                                         short_line(next, 1'000))});
    arguments_.url = next;
    body_.clear();
    start();
  }

  void finish(bool cut) {
    timer_.cancel();
    call_.reset();
    Page page{.url = arguments_.url,
              .type = type_,
              .body = std::move(body_),
              .status = status_,
              .latin1 = latin1_,
              .raw = arguments_.raw,
              .cut = cut};
    reading_ = in_background(
        parts_.background, parts_.engine, [page = std::move(page)](const GivenUp&) { return page_text(page); },
        [this](ToolOutcome outcome) { tell(std::move(outcome)); });
  }

  static std::string lowered(std::string_view text) {
    std::string out(text.substr(0, 300));
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
  }

  void tell(ToolOutcome outcome) {
    timer_.cancel();
    call_.reset();
    // May destroy this.
    if (auto told = std::exchange(done_, nullptr)) told(std::move(outcome));
  }

  const FetchParts& parts_;
  Arguments arguments_;
  Tool::Done done_;
  Timer timer_;
  std::unique_ptr<http::Call> call_;
  std::unique_ptr<ToolRun> reading_;
  int status_ = 0;
  int redirects_ = 0;
  bool latin1_ = false;
  std::string type_, location_, body_;
};

class Fetch final : public Tool {
 public:
  explicit Fetch(FetchParts parts) : parts_(parts) {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return true; }
  std::string summary(std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    return arguments ? short_line(arguments->url) : std::string();
  }
  Result<Prepared> prepare(const ToolContext&, std::string input) const override {
    Result<Arguments> arguments = read_input(input);
    if (!arguments) return std::unexpected(arguments.error());
    if (const Status good = check_host(arguments->url, parts_.allow_private); !good)
      return std::unexpected(good.error());
    Prepared call;
    call.need = {.ask = true, .subject = arguments->url, .tool = {}, .text = "Fetch " + arguments->url};
    call.run = [this, arguments = std::move(*arguments)](const ToolContext& context, Done done) mutable {
      return run(context, std::move(arguments), std::move(done));
    };
    return call;
  }

 private:
  std::unique_ptr<ToolRun> run(const ToolContext& context, Arguments arguments, Done done) const {
    if (context.permitted != arguments.url)
      return told_later(parts_.engine,
                        {.output = "The permission was not for " + arguments.url + ".", .is_error = true},
                        std::move(done));
    return std::make_unique<FetchRun>(parts_, std::move(arguments), std::move(done));
  }

  FetchParts parts_;
  model::ToolSpec spec_{
      .name = "fetch",
      .description =
          "Fetches a page from the web (http or https, GET) and gives it as text: HTML without its tags, of "
          "long pages the beginning and the end. Nothing but text. A redirect to another host is not followed "
          "but told.",
      .input_schema = R"({"type":"object","properties":{)"
                      R"("url":{"type":"string","description":"The address, with http:// or https://."},)"
                      R"("raw":{"type":"boolean","description":"Give HTML as it is. Default false."})"
                      R"(},"required":["url"],"additionalProperties":false})"};
};

}  // namespace

std::string origin_of(std::string_view url) {
  const size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return {};
  const std::string_view host = url.substr(scheme, url.find_first_of("/?#\\", scheme) - scheme);
  if (host.empty() || host.contains('@') || host.starts_with(':')) return {};
  return std::string(url.substr(0, scheme)) + std::string(host);
}

std::string redirect_target(std::string_view url, std::string_view location) {
  std::string next;
  if (location.starts_with("http://") || location.starts_with("https://"))
    next = location;
  else if (location.starts_with("//"))
    next = std::string(url.substr(0, url.find(':') + 1)) + std::string(location);
  else if (location.starts_with('/'))
    next = origin_of(url) + std::string(location);
  next = next.substr(0, next.find('#'));
  const bool odd = std::ranges::any_of(next, [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
  return odd || next.size() > url_bytes_max || origin_of(next).empty() ? std::string() : next;
}

std::unique_ptr<Tool> make_fetch(FetchParts parts) { return std::make_unique<Fetch>(parts); }

}  // namespace errand::builtin
