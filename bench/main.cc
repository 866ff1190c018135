// errand's workloads W1 to W9 against the raw limits, measured in one run and told as ratios.
//
//   build/release/bench/errand_bench [--binary PATH] [--only w1,w3] [--tasks 100000] [--waiting 100000] [--repeat 3]
//   [--clients 64]
//
// The machine is shared and noisy: a figure is the best of `repeat` interleaved runs, and only ratios of one run
// compare.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unistd.h>

#include "bench/load.h"
#include "bench/raw.h"
#include "bench/server.h"

namespace errand::bench {
namespace {

struct Options {
  std::string binary;
  std::set<std::string> only;
  int64_t tasks = 100'000;
  int64_t waiting = 100'000;  // Of W7.
  int repeat = 3;
  int clients = 0;  // W1 with so many alone; 0: 1, 8 and 64.
};

void row(const char* workload, const char* what, const std::string& value, const std::string& ratio,
         const std::string& target) {
  std::printf("| %-3s | %-46s | %16s | %14s | %-26s |\n", workload, what, value.c_str(), ratio.c_str(), target.c_str());
  std::fflush(stdout);
}

std::string number(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : value < 1000 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}
std::string ratio(double ours, double raw) { return number(raw > 0 ? ours / raw : 0, ""); }

std::string launch_body(const std::string& prompt, int64_t n) {
  return R"({"agent_id":"demo","message":")" + prompt + R"(","title":"Benchmark task number )" + std::to_string(n) +
         R"("})";
}

// Takes all slots, so that what is created waits.
void fill_slots(const Target& target, int slots) {
  for (int i = 0; i < slots; ++i) call(target, "POST", "/api/tasks", launch_body("silent 3600", i));
}

// Creates `count` tasks and returns the result.
LoadResult create(const Target& target, int connections, int64_t count, const std::string& prompt = "noop") {
  return load(target, connections, count,
              [&](int64_t n) { return request(target, "POST", "/api/tasks", launch_body(prompt, n)); });
}

void wait_until_idle(const Target& target) {
  for (;;) {
    const Reply reply = call(target, "GET", "/api/tasks?status=pending,running&limit=1");
    if (reply.body.find("\"tasks\":[]") != std::string::npos) return;
    usleep(2'000);
  }
}

void w1(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w1");
  server.start();
  fill_slots(server.target(), 3);
  RawServer raw(folder.path());
  const Target limit{raw.port(), {}};
  const std::string body = launch_body("noop", 1);
  for (const int clients : {1, 8, 64}) {
    if (options.clients != 0 && clients != options.clients) continue;
    const int64_t count = clients == 1 ? 2'000 : clients == 8 ? 10'000 : 40'000;
    LoadResult best, best_raw;
    double cpu_micros = std::numeric_limits<double>::max();
    for (int i = 0; i < options.repeat; ++i) {
      LoadResult r = load(limit, clients, count, [&](int64_t) { return request(limit, "POST", "/", body); });
      if (r.rate() > best_raw.rate()) best_raw = std::move(r);
      const double cpu = server.cpu_seconds();
      LoadResult ours = create(server.target(), clients, count);
      cpu_micros = std::min(cpu_micros, (server.cpu_seconds() - cpu) / static_cast<double>(count) * 1e6);
      if (ours.errors > 0) std::printf("  %ld errors\n", static_cast<long>(ours.errors));
      if (ours.rate() > best.rate()) best = std::move(ours);
    }
    const std::string what = "durable creation, " + std::to_string(clients) + " clients";
    row("W1", what.c_str(), number(best.rate(), "/s"), ratio(best.rate(), best_raw.rate()),
        clients == 64 ? ">= 0.4 of raw group commit" : "");
    row("W1", "  p50 / p99", number(best.percentile(50), "us") + " / " + number(best.percentile(99), "us"),
        "raw " + number(best_raw.percentile(50), "us"), clients == 1 ? "p50 <= 2.5 x one commit" : "");
    row("W1", "  the server's CPU time a task", number(cpu_micros, "us"), "", "");
  }
  row("W1", "  one raw commit, p50", number(raw_commit_micros(folder.path()), "us"), "", "");
}

void w2(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w2", {"--max-concurrent", "64"});
  server.start();
  double best = 0;
  for (int i = 0; i < options.repeat; ++i) {
    const int64_t count = 20'000;
    const double began = now_seconds();
    create(server.target(), 64, count);
    wait_until_idle(server.target());
    best = std::max(best, static_cast<double>(count) / (now_seconds() - began));
  }
  row("W2", "no-op tasks, created to completed, 64 clients", number(best, "/s"), "", ">= 6,000/s");
  const LoadResult one = load(server.target(), 1, 500, [&](int64_t n) {
    // Creates a task and waits for the previous one's result: latency is read below, from single calls.
    return request(server.target(), "POST", "/api/tasks", launch_body("noop", n));
  });
  std::vector<double> micros;
  for (int i = 0; i < 200; ++i) {
    const double began = now_seconds();
    const Reply made = call(server.target(), "POST", "/api/tasks", launch_body("noop", i));
    const size_t at = made.body.find("\"id\":\"");
    const std::string id = made.body.substr(at + 6, 31);
    call(server.target(), "GET", "/api/tasks/" + id + "/result?block=true&timeout_s=10");
    micros.push_back((now_seconds() - began) * 1e6);
  }
  std::sort(micros.begin(), micros.end());
  row("W2", "  create to completed, idle, p50", number(micros[100] / 1000, "ms"),
      "create " + number(one.percentile(50) / 1000, "ms"), "<= 3 ms");
}

std::string id_of(const Reply& reply) {
  const size_t at = reply.body.find("\"id\":\"");
  return at == std::string::npos ? "" : reply.body.substr(at + 6, 31);
}

void w3(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w3");
  server.start();
  RawServer raw(folder.path());
  const Target limit{raw.port(), {}};
  for (const int readers : {1, 100, 1'000}) {
    const int64_t events = 10'000;
    double best = 0, best_raw = 0;
    for (int i = 0; i < options.repeat; ++i) {
      const FanOutResult r =
          fan_out(limit, "/stream", readers, events, [&] { call(limit, "POST", "/burst?n=10000&size=200"); });
      best_raw = std::max(best_raw, static_cast<double>(r.deliveries) / r.seconds);
      // A task that waits until its readers are there, then makes 10,000 events that are not merged.
      const std::string id = id_of(call(server.target(), "POST", "/api/tasks", launch_body("ask warnings 10000", i)));
      std::string question;
      while (question.empty()) {
        const std::string body = call(server.target(), "GET", "/api/tasks/" + id).body;
        const size_t at = body.find("\"request_id\":\"");
        if (at != std::string::npos) question = body.substr(at + 14, body.find('"', at + 14) - at - 14);
      }
      const FanOutResult ours = fan_out(server.target(), "/api/tasks/" + id + "/stream", readers, events, [&] {
        call(server.target(), "POST", "/api/tasks/" + id + "/answer",
             R"({"request_id":")" + question + R"(","answer":"go"})");
      });
      if (!ours.complete) std::printf("  not complete: %ld deliveries\n", static_cast<long>(ours.deliveries));
      best = std::max(best, static_cast<double>(ours.deliveries) / ours.seconds);
      call(server.target(), "DELETE", "/api/tasks/" + id);
    }
    const std::string what = "burst of 10,000 stored events, " + std::to_string(readers) + " readers";
    row("W3", what.c_str(), number(best, "/s"), ratio(best, best_raw), readers == 1'000 ? ">= 0.4 of raw" : "");
  }
}

// 100 events a second, each a message to a task that is busy: from its POST to its arrival at every reader.
void w3_paced(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w3p");
  server.start();
  RawServer raw(folder.path());
  const Target limit{raw.port(), {}};
  const int readers = 1'000, events = 300;
  double best = 1e12, best_raw = 1e12;
  for (int i = 0; i < options.repeat; ++i) {
    const FanOutResult r = paced_out(limit, "/stream", "message.delta", readers, events,
                                     [&](int) { call(limit, "POST", "/burst?n=1&size=200"); });
    best_raw = std::min(best_raw, r.percentile(99));
    const std::string id = id_of(call(server.target(), "POST", "/api/tasks", launch_body("silent 3600", i)));
    const FanOutResult ours =
        paced_out(server.target(), "/api/tasks/" + id + "/stream", "message.created", readers, events, [&](int n) {
          call(server.target(), "POST", "/api/tasks/" + id + "/message",
               R"({"message":"number )" + std::to_string(n) + R"(","when":"queue"})");
        });
    if (!ours.complete) std::printf("  not complete: %ld deliveries\n", static_cast<long>(ours.deliveries));
    best = std::min(best, ours.percentile(99));
    call(server.target(), "DELETE", "/api/tasks/" + id);
  }
  row("W3", "paced, 100 events/s, 1,000 readers, p99", number(best / 1000, "ms"),
      "raw " + number(best_raw / 1000, "ms"), "<= 2 x raw + one commit");
}

void w4(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w4");
  server.start();
  server.stop();
  double first = 1e9;
  for (int i = 0; i < 5; ++i) {
    first = std::min(first, server.start());
    if (i < 4) server.stop();
  }
  row("W4", "first answer after exec", number(first * 1000, "ms"), "", "<= 40 ms");
  const auto at_start = static_cast<double>(server.rss_bytes());
  row("W4", "server RSS at start", number(at_start / 1048576, "MiB"), "", "<= 16 MiB");
  row("W4", "supervisor RSS", number(static_cast<double>(server.supervisor_rss_bytes()) / 1048576, "MiB"), "",
      "<= 4 MiB");
  fill_slots(server.target(), 3);
  create(server.target(), 8, 20'000);
  const auto warm = static_cast<double>(server.rss_bytes());
  create(server.target(), 8, 20'000);
  const auto more = static_cast<double>(server.rss_bytes());
  row("W4", "per pending task", number((more - warm) / 20'000, "B"), "", "<= 1,024 B");
  const auto before = static_cast<double>(server.rss_bytes());
  double after = 0;
  fan_out(server.target(), "/api/stream", 1'000, 1, [&] { after = static_cast<double>(server.rss_bytes()); });
  row("W4", "per idle stream", number((after - before) / 1'000, "B"), "", "<= 6,144 B");
}

void w5(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w5");
  server.start();
  fill_slots(server.target(), 3);
  create(server.target(), 64, options.tasks);
  const std::pair<const char*, const char*> paths[] = {
      {"page of 50 by status", "/api/tasks?status=pending&limit=50"},
      {"running count", "/api/tasks/running/count"},
      {"counts by status", "/api/tasks?limit=1&counts=true"},
      {"search, a rare word", "/api/tasks?q=77777&limit=20"},
      {"search, a common word", "/api/tasks?q=Benchmark&limit=20"},
      {"search, a part of words", "/api/tasks?q=enchmar&limit=20"},
      {"search, Chinese", "/api/tasks?q=%E4%BB%BB%E5%8A%A1&limit=20"},
  };
  create(server.target(), 1, 1, "任务 noop");
  for (const auto& [what, path] : paths) {
    const LoadResult result =
        load(server.target(), 1, 500, [&](int64_t) { return request(server.target(), "GET", path); });
    const bool search = std::strstr(path, "q=") != nullptr;
    row("W5", what, number(result.percentile(50) / 1000, "ms") + " / " + number(result.percentile(99) / 1000, "ms"),
        "p50 / p99", search ? "p99 <= 10 ms" : "p99 <= 2 ms");
  }
}

void w6(const Options& options) {
  for (const int at_once : {3, 16}) {
    TemporaryFolder folder;
    ServerUnderTest server(options.binary, folder.path() + "/w6", {"--max-concurrent", std::to_string(at_once)});
    server.start();
    double best = 0, best_raw = 0;
    for (int i = 0; i < options.repeat; ++i) {
      best_raw = std::max(best_raw, raw_spawn_rate(1'000, at_once));
      const double began = now_seconds();
      load(server.target(), 16, 1'000, [&](int64_t) {
        return request(server.target(), "POST", "/api/tasks", R"({"kind":"command","command":["/bin/true"]})");
      });
      wait_until_idle(server.target());
      best = std::max(best, 1'000 / (now_seconds() - began));
    }
    const std::string what = "1,000 x /bin/true, " + std::to_string(at_once) + " at once";
    row("W6", what.c_str(), number(best, "/s"), ratio(best, best_raw), ">= 0.5 of posix_spawn");
  }
}

void w7(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w7");
  server.start();
  const bool few = std::max(options.tasks, options.waiting) <= 100'000;
  const std::string target = few ? "<= 300 ms, 0 lost" : "<= 1 s, 0 lost";
  int64_t made = 0;
  const auto killed_with = [&](const std::string& what) {
    server.kill_hard();
    const double seconds = server.start();
    const std::string body = call(server.target(), "GET", "/api/tasks?limit=1&total=true").body;
    const size_t at = body.find("\"total\":");
    const int64_t total = at == std::string::npos ? 0 : std::atoll(body.c_str() + at + 8);
    row("W7", ("kill -9 with " + what + ": serving again").c_str(), number(seconds * 1000, "ms"),
        std::to_string(made - total) + " lost", target);
  };
  // Mostly at rest, as a store is that has been used; then as many that wait on top.
  made += create(server.target(), 64, options.tasks).replies;
  wait_until_idle(server.target());
  fill_slots(server.target(), 3);
  made += 3;
  killed_with(std::to_string(options.tasks) + " ended tasks");
  made += create(server.target(), 64, options.waiting).replies;
  killed_with(std::to_string(options.waiting) + " waiting tasks more");
}

void w9(const Options& options) {
  TemporaryFolder folder;
  ServerUnderTest server(options.binary, folder.path() + "/w9");
  server.start();
  const int64_t bytes = 1LL << 30;
  double best = 0, best_raw = 0, p99 = 0;
  for (int i = 0; i < options.repeat; ++i) {
    best_raw = std::max(best_raw, raw_pipe_rate(folder.path(), bytes));
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
      if (body.find("\"status\":\"running\"") == std::string::npos) break;
    }
    best = std::max(best, static_cast<double>(bytes) / (now_seconds() - began));
    std::sort(meanwhile.micros.begin(), meanwhile.micros.end());
    p99 = std::max(p99, meanwhile.percentile(99));
  }
  row("W9", "a command that prints 1 GiB", number(best / 1e6, "MB/s"), ratio(best, best_raw), ">= 0.4 of pipe to file");
  row("W9", "  the API's p99 meanwhile", number(p99 / 1000, "ms"), "", "<= 50 ms");
}

int run(int argc, char** argv) {
  Options options;
  options.binary = (std::filesystem::path(argv[0]).parent_path() / "../errand").string();
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--binary" && !value.empty()) {
      options.binary = value;
      ++i;
    } else if (flag == "--only" && !value.empty()) {
      for (size_t at = 0; at < value.size();) {
        const size_t comma = std::min(value.find(',', at), value.size());
        options.only.insert(value.substr(at, comma - at));
        at = comma + 1;
      }
      ++i;
    } else if (flag == "--tasks" && !value.empty()) {
      options.tasks = std::atoll(value.c_str());
      ++i;
    } else if (flag == "--waiting" && !value.empty()) {
      options.waiting = std::atoll(value.c_str());
      ++i;
    } else if (flag == "--repeat" && !value.empty()) {
      options.repeat = std::atoi(value.c_str());
      ++i;
    } else if (flag == "--clients" && !value.empty()) {
      options.clients = std::atoi(value.c_str());
      ++i;
    } else {
      std::printf(
          "usage: %s [--binary PATH] [--only w1,w3] [--tasks 100000] [--waiting 100000] [--repeat 3] [--clients 64]\n",
          argv[0]);
      return flag == "--help" ? 0 : 2;
    }
  }
  const std::pair<const char*, std::function<void(const Options&)>> workloads[] = {
      {"w1", w1}, {"w2", w2}, {"w3", w3}, {"w3", w3_paced}, {"w4", w4}, {"w5", w5}, {"w6", w6}, {"w7", w7}, {"w9", w9}};
  std::printf(
      "| W   | what                                           |             ours |          ratio | target"
      "                     |\n|---|---|---:|---:|---|\n");
  for (const auto& [name, workload] : workloads)
    if (options.only.empty() || options.only.contains(name)) workload(options);
  return 0;
}

}  // namespace
}  // namespace errand::bench

int main(int argc, char** argv) { return errand::bench::run(argc, argv); }
