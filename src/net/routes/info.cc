// What the server says of itself: health, metrics, its own description.
#include "api/openapi.h"
#include "base/json_out.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

// Prometheus text format 0.0.4.
class Metrics {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP errand_" + name_ + " " + std::string(help) + "\n";
    text_ += "# TYPE errand_" + name_ + " " + std::string(type) + "\n";
  }
  void sample(int64_t value, std::string_view labels = {}) {
    text_ += "errand_" + name_ + std::string(labels) + " " + std::to_string(value) + "\n";
  }
  void gauge(std::string_view name, std::string_view help, int64_t value) {
    begin(name, "gauge", help);
    sample(value);
  }
  void counter(std::string_view name, std::string_view help, int64_t value) {
    begin(name, "counter", help);
    sample(value);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace

void health(Context& context, Call call) {
  const RouteParts& parts = context.parts;
  const Health health = parts.engine.administration().health();
  const bool well = !health.recovering && !health.draining;
  std::string text;
  JsonOut out(text);
  const StoreHealth store = parts.store.health();
  // A store that cannot be written to can be read, and what runs goes on: that is said, and is no 503.
  out.object().field("status", health.draining ? "stopping" : health.recovering ? "starting" : name(store.state));
  out.field("version", parts.version);
  // A stranger learns that it is there, and nothing more.
  if (parts.authenticated(call.request())) {
    out.field("store", parts.store.describe());
    if (!store.text.empty()) out.field("problem", store.text);
    out.field("running", health.running).field("queued", health.queued);
    out.field("working", health.working).field("inbox", health.inbox);
    out.field("inbox_bytes", health.inbox_bytes).field("streams", health.streams);
    out.key("programs").object().field("running", health.programs).field("memory_bytes", health.programs_bytes);
    out.field("waiting", health.programs_waiting).field("waiting_memory_bytes", health.programs_waiting_bytes);
    out.field("max_memory_bytes", parts.engine.administration().settings().max_memory).end();
    if (const Means means = parts.means ? parts.means() : Means(); !means.limits.empty()) {
      out.key("limits").object();
      for (const auto& [limit, by] : means.limits) out.field(limit, by);
      out.end().key("sandbox").object();
      out.field("available", means.sandbox).field("text", means.sandbox_text).end();
    }
  }
  out.end();
  call.answer(well ? 200 : 503, std::move(text));
}

void metrics(Context& context, Call call) {
  const RouteParts& parts = context.parts;
  const Health health = parts.engine.administration().health();
  const ServerStats stats = parts.stats();
  const StateCounts counts = parts.engine.administration().counts();
  Metrics metrics;
  metrics.begin("tasks", "gauge", "Tasks by status.");
  for (int i = 0; i < task_state_count; ++i) {
    const std::string_view state = name(static_cast<TaskState>(i));
    metrics.sample(counts.by_state[i], "{status=\"" + std::string(state) + "\"}");
  }
  metrics.begin("store", "gauge", "1 for the state of the store: ok, full, unlinked, damaged, away or taken.");
  const StoreState now = parts.store.health().state;
  for (const StoreState state : {StoreState::well, StoreState::full, StoreState::unlinked, StoreState::damaged,
                                 StoreState::away, StoreState::taken})
    metrics.sample(now == state ? 1 : 0, "{state=\"" + std::string(name(state)) + "\"}");
  metrics.gauge("slots_held", "Turns that hold a slot.", health.running);
  metrics.gauge("slots", "Turns that may run at once.", parts.engine.administration().settings().max_concurrent);
  metrics.gauge("queued", "Turns that wait for a slot.", health.queued);
  metrics.gauge("working", "Tasks whose turn is at work.", health.working);
  metrics.begin("programs", "gauge", "Programs of agents: at work, or waiting for a further turn.");
  metrics.sample(health.programs, "{state=\"running\"}");
  metrics.sample(health.programs_waiting, "{state=\"waiting\"}");
  metrics.begin("programs_memory_bytes", "gauge", "Memory that the programs of agents use.");
  metrics.sample(health.programs_bytes, "{state=\"running\"}");
  metrics.sample(health.programs_waiting_bytes, "{state=\"waiting\"}");
  metrics.gauge("inbox", "Inputs that wait for a commit.", health.inbox);
  metrics.gauge("inbox_bytes", "Memory that is held by inputs which wait for a commit, about.", health.inbox_bytes);
  metrics.counter("commits_total", "Commits since the start.", health.commits);
  metrics.counter("events_total", "Events stored since the start.", health.events);
  metrics.gauge("http_connections", "Open connections.", stats.connections);
  metrics.gauge("http_streams", "Open streams.", stats.streams);
  metrics.counter("http_requests_total", "Requests since the start.", stats.requests);
  call.exchange->reply({.status = 200,
                        .content_type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = std::move(metrics).text(),
                        .headers = {}});
}

void openapi(Context&, Call call) { call.answer(200, std::string(api::openapi_document())); }

}  // namespace errand::net
