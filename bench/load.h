// A load generator: one thread, epoll, keep-alive connections. It knows as little HTTP as it needs, so that what it
// costs is small beside what it measures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace errand::bench {

struct Target {
  int port = 0;  // On 127.0.0.1.
  std::string token;
};

// One request, complete with head. `body` empty: none.
std::string request(const Target& target, const std::string& method, const std::string& path,
                    const std::string& body = {});

struct Reply {
  int status = 0;
  std::string body;
};
// One request on a connection of its own; blocking.
Reply call(const Target& target, const std::string& method, const std::string& path, const std::string& body = {});

struct LoadResult {
  int64_t replies = 0;
  int64_t errors = 0;  // Not 2xx.
  double seconds = 0;
  std::vector<double> micros;  // Per reply, sorted.

  double rate() const { return seconds > 0 ? static_cast<double>(replies) / seconds : 0; }
  double percentile(double p) const;
};

// `total` requests over `connections` connections, each with one under way. make(n) gives the n-th.
LoadResult load(const Target& target, int connections, int64_t total, const std::function<std::string(int64_t)>& make);

struct FanOutResult {
  int64_t deliveries = 0;
  double seconds = 0;          // From the first byte after `go` to the last event of the last reader.
  std::vector<double> micros;  // Of paced events, from when they were asked for to their arrival; sorted.
  bool complete = false;       // Every reader got all.
  double percentile(double p) const;
};

// `readers` streams of `path`. Once all are open (each has had its reply's head), calls go(); then counts events (blank
// lines after a `data:`) until each reader has `events` of them or nothing came for 10 s.
FanOutResult fan_out(const Target& target, const std::string& path, int readers, int64_t events,
                     const std::function<void()>& go);

// `readers` streams of `path`. Once all are open and have been silent for a while, calls fire(n) a hundred times a
// second, which makes one event of the type; measures from each fire(n) to the arrival of the n-th such event at every
// reader.
FanOutResult paced_out(const Target& target, const std::string& path, const std::string& type, int readers, int events,
                       const std::function<void(int)>& fire);

double now_seconds();

}  // namespace errand::bench
