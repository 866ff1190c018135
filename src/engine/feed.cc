#include "engine/feed.h"

#include <algorithm>
#include <limits>

namespace errand {

void Feed::publish(const FramePtr& frame) {
  if (tail_.empty() && last_seq_ == 0 && last_pos_ == 0) {
    before_seq_ = frame->seq - 1;
    before_pos_ = frame->pos - 1;
  }
  tail_.push_back(frame);
  bytes_ += frame->body.size();
  if (frame->seq > 0) last_seq_ = frame->seq;
  last_pos_ = frame->pos;
  while (bytes_ > bytes_max_ && tail_.size() > 1) {
    const Frame& oldest = *tail_.front();
    bytes_ -= oldest.body.size();
    if (oldest.seq > 0) before_seq_ = oldest.seq;
    before_pos_ = oldest.pos;
    tail_.pop_front();
  }
}

void Feed::wake_readers() {
  // A reader may leave while it is woken; it may not take another one with it.
  for (auto it = readers_.begin(); it != readers_.end();) {
    FeedReader* reader = *it++;
    reader->wake();
  }
}

bool Feed::read(int64_t after, bool by_pos, size_t bytes, std::vector<FramePtr>& out) const {
  if (after < (by_pos ? before_pos_ : before_seq_)) return false;
  // A task's removal has no seq: it comes after everything.
  const auto key = [by_pos](const FramePtr& frame) {
    if (by_pos) return frame->pos;
    return frame->gone ? std::numeric_limits<int64_t>::max() : frame->seq;
  };
  size_t taken = 0;
  for (auto it = std::ranges::upper_bound(tail_, after, {}, key); it != tail_.end(); ++it) {
    if (taken > 0 && taken + (*it)->body.size() > bytes) break;
    taken += (*it)->body.size();
    out.push_back(*it);
  }
  return true;
}

void Feed::start_at(int64_t seq, int64_t pos) {
  tail_.clear();
  bytes_ = 0;
  before_seq_ = last_seq_ = seq;
  before_pos_ = last_pos_ = pos;
}

}  // namespace errand
