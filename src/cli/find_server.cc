#include "cli/find_server.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/files.h"
#include "cli/http_reader.h"
#include "cli/install.h"
#include "cli/service.h"
#include "cli/start_server.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr Millis probe_ms = 2'000;

bool is_this_machine(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

// A process of ours that lives. server.json outlives a server that was killed; its port may then be anybody's.
bool is_our_process(int64_t pid) {
  struct stat about = {};
  return pid > 0 && ::stat(fmt::format("/proc/{}", pid).c_str(), &about) == 0 && about.st_uid == ::geteuid();
}

// Whether an errand server answers there. Sends no token: it may be anybody.
bool answers(const Target& target) {
  Time deadline = steady_now() + probe_ms;
  auto connection = Connection::open(target.endpoint, deadline);
  if (!connection) return false;
  std::string request =
      fmt::format("GET /api/health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.authority);
  if (!(*connection)->write(request, deadline)) return false;
  HttpReader reader;
  std::string piece;
  while (!reader.head_done()) {
    piece.clear();
    if ((*connection)->read(piece, deadline) != Connection::Read::some) return false;
    if (!reader.feed(piece)) return false;
  }
  return reader.status() == 200;
}

Result<Target> find_local(const Where& where) {
  std::string written = read_file(where.data_dir + "/server.json");
  ServerInfo info = written.empty() ? ServerInfo{} : parse_server(written).value_or(ServerInfo{});
  Result<Target> target = parse_url(info.url.empty() ? "http://localhost" : info.url);
  if (!target) return std::unexpected(target.error());
  target->url = info.url;
  target->version = info.version;
  target->pid = info.pid;
  target->config = info.config;
  target->token = where.token.empty() ? std::string(trim(read_file(where.data_dir + "/token"))) : where.token;

  if (is_our_process(info.pid) && !info.url.empty() && answers(*target)) return target;
  Endpoint socket;
  socket.unix_path = where.data_dir + "/errand.sock";
  if (Connection::open(socket, steady_now() + probe_ms)) {
    target->endpoint = socket;
    return target;
  }
  return fail(Code::unavailable,
              fmt::format("No server runs for the data folder {}. Start one with: errand serve", where.data_dir),
              "unreachable");
}

Result<Target> find_remote(const Where& where) {
  Result<Target> target = parse_url(where.url);
  if (!target) return target;
  target->token = where.token;
  if (target->token.empty() && !where.token_file.empty()) {
    target->token = trim(read_file(where.token_file));
    if (target->token.empty())
      return fail(Code::unauthorized, fmt::format("The file {} contains no token.", where.token_file), "no_token");
  }
  // The local server's token is nobody else's business.
  if (target->token.empty() && is_this_machine(target->endpoint.host))
    target->token = trim(read_file(where.data_dir + "/token"));
  if (target->token.empty())
    return fail(Code::unauthorized, fmt::format("{} needs a token. Set ERRAND_TOKEN or give --token-file.", where.url),
                "no_token");
  return target;
}

}  // namespace

Result<Target> parse_url(const std::string& url) {
  auto wrong = [&](std::string_view why) {
    return fail(Code::invalid_argument,
                fmt::format("\"{}\" is not the URL of a server: {}. Write it like http://127.0.0.1:4747.", url, why));
  };
  Target target;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    target.endpoint.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong("it begins with neither http:// nor https://");
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest.find_first_of("/?#@ \t\r\n") != std::string_view::npos)
    return wrong("it has more than a host and a port");
  target.url = fmt::format("{}://{}", target.endpoint.tls ? "https" : "http", rest);
  target.authority = rest;

  std::string_view host = rest, port;
  if (rest.starts_with('[')) {
    size_t close = rest.find(']');
    if (close == std::string_view::npos) return wrong("a ] is missing");
    host = rest.substr(1, close - 1);
    port = rest.substr(close + 1);
  } else if (size_t colon = rest.find(':'); colon != std::string_view::npos) {
    host = rest.substr(0, colon);
    port = rest.substr(colon);
  }
  target.endpoint.port = target.endpoint.tls ? 443 : 80;
  if (!port.empty()) {
    port.remove_prefix(1);
    auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), target.endpoint.port);
    if (error != std::errc() || end != port.data() + port.size() || target.endpoint.port < 1 ||
        target.endpoint.port > 65'535)
      return wrong("its port is not a number from 1 to 65535");
  }
  target.endpoint.host = host;
  target.local = is_this_machine(host);
  if (!target.local && !target.endpoint.tls)
    return fail(
        Code::invalid_argument,
        fmt::format("http:// would send the token unencrypted to {}. Use https://, or a tunnel to 127.0.0.1.", host));
  return target;
}

Result<Target> find_server(const Where& where, Start start) {
  if (!where.url.empty()) return find_remote(where);
  Result<Target> found = find_local(where);
  if (found || start == Start::never || found.error().code != Code::unavailable) return found;
  // The one that was installed for this folder runs in its unit. Where systemd does not answer (no login of this user,
  // a container) the work is still to be done: then a verb starts it.
  if (const std::optional<Service> service = installed_service(where.data_dir); service && tell(*service, "start"))
    return wait_for(where, *service, 0);
  return start_again(where, {});
}

Result<Target> start_again(const Where& where, const ServeWords& words) {
  return start_server(where.data_dir, words, [&] {
    Result<Target> started = find_local(where);
    // Its socket answers a moment before it has written where it is, and what it is.
    if (started && started->url.empty()) started = fail(Code::unavailable, "The server is starting.", "unreachable");
    return started;
  });
}

std::string default_data_dir() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string folder = variable("ERRAND_DATA_DIR");
  if (folder.empty() && !variable("XDG_DATA_HOME").empty()) folder = variable("XDG_DATA_HOME") + "/errand";
  if (folder.empty()) folder = variable("HOME") + "/.local/share/errand";
  return folder;
}

}  // namespace errand::cli
