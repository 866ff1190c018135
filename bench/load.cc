#include "bench/load.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace errand::bench {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

int connect_to(const Target& target) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(target.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) die("connect");
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

void send_all(int fd, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) continue;
    if (n <= 0) die("send");
    sent += static_cast<size_t>(n);
  }
}

// The length of the first whole reply in `bytes`; 0 where it is not whole yet. Replies with a length only.
size_t whole_reply(const std::string& bytes, int& status) {
  const size_t head = bytes.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  status = std::atoi(bytes.c_str() + 9);
  size_t length = 0;
  for (size_t at = 0; at < head;) {
    const size_t end = bytes.find("\r\n", at);
    if (strncasecmp(bytes.c_str() + at, "content-length:", 15) == 0)
      length = static_cast<size_t>(std::atoll(bytes.c_str() + at + 15));
    at = end + 2;
  }
  return bytes.size() >= head + 4 + length ? head + 4 + length : 0;
}

double sorted_percentile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<size_t>(p / 100 * static_cast<double>(sorted.size() - 1));
  return sorted[index];
}

}  // namespace

double now_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double LoadResult::percentile(double p) const { return sorted_percentile(micros, p); }
double FanOutResult::percentile(double p) const { return sorted_percentile(micros, p); }

std::string request(const Target& target, const std::string& method, const std::string& path, const std::string& body) {
  std::string out = method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(target.port) + "\r\n";
  if (!target.token.empty()) out += "Authorization: Bearer " + target.token + "\r\n";
  if (!body.empty())
    out += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  else if (method == "POST")
    out += "Content-Length: 0\r\n";
  return out + "\r\n" + body;
}

Reply call(const Target& target, const std::string& method, const std::string& path, const std::string& body) {
  const int fd = connect_to(target);
  send_all(fd, request(target, method, path, body));
  std::string bytes;
  Reply reply;
  char buffer[65536];
  size_t whole = 0;
  while ((whole = whole_reply(bytes, reply.status)) == 0) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    bytes.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  const size_t head = bytes.find("\r\n\r\n");
  if (head != std::string::npos) reply.body = bytes.substr(head + 4);
  return reply;
}

LoadResult load(const Target& target, int connections, int64_t total, const std::function<std::string(int64_t)>& make) {
  struct Connection {
    int fd = -1;
    std::string in;
    double sent = 0;
  };
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Connection> all(static_cast<size_t>(connections));
  int64_t next = 0, under_way = 0;
  LoadResult result;
  result.micros.reserve(static_cast<size_t>(total));
  const auto send_next = [&](Connection& connection) {
    if (next >= total) return;
    connection.sent = now_seconds();
    send_all(connection.fd, make(next++));
    ++under_way;
  };
  for (Connection& connection : all) {
    connection.fd = connect_to(target);
    fcntl(connection.fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
    epoll_ctl(poll, EPOLL_CTL_ADD, connection.fd, &event);
  }
  const double began = now_seconds();
  for (Connection& connection : all) send_next(connection);
  std::vector<epoll_event> events(256);
  char buffer[65536];
  while (under_way > 0) {
    const int n = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 30'000);
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr);
      const ssize_t got = recv(connection.fd, buffer, sizeof buffer, 0);
      if (got <= 0) die("the server closed a connection");
      connection.in.append(buffer, static_cast<size_t>(got));
      int status = 0;
      const size_t whole = whole_reply(connection.in, status);
      if (whole == 0) continue;
      connection.in.erase(0, whole);
      --under_way;
      ++result.replies;
      if (status < 200 || status > 299) ++result.errors;
      result.micros.push_back((now_seconds() - connection.sent) * 1e6);
      send_next(connection);
    }
  }
  result.seconds = now_seconds() - began;
  for (Connection& connection : all) close(connection.fd);
  close(poll);
  std::ranges::sort(result.micros);
  return result;
}

FanOutResult fan_out(const Target& target, const std::string& path, int readers, int64_t events,
                     const std::function<void()>& go) {
  struct Reader {
    int fd = -1;
    bool open = false;
    int64_t seen = 0;
    bool line_end = false;  // The last byte was a newline: another one ends an event.
    bool has_data = false;
    char last[6] = {};
  };
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Reader> all(static_cast<size_t>(readers));
  int open = 0;
  for (Reader& reader : all) {
    reader.fd = connect_to(target);
    send_all(reader.fd, request(target, "GET", path));
    fcntl(reader.fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &reader}};
    epoll_ctl(poll, EPOLL_CTL_ADD, reader.fd, &event);
  }
  FanOutResult result;
  int64_t finished = 0;
  double began = 0, last = 0;
  std::vector<epoll_event> ready(1024);
  std::vector<char> buffer(1 << 18);
  while (finished < readers) {
    const int n = epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), 10'000);
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      Reader& reader = *static_cast<Reader*>(ready[static_cast<size_t>(i)].data.ptr);
      const ssize_t got = recv(reader.fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        epoll_ctl(poll, EPOLL_CTL_DEL, reader.fd, nullptr);
        continue;
      }
      if (!reader.open) {
        reader.open = true;
        ++open;
      }
      // An event is `data:` ... and then an empty line; heartbeats and `retry:` have no data.
      const char* at = buffer.data();
      const char* const end = at + got;
      while (at < end) {
        const char* const newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
        if (newline == nullptr) {
          reader.line_end = false;
          break;
        }
        if (newline == at && reader.line_end) {
          if (reader.has_data) {
            ++result.deliveries;
            if (++reader.seen == events) ++finished;
          }
          reader.has_data = false;
        } else if (newline - at >= 5 && reader.line_end && std::memcmp(at, "data:", 5) == 0) {
          reader.has_data = true;
        } else if (!reader.line_end) {
          reader.has_data = true;  // A line that was cut by the read: long, so it was data.
        }
        reader.line_end = true;
        at = newline + 1;
      }
    }
    last = now_seconds();
    if (open == readers && began == 0) {
      began = now_seconds();
      go();
    }
  }
  result.seconds = last - began;
  result.complete = finished == readers;
  for (Reader& reader : all) close(reader.fd);
  close(poll);
  return result;
}

FanOutResult paced_out(const Target& target, const std::string& path, const std::string& type, int readers, int events,
                       const std::function<void(int)>& fire) {
  struct Reader {
    int fd = -1;
    std::string in;
    int seen = 0;
  };
  constexpr double every = 0.01;
  constexpr int quiet_ms = 300;
  const std::string mark = "event: " + type + "\n";
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Reader> all(static_cast<size_t>(readers));
  for (Reader& reader : all) {
    reader.fd = connect_to(target);
    send_all(reader.fd, request(target, "GET", path));
    fcntl(reader.fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &reader}};
    epoll_ctl(poll, EPOLL_CTL_ADD, reader.fd, &event);
  }
  FanOutResult result;
  std::vector<double> fired;
  std::vector<epoll_event> ready(1024);
  char buffer[65536];
  // Reads what is there; before the first fire(n) it is not counted.
  const auto read_for = [&](int wait_ms) {
    const int n = epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), wait_ms);
    for (int i = 0; i < n; ++i) {
      Reader& reader = *static_cast<Reader*>(ready[static_cast<size_t>(i)].data.ptr);
      const ssize_t got = recv(reader.fd, buffer, sizeof buffer, 0);
      if (got <= 0) {
        epoll_ctl(poll, EPOLL_CTL_DEL, reader.fd, nullptr);
        continue;
      }
      reader.in.append(buffer, static_cast<size_t>(got));
      size_t done = 0;
      for (size_t at = 0; (at = reader.in.find(mark, done)) != std::string::npos; done = at + mark.size()) {
        if (fired.empty() || reader.seen >= static_cast<int>(fired.size())) continue;
        result.micros.push_back((now_seconds() - fired[static_cast<size_t>(reader.seen++)]) * 1e6);
        ++result.deliveries;
      }
      // The mark may be cut by the read.
      reader.in.erase(0, std::max(done, reader.in.size() - std::min(reader.in.size(), mark.size())));
    }
    return n;
  };
  while (read_for(quiet_ms) > 0) {
  }
  const int64_t whole = int64_t{readers} * events;
  const double began = now_seconds();
  while (result.deliveries < whole) {
    const double due = began + every * static_cast<double>(fired.size());
    const bool more = static_cast<int>(fired.size()) < events;
    if (more && now_seconds() >= due) {
      fired.push_back(now_seconds());
      fire(static_cast<int>(fired.size()));
    }
    const int wait_ms = more ? std::max(0, static_cast<int>((due - now_seconds()) * 1e3)) : 5'000;
    if (read_for(wait_ms) == 0 && !more) break;
  }
  result.seconds = now_seconds() - began;
  result.complete = result.deliveries == whole;
  for (Reader& reader : all) close(reader.fd);
  close(poll);
  std::ranges::sort(result.micros);
  return result;
}

}  // namespace errand::bench
