// A connection's writing half: replies and streams.
#include <array>
#include <charconv>

#include "base/check.h"
#include "net/connection.h"

namespace errand::net {
namespace {

// Larger bodies are sent from where they are instead of being copied behind their head.
constexpr size_t copied_body_max = 16 << 10;
// Chunks that one pump writes before others get their turn.
constexpr int rounds_max = 16;

Slice owned(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {.bytes = *owner, .owner = std::move(owner)};
}

}  // namespace

void Connection::reply(Response response) {
  if (phase_ != Phase::answering) return;
  const auto dropped = std::exchange(gone_, nullptr);
  send(std::move(response));
}

void Connection::send(Response response, Framing framing) {
  phase_ = Phase::replying;
  since_ = state_->clock.steady();
  const ReplyShape shape{
      .framing = framing, .keep_alive = keep_alive_, .http10 = http10_, .wall = state_->clock.wall()};
  std::string head = reply_head(response, reply_headers_, shape);
  reply_headers_.clear();
  std::vector<Slice> slices;
  if (head_only_ || !has_body(response.status) || response.body.size() <= copied_body_max) {
    if (!head_only_ && has_body(response.status)) head += response.body;
    slices.push_back(owned(std::move(head)));
  } else {
    slices.push_back(owned(std::move(head)));
    slices.push_back(owned(std::move(response.body)));
  }
  if (write(slices))
    finish_reply();
  else if (phase_ != Phase::closed)
    pending_ = std::move(slices);
}

// Writes what the socket takes. False: something is left in `slices`, and writing goes on when the socket can (or the
// connection is closed).
bool Connection::write(std::vector<Slice>& slices) {
  std::array<iovec, 256> parts;
  size_t next = 0;
  while (next < slices.size()) {
    size_t count = 0, bytes = 0;
    for (size_t i = next; i < slices.size() && count < parts.size(); ++i) {
      if (slices[i].bytes.empty()) continue;
      parts[count++] = {.iov_base = const_cast<char*>(slices[i].bytes.data()), .iov_len = slices[i].bytes.size()};
      bytes += slices[i].bytes.size();
    }
    if (bytes == 0) break;
    const Moved moved = transport_->write({parts.data(), count});
    if (moved.want == Moved::Want::gone) {
      close();
      return false;
    }
    size_t left = moved.bytes;
    while (next < slices.size() && left >= slices[next].bytes.size()) left -= slices[next++].bytes.size();
    if (left > 0) slices[next].bytes.remove_prefix(left);
    if (moved.want != Moved::Want::nothing) {
      slices.erase(slices.begin(), slices.begin() + static_cast<ptrdiff_t>(next));
      wait_to_write(moved.want);
      return false;
    }
    since_ = state_->clock.steady();
  }
  slices.clear();
  return true;
}

void Connection::wait_to_write(Moved::Want want) {
  auto work = [self = shared_from_this()] { self->on_writable(); };
  if (want == Moved::Want::read)
    watch_->when_readable(std::move(work));
  else
    watch_->when_writable(std::move(work));
}

void Connection::on_writable() {
  if (phase_ == Phase::closed || pending_.empty()) return;
  std::vector<Slice> slices = std::move(pending_);
  pending_.clear();
  if (write(slices))
    written();
  else if (phase_ != Phase::closed)
    pending_ = std::move(slices);
}

void Connection::written() {
  if (phase_ == Phase::replying) return finish_reply();
  if (phase_ != Phase::streaming) return;
  if (ending_)
    end_stream();
  else
    pump();
}

void Connection::finish_reply() {
  served_ = true;
  http10_ = head_only_ = false;
  if (!keep_alive_) return drain();
  if (state_->stopping || (input_ended_ && input_.empty())) return close();
  phase_ = Phase::head;
  since_ = state_->clock.steady();
  if (advancing_) return;
  if (input_.empty()) return arm_read();
  advance({});
  if (input_ended_ && phase_ == Phase::head) close();  // The rest is not a whole request and never will be.
}

void Connection::drain() {
  if (input_ended_) return close();
  transport_->finish();
  phase_ = Phase::draining;
  since_ = state_->clock.steady();
  received_ = 0;
  std::string().swap(input_);
  if (!advancing_) arm_read();
}

void Connection::stream(Response response, std::unique_ptr<StreamSource> source, std::function<bool()> still_good) {
  if (phase_ != Phase::answering) return;
  const auto dropped = std::exchange(gone_, nullptr);
  chunked_ = !http10_;
  const Framing framing = chunked_ ? Framing::chunked : Framing::close;
  if (head_only_) return send(std::move(response), framing);
  if (input_ended_) return close();
  if (!chunked_) keep_alive_ = false;
  phase_ = Phase::streaming;
  ++state_->stats.streams;
  since_ = state_->clock.steady();
  ending_ = false;
  const ReplyShape shape{
      .framing = framing, .keep_alive = keep_alive_, .http10 = http10_, .wall = state_->clock.wall()};
  std::vector<Slice> slices{owned(reply_head(response, reply_headers_, shape))};
  std::vector<std::pair<std::string, std::string>>().swap(reply_headers_);
  source_ = std::move(source);
  still_good_ = std::move(still_good);
  if (!write(slices)) {
    if (phase_ == Phase::closed) return;
    pending_ = std::move(slices);
  }
  source_->on_ready([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
  pump();
  if (!advancing_) arm_read();
}

// Pulls and writes until the source has nothing or the socket is full. Called by the source's wake and whenever the
// socket has taken everything.
void Connection::pump() {
  if (pumping_) {
    woken_ = true;
    return;
  }
  if (phase_ != Phase::streaming || !pending_.empty() || ending_) return;
  const auto self = shared_from_this();
  pumping_ = true;
  // Taken out, because a pull may lead to another connection's pump.
  std::vector<Slice> batch = std::exchange(state_->batch, {});
  for (int round = 0;; ++round) {
    if (round == rounds_max) {
      state_->loop.post([self] { self->pump(); });
      break;
    }
    woken_ = false;
    batch.clear();
    batch.emplace_back();  // The chunk's head.
    const StreamSource::Pulled pulled = source_->pull(batch, state_->limits.stream_chunk);
    size_t bytes = 0;
    for (const Slice& slice : batch) bytes += slice.bytes.size();
    ending_ = pulled == StreamSource::Pulled::end;
    frame(batch, bytes);
    if (!write(batch)) {
      if (phase_ != Phase::closed) pending_ = std::exchange(batch, {});
      break;
    }
    if (ending_) break;
    if (!woken_ && (pulled == StreamSource::Pulled::none || bytes == 0)) break;
  }
  batch.clear();
  state_->batch = std::move(batch);
  pumping_ = false;
  // Later: the end destroys the source and may begin the next request, and this may be inside a wake.
  if (ending_ && phase_ == Phase::streaming && pending_.empty()) state_->loop.post([self] { self->end_stream(); });
}

// Makes one chunk of `batch`, whose first slice is free; with the last chunk behind it where the stream ends.
void Connection::frame(std::vector<Slice>& batch, size_t bytes) {
  if (!chunked_) return;
  if (bytes > 0) {
    char* const end = std::to_chars(chunk_head_, chunk_head_ + sizeof chunk_head_ - 2, bytes, 16).ptr;
    end[0] = '\r';
    end[1] = '\n';
    batch.front().bytes = {chunk_head_, static_cast<size_t>(end + 2 - chunk_head_)};
    batch.push_back({.bytes = "\r\n", .owner = nullptr});
  }
  if (ending_) batch.push_back({.bytes = "0\r\n\r\n", .owner = nullptr});
}

void Connection::end_stream() {
  if (phase_ != Phase::streaming) return;
  --state_->stats.streams;
  phase_ = Phase::replying;
  source_.reset();
  finish_reply();
}

void Connection::stop(std::string_view farewell) {
  switch (phase_) {
    case Phase::head:
      return close();
    case Phase::streaming: {
      if (ending_) return;
      ending_ = true;
      keep_alive_ = false;
      // Behind a chunk that is still being written, so it has a head of its own.
      std::string last;
      if (!farewell.empty()) {
        if (chunked_) {
          char size[20];
          last.append(size, std::to_chars(size, size + sizeof size, farewell.size(), 16).ptr).append("\r\n");
        }
        last += farewell;
        if (chunked_) last += "\r\n";
      }
      if (chunked_) last += "0\r\n\r\n";
      if (!pending_.empty()) {
        pending_.push_back(owned(std::move(last)));
        return;
      }
      std::vector<Slice> slices{owned(std::move(last))};
      if (write(slices))
        end_stream();
      else if (phase_ != Phase::closed)
        pending_ = std::move(slices);
      return;
    }
    default:
      keep_alive_ = false;
      return;
  }
}

}  // namespace errand::net
