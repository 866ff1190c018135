// A feed for tests: numbered frames in a shared ring, readers that are cursors. What net/ promises to streams is tested
// with it, without an engine.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net/http.h"

namespace errand::net {

// Loop thread only.
class TestFeed {
 public:
  // Keeps the newest `frames_max` frames; a reader that is further behind loses some (the test sees the gap).
  explicit TestFeed(size_t frames_max = 1024) : frames_max_(frames_max) {}

  void publish(std::string bytes) {
    frames_.push_back(std::make_shared<const std::string>(std::move(bytes)));
    if (frames_.size() > frames_max_) frames_.pop_front(), ++first_;
  }
  // Over the live set, as the engine's feed does: a reader must not disappear inside its own wake.
  void wake() {
    for (Source* reader : readers_) reader->wake_();
  }
  void end() {
    ended_ = true;
    wake();
  }
  std::unique_ptr<StreamSource> reader() { return std::make_unique<Source>(*this); }
  size_t readers() const { return readers_.size(); }
  int64_t pulled_bytes() const { return pulled_bytes_; }

 private:
  class Source final : public StreamSource {
   public:
    explicit Source(TestFeed& feed) : feed_(feed), next_(feed.first_ + feed.frames_.size()) {
      feed_.readers_.insert(this);
    }
    ~Source() override { feed_.readers_.erase(this); }
    Pulled pull(std::vector<Slice>& out, size_t bytes) override {
      next_ = std::max(next_, feed_.first_);
      size_t taken = 0;
      while (next_ < feed_.first_ + feed_.frames_.size() && taken < bytes) {
        const auto& frame = feed_.frames_[next_++ - feed_.first_];
        out.push_back({.bytes = *frame, .owner = frame});
        taken += frame->size();
      }
      feed_.pulled_bytes_ += static_cast<int64_t>(taken);
      const bool all = next_ == feed_.first_ + feed_.frames_.size();
      if (all && feed_.ended_) return Pulled::end;
      return all ? Pulled::none : Pulled::some;
    }
    void on_ready(std::function<void()> wake) override { wake_ = std::move(wake); }

    std::function<void()> wake_;

   private:
    TestFeed& feed_;
    size_t next_;
  };

  const size_t frames_max_;
  size_t first_ = 0;
  std::deque<std::shared_ptr<const std::string>> frames_;
  std::set<Source*> readers_;
  bool ended_ = false;
  int64_t pulled_bytes_ = 0;
};

}  // namespace errand::net
