#include "http/transfers.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "http/field.h"

namespace errand::http {
namespace {

constexpr int redirects_max = 5;
constexpr Millis sleep_max_ms = 3'600'000;

}  // namespace

void Transfer::deliver() {
  if (held) {  // What comes is added to what is kept, up to its bound: `posted` stays.
    kept = true;
    return;
  }
  std::optional<Head> got_head;
  std::string bytes;
  std::optional<Status> done;
  bool was_paused = false;
  {
    const Lock lock(mutex);
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
  if (const auto alive = owner.lock()) alive->resume(shared_from_this());
}

void Transfers::run() {
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
bool Transfers::obey() {
  std::deque<Command> commands;
  {
    const Lock lock(mutex_);
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
          const Lock lock(each.transfer->mutex);
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

void Transfers::begin(const std::shared_ptr<Transfer>& transfer) {
  if (!transfer->began) transfer->began = clock_.steady();
  const std::optional<Place> place = place_of(curl_, transfer->request.url);
  if (!place) {
    finish(transfer, fail(Code::invalid_argument, "The address is not an http or https URL.", "invalid"));
    return;
  }
  transfer->place = *place;
  transfer->head = {};
  transfer->head_bytes = 0;
  transfer->is_redirect = false;
  transfer->easy = curl_.easy_init();
  if (!transfer->easy || !prepare(*transfer) || curl_.multi_add_handle(multi_, transfer->easy) != CURLM_OK) {
    finish(transfer, fail(Code::invalid_argument, "libcurl refuses this request.", "invalid"));
    return;
  }
  open_.insert(transfer);
}

void Transfers::drop(Transfer& transfer) {
  if (transfer.easy) {
    curl_.multi_remove_handle(multi_, transfer.easy);
    curl_.easy_cleanup(transfer.easy);
    transfer.easy = nullptr;
  }
  curl_.slist_free_all(std::exchange(transfer.list, nullptr));
}

void Transfers::ended(const std::shared_ptr<Transfer>& transfer, CURLcode code) {
  if (code == CURLE_OK && transfer->is_redirect && follow(transfer)) return;
  if (code == CURLE_OK && !transfer->refused)
    finish(transfer, {});
  else
    finish(transfer, std::unexpected(explain(*transfer, code)));
}

// Our own, because libcurl's takes headers with keys in them along to other hosts. False: it is refused.
bool Transfers::follow(const std::shared_ptr<Transfer>& transfer) {
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
  if (!place) return refuse("to something that is not an http or https URL");
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

void Transfers::finish(std::shared_ptr<Transfer> transfer, Status status) {
  drop(*transfer);
  open_.erase(transfer);
  const Lock lock(transfer->mutex);
  transfer->mail_done = std::move(status);
  post(*transfer);
}

// Ends calls that wait too long; answers how long nobody is late.
Millis Transfers::end_the_late() {
  const Time now = clock_.steady();
  Millis wait = sleep_max_ms;
  std::vector<std::shared_ptr<Transfer>> late;
  for (const auto& transfer : open_) {
    bool paused = false;
    {
      const Lock lock(transfer->mutex);
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

Error Transfers::explain(const Transfer& transfer, CURLcode code) const {
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

}  // namespace errand::http
