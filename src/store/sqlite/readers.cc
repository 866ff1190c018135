#include "store/sqlite/readers.h"

namespace errand::sqlite {

Readers::Readers(std::vector<Reader> readers) {
  for (Reader& reader : readers) free_.push_back(std::make_unique<Reader>(std::move(reader)));
}

Readers::Lease Readers::borrow() {
  Lock lock(mutex_);
  wake_.wait(lock, [&]() REQUIRES(mutex_) { return !free_.empty(); });
  std::unique_ptr<Reader> reader = std::move(free_.back());
  free_.pop_back();
  return Lease(*this, std::move(reader));
}

void Readers::give_back(std::unique_ptr<Reader> reader) {
  {
    const Lock lock(mutex_);
    free_.push_back(std::move(reader));
  }
  wake_.notify_one();
}

}  // namespace errand::sqlite
