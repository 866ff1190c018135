// Server-sent events: the reply, its frames, and heartbeats for any number of streams from one timer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/loop.h"

namespace errand::net {

// Status and headers of a stream, for Exchange::stream.
Response sse_response();

// "retry: 2000": the first thing that a stream says.
Slice sse_opening();
// A comment. Proxies and dead peers are noticed by it; readers skip it.
Slice sse_heartbeat();

// "id: ID\n" and what follows; a line break in `id` or `event` is left out, one in `data` begins another data line. An
// empty `id` or `event` is not written.
void append_sse_id(std::string& out, std::string_view id);
void append_sse_frame(std::string& out, std::string_view id, std::string_view event, std::string_view data);

// Tells streams when they have been silent for a while. Streams need not be precise, so all share one timer that goes
// round a wheel of sixteen slots; a stream that says something only notes the time. Loop thread only.
class Heartbeats {
 public:
  explicit Heartbeats(Loop& loop, Millis every_ms = 15'000);
  ~Heartbeats();
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;

 private:
  struct Entry {
    std::function<void()> silent;
    Time spoke_at;
    size_t slot = 0;
  };
  using Place = std::list<Entry>::iterator;

 public:
  // One stream's part. Leaves when destroyed; the Heartbeats must outlive it.
  class Member {
   public:
    Member(Heartbeats& all, Place place) : all_(all), place_(place) {}
    ~Member() { all_.leave(place_); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    // The stream has just written something.
    void spoke() { place_->spoke_at = all_.now_; }

   private:
    Heartbeats& all_;
    Place place_;
  };
  // `silent` is called on the loop whenever nothing was said for the interval (to within a sixteenth of it). It may not
  // destroy members.
  std::unique_ptr<Member> join(std::function<void()> silent);
  size_t members() const { return members_; }

 private:
  void tick();
  void arm();
  void put(std::list<Entry>& from, Place place);
  void leave(Place place);

  static constexpr size_t slots = 17;  // A whole interval ahead is never the slot being walked.
  const Millis tick_ms_;
  const Millis every_ms_;
  SystemClock clock_;
  std::unique_ptr<Timer> timer_;
  Time now_;  // As of the last tick or join: precise enough, and free.
  size_t slot_ = 0;
  size_t members_ = 0;
  std::array<std::list<Entry>, slots> wheel_;
};

}  // namespace errand::net
