// The stores that the contract is held against.

#include <fmt/format.h>

#include "base/test_folder.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/contract/private_postgres.h"
#include "tests/contract/store_contract.h"

namespace errand {
namespace {

class MemoryHost final : public StoreHost {
 public:
  std::unique_ptr<Store> open(Executor& answers) override { return open_memory_store(disk_, answers); }

 private:
  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk();
};

class SqliteHost final : public StoreHost {
 public:
  std::unique_ptr<Store> open(Executor& answers) override {
    Result<std::unique_ptr<Store>> store =
        open_sqlite_store({.path = folder_ / "errand.db", .ballast_bytes = 64 * 1024}, answers);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }

 private:
  TestFolder folder_;
};

// A schema of its own in a database that all share.
class PostgresHost final : public StoreHost {
 public:
  std::unique_ptr<Store> open(Executor& answers) override {
    Result<std::unique_ptr<Store>> store =
        open_postgres_store({.url = PrivatePostgres::shared().url(), .place = "here", .schema = schema_}, answers);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }

 private:
  static inline int made_ = 0;
  const std::string schema_ = fmt::format("contract_{}", ++made_);
};

template <class Host>
std::unique_ptr<StoreHost> make() {
  return std::make_unique<Host>();
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         testing::Values(StoreKind{"memory", make<MemoryHost>}, StoreKind{"sqlite", make<SqliteHost>},
                                         StoreKind{"postgres", make<PostgresHost>}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace errand
