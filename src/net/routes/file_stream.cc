#include "net/routes/file_stream.h"

#include <algorithm>
#include <utility>

#include "net/routes/event_stream.h"

namespace errand::net {
namespace {

constexpr int64_t piece_bytes = 256 * 1024;

}  // namespace

FileStream::FileStream(Context& context, files::File file, int64_t begin, int64_t end)
    : context_(context),
      file_(std::make_shared<files::File>(std::move(file))),
      next_(begin),
      end_(end),
      finished_(begin >= end) {}

StreamSource::Pulled FileStream::pull(std::vector<Slice>& out, size_t) {
  if (!ready_.empty()) {
    out.push_back(to_slice(std::exchange(ready_, {})));
    return finished_ ? Pulled::end : Pulled::some;
  }
  if (finished_) return Pulled::end;
  if (!busy_) read_on();
  return Pulled::none;
}

void FileStream::read_on() {
  busy_ = true;
  const auto size = static_cast<size_t>(std::min(piece_bytes, end_ - next_));
  run_then(
      context_.parts.readers, context_.parts.loop, alive_.watch(),
      [file = file_, offset = next_, size] {
        std::string bytes(size, '\0');
        const int64_t n = files::read_at(*file, offset, bytes.data(), size);
        bytes.resize(static_cast<size_t>(std::max<int64_t>(0, n)));
        return bytes;
      },
      [this](std::string bytes) {
        busy_ = false;
        next_ += std::ssize(bytes);
        finished_ = bytes.empty() || next_ >= end_;
        ready_ = std::move(bytes);
        if (wake_) wake_();
      });
}

}  // namespace errand::net
