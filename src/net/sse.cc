#include "net/sse.h"

#include <algorithm>

namespace errand::net {
namespace {

void append_line(std::string& out, std::string_view field, std::string_view value) {
  out += field;
  for (const char c : value)
    if (c != '\n' && c != '\r' && c != '\0') out += c;
  out += '\n';
}

}  // namespace

Response sse_response() {
  return {.status = 200,
          .content_type = "text/event-stream",
          .body = {},
          .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}};
}

Slice sse_opening() { return {.bytes = "retry: 2000\n\n", .owner = nullptr}; }
Slice sse_heartbeat() { return {.bytes = ":\n\n", .owner = nullptr}; }

void append_sse_id(std::string& out, std::string_view id) {
  if (!id.empty()) append_line(out, "id: ", id);
}

void append_sse_frame(std::string& out, std::string_view id, std::string_view event, std::string_view data) {
  append_sse_id(out, id);
  if (!event.empty()) append_line(out, "event: ", event);
  for (;;) {
    const size_t end = data.find_first_of("\r\n");
    append_line(out, "data: ", data.substr(0, end));
    if (end == std::string_view::npos) break;
    data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  out += '\n';
}

Heartbeats::Heartbeats(Loop& loop, Millis every_ms)
    : tick_ms_(std::max<Millis>(every_ms / 16, 1)), every_ms_(every_ms), timer_(loop.timer()) {}

Heartbeats::~Heartbeats() = default;

std::unique_ptr<Heartbeats::Member> Heartbeats::join(std::function<void()> silent) {
  now_ = clock_.steady();
  std::list<Entry> fresh;
  fresh.push_back({.silent = std::move(silent), .spoke_at = now_, .slot = 0});
  const Place place = fresh.begin();
  put(fresh, place);
  if (++members_ == 1) arm();
  return std::make_unique<Member>(*this, place);
}

void Heartbeats::leave(Place place) {
  wheel_[place->slot].erase(place);
  if (--members_ == 0) timer_->cancel();
}

// Into the slot of the tick by which it will have been silent for the interval.
void Heartbeats::put(std::list<Entry>& from, Place place) {
  const Millis left = std::max<Millis>(place->spoke_at + every_ms_ - now_, 1);
  const size_t ahead = std::min<size_t>(static_cast<size_t>((left + tick_ms_ - 1) / tick_ms_), slots - 1);
  place->slot = (slot_ + ahead) % slots;
  auto& to = wheel_[place->slot];
  to.splice(to.end(), from, place);
}

void Heartbeats::arm() {
  timer_->set(clock_.steady() + tick_ms_, [this] { tick(); });
}

void Heartbeats::tick() {
  now_ = clock_.steady();
  slot_ = (slot_ + 1) % slots;
  auto& due = wheel_[slot_];
  while (!due.empty()) {
    const Place place = due.begin();
    const bool silent = now_ - place->spoke_at >= every_ms_;
    if (silent) place->spoke_at = now_;
    put(due, place);
    if (silent) place->silent();
  }
  arm();
}

}  // namespace errand::net
