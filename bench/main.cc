// One round of one workload on one system. Prints a line of JSON for each figure: bench/run, which repeats rounds and
// compares systems, reads them.
//
//   build/release/bench/errand_bench WORKLOAD SYSTEM [--tasks 100000] [--waiting 100000]
//
// WORKLOAD: w1 to w9 (docs/benchmarks.md), and `load`: what the load generator itself can do.
// SYSTEM: `errand`, the binary beside this one, with its defaults; `raw`, a minimal program that does only that one
// thing (bench/raw.h); `peer:PORT`, a server of bench/peers; `task-spooler` and `nq`, which have a command line alone
// (w6).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include "bench/load.h"
#include "bench/queues.h"
#include "bench/raw.h"
#include "bench/server.h"

namespace errand::bench {
namespace {

struct Options {
  std::string binary;
  std::string system;
  int64_t tasks = 100'000;
  int64_t waiting = 100'000;  // Of W7.
  int at_once = 0;            // Of a peer: what it was started with.
};

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "errand_bench: %s\n", what.c_str());
  std::exit(1);
}

// A figure. `more`: further members of the object, as JSON.
void figure(const std::string& what, double value, const char* unit, const std::string& more = {}) {
  std::printf("{\"what\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"%s%s}\n", what.c_str(), value, unit,
              more.empty() ? "" : ",", more.c_str());
  std::fflush(stdout);
}
std::string member(const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "\"%s\":%.6g", name, value);
  return text;
}
std::string latency(const LoadResult& result) {
  return member("p50_us", result.percentile(50)) + "," + member("p99_us", result.percentile(99));
}

std::string launch_body(const std::string& prompt, int64_t n) {
  return R"({"agent_id":"demo","message":")" + prompt + R"(","title":"Benchmark task number )" + std::to_string(n) +
         R"("})";
}

std::string id_of(const Reply& reply) {
  const size_t at = reply.body.find("\"id\":\"");
  return at == std::string::npos ? "" : reply.body.substr(at + 6, 31);
}

void well(const LoadResult& result) {
  if (result.errors > 0) die(std::to_string(result.errors) + " requests were refused");
}

// Takes all slots, so that what is created waits.
void fill_slots(const Target& target, int slots) {
  for (int i = 0; i < slots; ++i) call(target, "POST", "/api/tasks", launch_body("silent 3600", i));
}

LoadResult create(const Target& target, int connections, int64_t count, const std::string& prompt = "noop") {
  LoadResult made = load(target, connections, count,
                         [&](int64_t n) { return request(target, "POST", "/api/tasks", launch_body(prompt, n)); });
  well(made);
  return made;
}

void wait_until_idle(const Target& target) {
  for (;;) {
    const Reply reply = call(target, "GET", "/api/tasks?status=pending,running&limit=1");
    if (reply.body.find("\"tasks\":[]") != std::string::npos) return;
    usleep(2'000);
  }
}

// --- what bench/peers serve: POST / is a job of the kind that the peer was started for, GET /left how many are not
// done.

bool is_peer(const Options& options) { return options.system.starts_with("peer:"); }
Target peer(const Options& options) { return {.port = std::atoi(options.system.c_str() + 5), .token = {}}; }
LoadResult post_jobs(const Target& target, int connections, int64_t count, const std::string& body) {
  LoadResult made = load(target, connections, count, [&](int64_t) { return request(target, "POST", "/", body); });
  well(made);
  return made;
}
void wait_for_peer(const Target& target) {
  while (call(target, "GET", "/left").body != "0") usleep(2'000);
}

// --- workloads

void load_limit(const Options&) {
  TemporaryFolder folder;
  const RawServer raw(folder.path());
  const Target target{raw.port(), {}};
  for (const int clients : {1, 64}) {
    const LoadResult result =
        load(target, clients, clients == 1 ? 10'000 : 200'000, [&](int64_t) { return request(target, "GET", "/"); });
    figure("load." + std::to_string(clients), result.rate(), "/s", latency(result));
  }
}

void w1(const Options& options) {
  TemporaryFolder folder;
  for (const int clients : {1, 64}) {
    const int64_t count = clients == 1 ? 2'000 : 30'000;
    const std::string what = "w1." + std::to_string(clients), body = launch_body("noop", 1);
    if (options.system == "raw") {
      const RawServer raw(folder.path());
      const LoadResult made = post_jobs({raw.port(), {}}, clients, count, body);
      figure(what, made.rate(), "/s", latency(made));
    } else if (is_peer(options)) {
      const LoadResult made = post_jobs(peer(options), clients, count, body);
      figure(what, made.rate(), "/s", latency(made));
    } else {
      ServerUnderTest server(options.binary, folder.path() + "/" + what);
      server.start();
      fill_slots(server.target(), 3);
      const double cpu = server.cpu_seconds();
      const LoadResult made = create(server.target(), clients, count);
      figure(what, made.rate(), "/s",
             latency(made) + "," + member("cpu_us", (server.cpu_seconds() - cpu) / static_cast<double>(count) * 1e6));
    }
  }
  if (options.system == "raw") figure("w1.commit", raw_commit_micros(folder.path()), "us");
}

constexpr int64_t noops = 10'000;

void w2(const Options& options) {
  const auto idle = [](const std::function<void()>& one) {
    std::vector<double> micros;
    for (int i = 0; i < 300; ++i) {
      const double began = now_seconds();
      one();
      micros.push_back((now_seconds() - began) * 1e6);
    }
    std::ranges::sort(micros);
    figure("w2.idle", micros[micros.size() / 2] / 1e3, "ms", member("p99_us", micros[micros.size() * 99 / 100]));
  };
  if (is_peer(options)) {
    const Target target = peer(options);
    if (options.at_once == 16) idle([&] { call(target, "POST", "/?wait=1", "{}"); });
    const double began = now_seconds();
    post_jobs(target, 64, noops, "{}");
    wait_for_peer(target);
    figure("w2." + std::to_string(options.at_once), static_cast<double>(noops) / (now_seconds() - began), "/s");
    return;
  }
  for (const int slots : {16, 64}) {
    TemporaryFolder folder;
    ServerUnderTest server(options.binary, folder.path() + "/w2", {"--max-concurrent", std::to_string(slots)});
    server.start();
    if (slots == 16)
      idle([&] {
        const std::string id = id_of(call(server.target(), "POST", "/api/tasks", launch_body("noop", 1)));
        call(server.target(), "GET", "/api/tasks/" + id + "/result?block=true&timeout_s=10");
      });
    const double began = now_seconds();
    create(server.target(), 64, noops);
    wait_until_idle(server.target());
    figure("w2." + std::to_string(slots), static_cast<double>(noops) / (now_seconds() - began), "/s");
  }
}

// The task that makes 10,000 events that are not merged, once its readers are there.
FanOutResult burst_of_errand(const Target& target, int readers, int64_t events) {
  const std::string id =
      id_of(call(target, "POST", "/api/tasks", launch_body("ask warnings " + std::to_string(events), 1)));
  std::string question;
  while (question.empty()) {
    const std::string body = call(target, "GET", "/api/tasks/" + id).body;
    const size_t at = body.find("\"request_id\":\"");
    if (at != std::string::npos) question = body.substr(at + 14, body.find('"', at + 14) - at - 14);
  }
  return fan_out(target, "/api/tasks/" + id + "/stream", readers, events, [&] {
    call(target, "POST", "/api/tasks/" + id + "/answer", R"({"request_id":")" + question + R"(","answer":"go"})");
  });
}

void w3(const Options& options) {
  TemporaryFolder folder;
  constexpr int64_t events = 10'000;
  constexpr int many = 1'000, paced = 300;
  const auto told = [](const std::string& what, const FanOutResult& result) {
    if (!result.complete) die(what + ": only " + std::to_string(result.deliveries) + " deliveries");
    figure(what, static_cast<double>(result.deliveries) / result.seconds, "/s");
  };
  if (options.system == "raw") {
    const RawServer raw(folder.path());
    const Target target{raw.port(), {}};
    for (const int readers : {1, 100, many})
      told("w3." + std::to_string(readers),
           fan_out(target, "/stream", readers, events, [&] { call(target, "POST", "/burst?n=10000&size=200"); }));
    const FanOutResult slow = paced_out(target, "/stream", "message.delta", many, paced,
                                        [&](int) { call(target, "POST", "/burst?n=1&size=200"); });
    figure("w3.paced", slow.percentile(99) / 1e3, "ms", member("p50_us", slow.percentile(50)));
    return;
  }
  ServerUnderTest server(options.binary, folder.path() + "/w3");
  server.start();
  for (const int readers : {1, 100, many})
    told("w3." + std::to_string(readers), burst_of_errand(server.target(), readers, events));
  // 100 events a second, each a message to a task that is busy: from its POST to its arrival at every reader.
  const std::string id = id_of(call(server.target(), "POST", "/api/tasks", launch_body("silent 3600", 1)));
  const FanOutResult slow =
      paced_out(server.target(), "/api/tasks/" + id + "/stream", "message.created", many, paced, [&](int n) {
        call(server.target(), "POST", "/api/tasks/" + id + "/message",
             R"({"message":"number )" + std::to_string(n) + R"(","when":"queue"})");
      });
  if (!slow.complete) die("w3.paced: only " + std::to_string(slow.deliveries) + " deliveries");
  figure("w3.paced", slow.percentile(99) / 1e3, "ms", member("p50_us", slow.percentile(50)));
}

void w4(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w4");
  server.start();
  server.stop();
  figure("w4.start", server.start() * 1e3, "ms");
  constexpr double mib = 1 << 20;
  figure("w4.server", static_cast<double>(server.rss_bytes()) / mib, "MiB");
  figure("w4.supervisor", static_cast<double>(server.supervisor_rss_bytes()) / mib, "MiB");
  fill_slots(server.target(), 3);
  create(server.target(), 8, 20'000);
  const auto warm = static_cast<double>(server.rss_bytes());
  create(server.target(), 8, 20'000);
  const auto more = static_cast<double>(server.rss_bytes());
  figure("w4.pending", (more - warm) / 20'000, "B");
  double after = 0;
  fan_out(server.target(), "/api/stream", 1'000, 1, [&] { after = static_cast<double>(server.rss_bytes()); });
  figure("w4.stream", (after - more) / 1'000, "B");
}

void w5(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w5");
  server.start();
  fill_slots(server.target(), 3);
  create(server.target(), 64, options.tasks);
  create(server.target(), 1, 1, "任务 noop");
  const std::pair<const char*, const char*> paths[] = {
      {"w5.page", "/api/tasks?status=pending&limit=50"},
      {"w5.running", "/api/tasks/running/count"},
      {"w5.counts", "/api/tasks?limit=1&counts=true"},
      {"w5.rare", "/api/tasks?q=77777&limit=20"},
      {"w5.common", "/api/tasks?q=Benchmark&limit=20"},
      {"w5.part", "/api/tasks?q=enchmar&limit=20"},
      {"w5.chinese", "/api/tasks?q=%E4%BB%BB%E5%8A%A1&limit=20"},
  };
  for (const auto& [what, path] : paths) {
    const LoadResult result =
        load(server.target(), 1, 500, [&](int64_t) { return request(server.target(), "GET", path); });
    well(result);
    figure(what, result.percentile(99) / 1e3, "ms", member("p50_us", result.percentile(50)));
  }
}

constexpr int commands = 1'000;

void w6(const Options& options) {
  const auto rate = [](const std::function<void()>& all) {
    const double began = now_seconds();
    all();
    return commands / (now_seconds() - began);
  };
  if (is_peer(options)) {
    const Target target = peer(options);
    figure("w6." + std::to_string(options.at_once), rate([&] {
             post_jobs(target, 16, commands, "{}");
             wait_for_peer(target);
           }),
           "/s");
    return;
  }
  for (const int at_once : {3, 16}) {
    const std::string what = "w6." + std::to_string(at_once);
    TemporaryFolder folder;
    if (options.system == "raw") {
      figure(what, raw_spawn_rate(commands, at_once), "/s");
    } else if (options.system == "task-spooler" || options.system == "nq") {
      figure(what, queue_rate(options.system, folder.path(), commands, at_once), "/s");
    } else {
      // Three at once is what a server does that nobody has set up.
      const std::vector<std::string> flags =
          at_once == 3 ? std::vector<std::string>()
                       : std::vector<std::string>{"--max-concurrent", std::to_string(at_once)};
      ServerUnderTest server(options.binary, folder.path() + "/w6", flags);
      server.start();
      figure(what, rate([&] {
               well(load(server.target(), 16, commands, [&](int64_t) {
                 return request(server.target(), "POST", "/api/tasks", R"({"kind":"command","command":["/bin/true"]})");
               }));
               wait_until_idle(server.target());
             }),
             "/s");
    }
  }
}

void w7(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w7");
  server.start();
  int64_t made = 0;
  const auto killed_with = [&](const std::string& what) {
    server.kill_hard();
    const double seconds = server.start();
    const std::string body = call(server.target(), "GET", "/api/tasks?limit=1&total=true").body;
    const size_t at = body.find("\"total\":");
    const int64_t total = at == std::string::npos ? 0 : std::atoll(body.c_str() + at + 8);
    figure(what, seconds * 1e3, "ms", member("lost", static_cast<double>(made - total)));
  };
  // Mostly at rest, as a store is that has been used; then as many that wait on top.
  made += create(server.target(), 64, options.tasks).replies;
  wait_until_idle(server.target());
  fill_slots(server.target(), 3);
  made += 3;
  killed_with("w7.ended");
  made += create(server.target(), 64, options.waiting).replies;
  killed_with("w7.waiting");
}

void w9(const Options& options) {
  TemporaryFolder folder;
  constexpr int64_t bytes = 1LL << 30;
  if (options.system == "raw") return figure("w9", raw_pipe_rate(folder.path(), bytes) / 1e6, "MB/s");
  ServerUnderTest server(options.binary, folder.path() + "/w9");
  server.start();
  const double began = now_seconds();
  const std::string id =
      id_of(call(server.target(), "POST", "/api/tasks",
                 R"({"kind":"command","command":["head","-c",")" + std::to_string(bytes) + R"(","/dev/zero"]})"));
  LoadResult meanwhile;
  for (;;) {
    const LoadResult some =
        load(server.target(), 1, 20, [&](int64_t) { return request(server.target(), "GET", "/api/tasks/" + id); });
    meanwhile.micros.insert(meanwhile.micros.end(), some.micros.begin(), some.micros.end());
    const std::string body = call(server.target(), "GET", "/api/tasks/" + id).body;
    if (body.find("\"status\":\"running\"") == std::string::npos &&
        body.find("\"status\":\"pending\"") == std::string::npos)
      break;
  }
  const double seconds = now_seconds() - began;
  std::ranges::sort(meanwhile.micros);
  figure("w9", static_cast<double>(bytes) / seconds / 1e6, "MB/s", member("p99_us", meanwhile.percentile(99)));
}

int run(int argc, char** argv) {
  const std::pair<const char*, void (*)(const Options&)> workloads[] = {{"load", load_limit}, {"w1", w1}, {"w2", w2},
                                                                        {"w3", w3},           {"w4", w4}, {"w5", w5},
                                                                        {"w6", w6},           {"w7", w7}, {"w9", w9}};
  Options options;
  options.binary = (std::filesystem::path(argv[0]).parent_path() / "../errand").string();
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const int64_t value = std::atoll(argv[i + 1]);
    if (flag == "--tasks")
      options.tasks = value;
    else if (flag == "--waiting")
      options.waiting = value;
    else if (flag == "--at-once")
      options.at_once = static_cast<int>(value);
    else
      die("unknown option " + flag);
  }
  for (const auto& [name, workload] : workloads) {
    if (argc < 3 || std::strcmp(argv[1], name) != 0) continue;
    options.system = argv[2];
    workload(options);
    return 0;
  }
  std::fprintf(stderr, "usage: %s WORKLOAD SYSTEM [--tasks N] [--waiting N] [--at-once N]; see bench/run\n", argv[0]);
  return 2;
}

}  // namespace
}  // namespace errand::bench

int main(int argc, char** argv) { return errand::bench::run(argc, argv); }
