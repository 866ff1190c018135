// Calls under way: the thread on which libcurl does them, and their way to the loop's thread. Inside http/ only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/executor.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "http/client.h"
#include "http/curl.h"

namespace errand::http {

class Transfers;

// One call. What is the loop's, what is curl's and what both touch stand apart.
struct Transfer : std::enable_shared_from_this<Transfer> {
  Transfer(Request r, Handler& h, std::weak_ptr<Transfers> o)
      : handler(&h), owner(std::move(o)), request(std::move(r)) {}

  // The loop's thread.
  Handler* handler;  // Null: nobody listens any more.
  const std::weak_ptr<Transfers> owner;
  bool held = false;  // The handler wants nothing now,
  bool kept = false;  // and something is kept for it.
  void deliver();

  // curl's thread.
  Request request;
  CURL* easy = nullptr;
  curl_slist* list = nullptr;
  Place place;
  Head head;
  size_t head_bytes = 0;
  bool head_told = false;
  int64_t received = 0;
  int redirects = 0;
  bool is_redirect = false;  // This answer is not the final one.
  Time began, heard;
  std::optional<Error> refused;  // Why we ended it.
  char error_text[CURL_ERROR_SIZE] = {};

  // Both: what is on its way to the handler.
  Mutex mutex;
  std::optional<Head> mail_head GUARDED_BY(mutex);
  std::string mail_body GUARDED_BY(mutex);
  std::optional<Status> mail_done GUARDED_BY(mutex);
  bool posted GUARDED_BY(mutex) = false;
  bool paused GUARDED_BY(mutex) = false;
};

// The thread and what it shares with the loop.
class Transfers : public std::enable_shared_from_this<Transfers> {
 public:
  Transfers(const Curl& curl, Executor& loop, Options options)
      : curl_(curl), loop_(loop), options_(std::move(options)), multi_(curl.multi_init()) {
    curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.idle_connections_max));
  }
  ~Transfers() { curl_.multi_cleanup(multi_); }

  void add(std::shared_ptr<Transfer> transfer) { command(Command::Kind::add, std::move(transfer)); }
  void remove(std::shared_ptr<Transfer> transfer) { command(Command::Kind::remove, std::move(transfer)); }
  void resume(std::shared_ptr<Transfer> transfer) { command(Command::Kind::resume, std::move(transfer)); }
  void stop() { command(Command::Kind::stop, nullptr); }
  void deliver_later(std::shared_ptr<Transfer> transfer) {
    loop_.post([transfer = std::move(transfer)] { transfer->deliver(); });
  }
  void run();

  // From libcurl, on its thread.
  size_t on_header(Transfer& transfer, std::string_view line);
  size_t on_body(Transfer& transfer, std::string_view bytes);

 private:
  struct Command {
    enum class Kind : uint8_t { add, remove, resume, stop } kind;
    std::shared_ptr<Transfer> transfer;
  };

  void command(Command::Kind kind, std::shared_ptr<Transfer> transfer) {
    {
      const Lock lock(mutex_);
      commands_.push_back({kind, std::move(transfer)});
    }
    curl_.multi_wakeup(multi_);
  }
  bool obey();
  void begin(const std::shared_ptr<Transfer>& transfer);
  bool prepare(Transfer& transfer);
  void drop(Transfer& transfer);
  void ended(const std::shared_ptr<Transfer>& transfer, CURLcode code);
  bool follow(const std::shared_ptr<Transfer>& transfer);
  void finish(std::shared_ptr<Transfer> transfer, Status status);
  void post(Transfer& transfer) REQUIRES(transfer.mutex);
  Millis end_the_late();
  Error explain(const Transfer& transfer, CURLcode code) const;

  const Curl& curl_;
  Executor& loop_;
  const Options options_;
  CURLM* const multi_;
  SystemClock clock_;
  std::set<std::shared_ptr<Transfer>> open_;  // curl's thread.

  Mutex mutex_;
  std::deque<Command> commands_ GUARDED_BY(mutex_);
};

}  // namespace errand::http
