#include "http/client.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#define CURL_DISABLE_DEPRECATION  // CURLOPT_PROTOCOLS is what old and new versions understand.
#include <dlfcn.h>
#include <unistd.h>

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include "base/text.h"
#include "http/field.h"
#include "http/public_address.h"

namespace errand::http {
namespace {

constexpr size_t head_bytes_max = 256 << 10;
constexpr int redirects_max = 5;
constexpr Millis sleep_max_ms = 3'600'000;

// The library's functions, found at run time.
struct Curl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_version) version;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_pause) easy_pause;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_url) url;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_free) free;
};

Result<Curl> load_curl() {
  void* library = nullptr;
  // Never closed: it may have threads of its own under way until the process ends.
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if ((library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!library)
    return fail(Code::unavailable,
                "libcurl is not installed: install it (Debian: apt install libcurl4) and start errand again.",
                "no_library");
  Curl curl;
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    whole = whole && function;
  };
  find(curl.global_init, "curl_global_init");
  find(curl.version, "curl_version");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_pause, "curl_easy_pause");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_setopt, "curl_multi_setopt");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_perform, "curl_multi_perform");
  find(curl.multi_info_read, "curl_multi_info_read");
  find(curl.multi_poll, "curl_multi_poll");
  find(curl.multi_wakeup, "curl_multi_wakeup");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.url, "curl_url");
  find(curl.url_set, "curl_url_set");
  find(curl.url_get, "curl_url_get");
  find(curl.url_cleanup, "curl_url_cleanup");
  find(curl.free, "curl_free");
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(Code::unavailable,
                "libcurl on this machine is older than 7.68: install a newer one and start errand again.",
                "no_library");
  return curl;
}

const Result<Curl>& curl_library() {
  static const Result<Curl> library = load_curl();
  return library;
}

// Where a request goes: what must be the same for credentials to go along, and what an error may name.
struct Place {
  std::string scheme, host, port;
  bool operator==(const Place&) const = default;
};

std::optional<Place> place_of(const Curl& curl, const std::string& url) {
  CURLU* parsed = curl.url();
  const auto part = [&](CURLUPart what, unsigned flags) {
    char* text = nullptr;
    std::string out;
    if (curl.url_get(parsed, what, &text, flags) == CURLUE_OK) out = text;
    curl.free(text);
    return out;
  };
  std::optional<Place> place;
  if (curl.url_set(parsed, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK)
    place = Place{part(CURLUPART_SCHEME, 0), part(CURLUPART_HOST, 0), part(CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  curl.url_cleanup(parsed);
  if (place && (place->host.empty() || (place->scheme != "http" && place->scheme != "https"))) place.reset();
  return place;
}

class Core;

// One call. What is the loop's, what is curl's and what both touch stand apart.
struct Transfer : std::enable_shared_from_this<Transfer> {
  Transfer(Request r, Handler& h, std::weak_ptr<Core> c) : handler(&h), core(std::move(c)), request(std::move(r)) {}

  // The loop's thread.
  Handler* handler;  // Null: nobody listens any more.
  const std::weak_ptr<Core> core;
  void deliver();

  // curl's thread.
  Request request;
  CURL* easy = nullptr;
  curl_slist* list = nullptr;
  Place place;
  Head head;
  size_t head_bytes = 0;
  bool head_told = false;
  int64_t received = 0;
  int redirects = 0;
  bool is_redirect = false;  // This answer is not the final one.
  Time began, heard;
  std::optional<Error> refused;  // Why we ended it.
  char error_text[CURL_ERROR_SIZE] = {};

  // Both, under the mutex: what is on its way to the handler.
  std::mutex mutex;
  std::optional<Head> mail_head;
  std::string mail_body;
  std::optional<Status> mail_done;
  bool posted = false;
  bool paused = false;
};

// The thread and what it shares with the loop.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Curl& curl, Executor& loop, Options options)
      : curl_(curl), loop_(loop), options_(std::move(options)), multi_(curl.multi_init()) {
    curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.idle_connections_max));
  }
  ~Core() { curl_.multi_cleanup(multi_); }

  void add(std::shared_ptr<Transfer> transfer) { command(Command::Kind::add, std::move(transfer)); }
  void remove(std::shared_ptr<Transfer> transfer) { command(Command::Kind::remove, std::move(transfer)); }
  void resume(std::shared_ptr<Transfer> transfer) { command(Command::Kind::resume, std::move(transfer)); }
  void stop() { command(Command::Kind::stop, nullptr); }
  void run();

  // From libcurl, on its thread.
  size_t on_header(Transfer& transfer, std::string_view line);
  size_t on_body(Transfer& transfer, std::string_view bytes);

 private:
  struct Command {
    enum class Kind : uint8_t { add, remove, resume, stop } kind;
    std::shared_ptr<Transfer> transfer;
  };

  void command(Command::Kind kind, std::shared_ptr<Transfer> transfer) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back({kind, std::move(transfer)});
    }
    curl_.multi_wakeup(multi_);
  }
  bool obey();
  void begin(const std::shared_ptr<Transfer>& transfer);
  bool prepare(Transfer& transfer);
  void drop(Transfer& transfer);
  void ended(const std::shared_ptr<Transfer>& transfer, CURLcode code);
  bool follow(const std::shared_ptr<Transfer>& transfer);
  void finish(std::shared_ptr<Transfer> transfer, Status status);
  void post(Transfer& transfer);  // With the transfer's mutex held.
  Millis end_the_late();
  Error explain(const Transfer& transfer, CURLcode code) const;

  const Curl& curl_;
  Executor& loop_;
  const Options options_;
  CURLM* const multi_;
  SystemClock clock_;
  std::set<std::shared_ptr<Transfer>> open_;  // curl's thread.

  std::mutex mutex_;
  std::deque<Command> commands_;  // Guarded by mutex_.
};

void Transfer::deliver() {
  std::optional<Head> got_head;
  std::string bytes;
  std::optional<Status> done;
  bool was_paused = false;
  {
    const std::lock_guard lock(mutex);
    posted = false;
    got_head.swap(mail_head);
    bytes.swap(mail_body);
    done.swap(mail_done);
    was_paused = paused;
  }
  // The handler may end the call in any of these.
  if (got_head && handler) handler->head(*got_head);
  if (!bytes.empty() && handler) handler->body(bytes);
  if (done && handler) std::exchange(handler, nullptr)->done(std::move(*done));
  if (!was_paused || !handler) return;
  if (const auto alive = core.lock()) alive->resume(shared_from_this());
}

void Core::run() {
  for (;;) {
    if (!obey()) break;
    int running = 0;
    curl_.multi_perform(multi_, &running);
    int left = 0;
    while (CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* pointer = nullptr;
      curl_.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &pointer);
      ended(static_cast<Transfer*>(pointer)->shared_from_this(), message->data.result);
    }
    const Millis wait = end_the_late();
    curl_.multi_poll(multi_, nullptr, 0, static_cast<int>(wait), nullptr);
  }
  for (const auto& transfer : open_) drop(*transfer);
  open_.clear();
}

// False: stop.
bool Core::obey() {
  std::deque<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const Command& each : commands) {
    switch (each.kind) {
      case Command::Kind::add:
        begin(each.transfer);
        break;
      case Command::Kind::remove:
        drop(*each.transfer);
        open_.erase(each.transfer);
        break;
      case Command::Kind::resume:
        if (!each.transfer->easy) break;
        each.transfer->heard = clock_.steady();  // The handler's slowness is not the server's.
        {
          const std::lock_guard lock(each.transfer->mutex);
          each.transfer->paused = false;
        }
        curl_.easy_pause(each.transfer->easy, CURLPAUSE_CONT);
        break;
      case Command::Kind::stop:
        return false;
    }
  }
  return true;
}

void Core::begin(const std::shared_ptr<Transfer>& transfer) {
  if (!transfer->began) transfer->began = clock_.steady();
  const std::optional<Place> place = place_of(curl_, transfer->request.url);
  if (!place) {
    finish(transfer, fail(Code::invalid_argument, "The address is no http or https URL.", "invalid"));
    return;
  }
  transfer->place = *place;
  transfer->head = {};
  transfer->head_bytes = 0;
  transfer->is_redirect = false;
  transfer->easy = curl_.easy_init();
  if (!transfer->easy || !prepare(*transfer) || curl_.multi_add_handle(multi_, transfer->easy) != CURLM_OK) {
    finish(transfer, fail(Code::invalid_argument, "libcurl does not take this request.", "invalid"));
    return;
  }
  open_.insert(transfer);
}

size_t header_callback(char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const auto core = transfer->core.lock();
  return core ? core->on_header(*transfer, {data, size * count}) : 0;
}

size_t body_callback(char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const auto core = transfer->core.lock();
  return core ? core->on_body(*transfer, {data, size * count}) : 0;
}

// A process that the server starts must not inherit the connection. Asked for each address that is tried, after the
// name was resolved: nothing can change between the check and the use.
curl_socket_t open_socket(void* user, curlsocktype, curl_sockaddr* address) {
  auto* transfer = static_cast<Transfer*>(user);
  if (transfer->request.public_only && !is_public_address(&address->addr)) {
    transfer->refused = Error{
        Code::forbidden, fmt::format("{} is an address of this machine or of a private network.", transfer->place.host),
        "private_address"};
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool Core::prepare(Transfer& transfer) {
  const Request& request = transfer.request;
  CURL* easy = transfer.easy;
  bool good = true;
  const auto set = [&](CURLoption option, auto value) {
    good = curl_.easy_setopt(easy, option, value) == CURLE_OK && good;
  };
  set(CURLOPT_PRIVATE, &transfer);
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  // One connection a stream: a paused one holds up no other, and what it buffers is small.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
  if (!options_.ca_dir.empty()) set(CURLOPT_CAPATH, options_.ca_dir.c_str());
  if (!options_.user_agent.empty()) set(CURLOPT_USERAGENT, options_.user_agent.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_ms));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(CURLOPT_OPENSOCKETDATA, &transfer);
  if (request.public_only) {
    set(CURLOPT_FRESH_CONNECT, 1L);
    set(CURLOPT_NOPROXY, "*");
  }
  set(CURLOPT_HEADERFUNCTION, &header_callback);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_WRITEFUNCTION, &body_callback);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_ERRORBUFFER, transfer.error_text);
  if (request.compressed) set(CURLOPT_ACCEPT_ENCODING, "");
#if LIBCURL_VERSION_NUM >= 0x075700
  // Ending a call whose name is being looked up must not hold up the others. Not known to older versions.
  curl_.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif

  const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT";
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else {
    if (has_body) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.data());
    }
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  bool has_type = false;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_.slist_append(transfer.list, line.c_str());
    good = longer && good;
    if (longer) transfer.list = longer;
  };
  for (const auto& [name, value] : request.headers) {
    has_type = has_type || lower(name) == "content-type";
    add(value.empty() ? name + ";" : fmt::format("{}: {}", name, value));
  }
  add("Expect:");  // No second round trip for a large request.
  if (has_body && !has_type) add("Content-Type:");
  set(CURLOPT_HTTPHEADER, transfer.list);
  return good;
}

void Core::drop(Transfer& transfer) {
  if (transfer.easy) {
    curl_.multi_remove_handle(multi_, transfer.easy);
    curl_.easy_cleanup(transfer.easy);
    transfer.easy = nullptr;
  }
  curl_.slist_free_all(std::exchange(transfer.list, nullptr));
}

size_t Core::on_header(Transfer& transfer, std::string_view line) {
  if (transfer.head_told) return line.size();  // Trailers: nothing that we use has any.
  transfer.head_bytes += line.size();
  if (transfer.head_bytes > head_bytes_max) {
    transfer.refused =
        Error{Code::too_large, fmt::format("{} answers with a head over 256 KiB.", transfer.place.host), "too_large"};
    return 0;
  }
  if (line.starts_with("HTTP/")) {
    transfer.head = {};
    return line.size();
  }
  const std::string_view text = trim(line);
  if (!text.empty()) {
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos)
      transfer.head.headers.emplace_back(lower(trim(text.substr(0, colon))), trim(text.substr(colon + 1)));
    return line.size();
  }
  long status = 0;
  curl_.easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return line.size();  // Another head follows.
  transfer.heard = clock_.steady();
  transfer.head.status = static_cast<int>(status);
  transfer.head.url = transfer.request.url;
  transfer.is_redirect = transfer.request.follow_redirects && status >= 301 && status <= 308 && status != 304 &&
                         status != 305 && status != 306 && !transfer.head.header("location").empty();
  if (transfer.is_redirect) return line.size();
  transfer.head_told = true;
  const std::lock_guard lock(transfer.mutex);
  transfer.mail_head = std::move(transfer.head);
  post(transfer);
  return line.size();
}

size_t Core::on_body(Transfer& transfer, std::string_view bytes) {
  transfer.heard = clock_.steady();
  if (transfer.is_redirect) return bytes.size();
  const std::lock_guard lock(transfer.mutex);
  if (!transfer.mail_body.empty() && transfer.mail_body.size() + bytes.size() > options_.in_flight_max) {
    transfer.paused = true;
    return CURL_WRITEFUNC_PAUSE;  // The same bytes come again.
  }
  transfer.received += static_cast<int64_t>(bytes.size());
  if (transfer.received > transfer.request.body_max) {
    transfer.refused =
        Error{Code::too_large,
              fmt::format("{} answers with more than {} bytes.", transfer.place.host, transfer.request.body_max),
              "too_large"};
    return 0;
  }
  transfer.mail_body += bytes;
  post(transfer);
  return bytes.size();
}

void Core::post(Transfer& transfer) {
  if (std::exchange(transfer.posted, true)) return;
  loop_.post([transfer = transfer.shared_from_this()] { transfer->deliver(); });
}

void Core::ended(const std::shared_ptr<Transfer>& transfer, CURLcode code) {
  if (code == CURLE_OK && transfer->is_redirect && follow(transfer)) return;
  if (code == CURLE_OK && !transfer->refused)
    finish(transfer, {});
  else
    finish(transfer, std::unexpected(explain(*transfer, code)));
}

// Our own, because libcurl's takes headers with keys in them along to other hosts. False: it is refused.
bool Core::follow(const std::shared_ptr<Transfer>& transfer) {
  char* next = nullptr;
  long status = 0;
  curl_.easy_getinfo(transfer->easy, CURLINFO_REDIRECT_URL, &next);
  curl_.easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
  const std::string url = next ? next : "";
  const std::optional<Place> place = place_of(curl_, url);
  const auto refuse = [&](std::string_view why) {
    transfer->refused =
        Error{Code::unavailable, fmt::format("{} redirects {}.", transfer->place.host, why), "redirect"};
    return false;
  };
  if (!place) return refuse("to something that is no http or https URL");
  if (transfer->place.scheme == "https" && place->scheme == "http")
    return refuse("from https to http, which is not followed");
  if (++transfer->redirects > redirects_max) return refuse("more than five times");
  Request& request = transfer->request;
  request.url = url;
  if (*place != transfer->place)
    std::erase_if(request.headers, [](const auto& header) { return is_credential(header.first); });
  if (status == 303 || (status <= 302 && request.method == "POST")) {
    if (request.method != "HEAD") request.method = "GET";
    request.body.clear();
    std::erase_if(request.headers, [](const auto& header) { return lower(header.first) == "content-type"; });
  }
  drop(*transfer);
  begin(transfer);
  return true;
}

void Core::finish(std::shared_ptr<Transfer> transfer, Status status) {
  drop(*transfer);
  open_.erase(transfer);
  const std::lock_guard lock(transfer->mutex);
  transfer->mail_done = std::move(status);
  post(*transfer);
}

// Ends calls that wait too long; answers how long nobody is late.
Millis Core::end_the_late() {
  const Time now = clock_.steady();
  Millis wait = sleep_max_ms;
  std::vector<std::shared_ptr<Transfer>> late;
  for (const auto& transfer : open_) {
    bool paused = false;
    {
      const std::lock_guard lock(transfer->mutex);
      paused = transfer->paused;
    }
    if (paused) continue;
    const Time due = transfer->head_told ? transfer->heard + transfer->request.silence_ms
                                         : transfer->began + transfer->request.first_byte_ms;
    if (due <= now)
      late.push_back(transfer);
    else
      wait = std::min(wait, due - now);
  }
  for (const auto& transfer : late) {
    const bool silent = transfer->head_told;
    const Millis limit = silent ? transfer->request.silence_ms : transfer->request.first_byte_ms;
    finish(transfer, fail(Code::unavailable,
                          fmt::format("{} {} for {}.", transfer->place.host,
                                      silent ? "sent nothing more" : "did not answer", format_duration(limit)),
                          "timeout"));
  }
  return wait;
}

Error Core::explain(const Transfer& transfer, CURLcode code) const {
  if (transfer.refused) return *transfer.refused;
  const std::string& host = transfer.place.host;
  const std::string_view detail = transfer.error_text[0] ? transfer.error_text : curl_.easy_strerror(code);
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::unavailable,
              fmt::format("No connection to {} within {}.", host, format_duration(transfer.request.connect_ms)),
              "timeout"};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return {Code::unavailable,
              fmt::format(
                  "The certificate of {} is not trusted ({}). Where it is your own, name the file of its authority in "
                  "SSL_CERT_FILE.",
                  host, detail),
              "tls"};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::unavailable, fmt::format("No TLS connection to {}: {}.", host, detail), "tls"};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return {Code::unavailable, fmt::format("{} cannot be reached: {}.", host, detail), "connect"};
    default:
      return {Code::unavailable, fmt::format("The connection to {} ended early: {}.", host, detail), "cut"};
  }
}

class CurlCall final : public Call {
 public:
  explicit CurlCall(std::shared_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  CurlCall(const CurlCall&) = delete;
  CurlCall& operator=(const CurlCall&) = delete;
  ~CurlCall() override {
    // Over already: nothing of it is left on the other thread.
    if (!std::exchange(transfer_->handler, nullptr)) return;
    if (const auto core = transfer_->core.lock()) core->remove(transfer_);
  }

 private:
  const std::shared_ptr<Transfer> transfer_;
};

class CurlClient final : public Client {
 public:
  CurlClient(Executor& loop, Options options) : loop_(loop), options_(std::move(options)) {}
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;
  ~CurlClient() override {
    if (!core_) return;
    core_->stop();
    thread_.join();
  }

  std::unique_ptr<Call> start(Request request, Handler& handler) override {
    Status fine = check(request);
    if (fine && !core_) run();
    auto transfer = std::make_shared<Transfer>(std::move(request), handler, core_);
    if (fine) {
      core_->add(transfer);
    } else {
      transfer->mail_done = std::move(fine);
      loop_.post([transfer] { transfer->deliver(); });
    }
    return std::make_unique<CurlCall>(std::move(transfer));
  }

 private:
  // At the first call: who makes none pays for no library and no thread.
  void run() {
    core_ = std::make_shared<Core>(*curl_library(), loop_, options_);
    // Signals are the main thread's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([core = core_] { core->run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static Status check(const Request& request) {
    if (const Result<Curl>& curl = curl_library(); !curl) return std::unexpected(curl.error());
    if (!is_token(request.method)) return fail(Code::invalid_argument, "The method is no HTTP method.", "invalid");
    if (!is_plain(request.url)) return fail(Code::invalid_argument, "The address has a line break in it.", "invalid");
    for (const auto& [name, value] : request.headers)
      if (!is_token(name) || !is_plain(value))
        return fail(Code::invalid_argument,
                    fmt::format("The header {} cannot be sent: it has a line break or a wrong name.",
                                is_token(name) ? name : "given"),
                    "invalid");
    return {};
  }

  Executor& loop_;
  const Options options_;
  std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Client> make_client(Executor& loop, Options options) {
  return std::make_unique<CurlClient>(loop, std::move(options));
}

Result<std::string> library_version() {
  const Result<Curl>& curl = curl_library();
  if (!curl) return std::unexpected(curl.error());
  return std::string(curl->version());
}

}  // namespace errand::http
