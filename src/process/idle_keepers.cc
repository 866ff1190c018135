#include "process/idle_keepers.h"

#include <cstring>
#include <limits>

#include <sys/socket.h>

#include "base/time.h"
#include "process/clock.h"

namespace errand::process {
namespace {

constexpr Millis wait_ms = 2'000;
constexpr size_t waiting_max = 16;

bool send_with(int socket, const std::string& packet, const int (&descriptors)[3]) {
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof descriptors)] = {};
  iovec part{.iov_base = const_cast<char*>(packet.data()), .iov_len = packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

}  // namespace

void IdleKeepers::give(Keeper keeper) {
  if (waiting_.size() >= waiting_max) return;
  waiting_.push_back({std::move(keeper), steady_ms() + wait_ms});
}

// The one that came last: the others may leave in time.
std::optional<IdleKeepers::Keeper> IdleKeepers::take(const std::string& packet, int in, int out, int err) {
  while (!waiting_.empty()) {
    Keeper keeper = std::move(waiting_.back().keeper);
    waiting_.pop_back();
    if (send_with(keeper.control.get(), packet, {in, out, err})) return keeper;
  }
  return std::nullopt;
}

void IdleKeepers::forget(pid_t pid) {
  std::erase_if(waiting_, [pid](const Waiting& waiting) { return waiting.keeper.pid == pid; });
}

int64_t IdleKeepers::tick(int64_t now) {
  std::erase_if(waiting_, [now](const Waiting& waiting) { return waiting.until <= now; });
  return waiting_.empty() ? std::numeric_limits<int64_t>::max() : waiting_.front().until;
}

}  // namespace errand::process
