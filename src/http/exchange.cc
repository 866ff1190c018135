// One request as libcurl is told of it, and its answer as libcurl tells it.
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/text.h"
#include "http/field.h"
#include "http/public_address.h"
#include "http/transfers.h"

namespace errand::http {
namespace {

constexpr size_t head_bytes_max = 256 << 10;

size_t header_callback(char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const auto owner = transfer->owner.lock();
  return owner ? owner->on_header(*transfer, {data, size * count}) : 0;
}

size_t body_callback(char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const auto owner = transfer->owner.lock();
  return owner ? owner->on_body(*transfer, {data, size * count}) : 0;
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

}  // namespace

bool Transfers::prepare(Transfer& transfer) {
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

size_t Transfers::on_header(Transfer& transfer, std::string_view line) {
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
  const Lock lock(transfer.mutex);
  transfer.mail_head = std::move(transfer.head);
  post(transfer);
  return line.size();
}

size_t Transfers::on_body(Transfer& transfer, std::string_view bytes) {
  transfer.heard = clock_.steady();
  if (transfer.is_redirect) return bytes.size();
  const Lock lock(transfer.mutex);
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

void Transfers::post(Transfer& transfer) {
  if (std::exchange(transfer.posted, true)) return;
  loop_.post([transfer = transfer.shared_from_this()] { transfer->deliver(); });
}

}  // namespace errand::http
