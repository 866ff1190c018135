#include "driver/opencode/calls.h"

namespace errand::opencode {

class Calls::One final : public http::Handler {
 public:
  One(Calls& calls, uint64_t key, Done done) : calls_(calls), key_(key), done_(std::move(done)) {}

  void head(const http::Head& head) override { reply_.status = head.status; }
  void body(std::string_view bytes) override { reply_.body += bytes; }
  void done(Status status) override {
    // What is called may end all calls, this one too.
    const auto self = calls_.calls_.extract(key_);
    Done told = std::move(done_);
    told(status ? Result<Reply>(std::move(reply_)) : std::unexpected(status.error()));
  }

  std::unique_ptr<http::Call> call;

 private:
  Calls& calls_;
  uint64_t key_;
  Done done_;
  Reply reply_;
};

Calls::Calls(http::Client& client) : client_(client) {}

Calls::~Calls() = default;

void Calls::start(http::Request request, Done done) {
  const uint64_t key = next_++;
  auto one = std::make_unique<One>(*this, key, std::move(done));
  One& kept = *one;
  calls_.emplace(key, std::move(one));
  kept.call = client_.start(std::move(request), kept);
}

void Calls::clear() { calls_.clear(); }

}  // namespace errand::opencode
