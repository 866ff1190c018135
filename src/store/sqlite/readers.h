// Connections for reading, borrowed for one call at a time.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

struct Reader {
  Database db;
  Database index;  // The search index.
};

class Readers {
 public:
  explicit Readers(std::vector<Reader> readers);

  class Lease {
   public:
    Lease(Readers& owner, std::unique_ptr<Reader> reader) : owner_(owner), reader_(std::move(reader)) {}
    Lease(const Lease&) = delete;
    ~Lease() { owner_.give_back(std::move(reader_)); }
    Reader* operator->() { return reader_.get(); }
    Reader& operator*() { return *reader_; }

   private:
    Readers& owner_;
    std::unique_ptr<Reader> reader_;
  };

  // Waits where all are out.
  Lease borrow();

 private:
  void give_back(std::unique_ptr<Reader> reader);

  Mutex mutex_;
  Wakeup wake_;
  std::vector<std::unique_ptr<Reader>> free_ GUARDED_BY(mutex_);
};

}  // namespace errand::sqlite
