#include "http/client.h"

#include <csignal>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "http/curl.h"
#include "http/field.h"
#include "http/transfers.h"

namespace errand::http {
namespace {

class CurlCall final : public Call {
 public:
  explicit CurlCall(std::shared_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  CurlCall(const CurlCall&) = delete;
  CurlCall& operator=(const CurlCall&) = delete;
  ~CurlCall() override {
    // Over already: nothing of it is left on the other thread.
    if (!std::exchange(transfer_->handler, nullptr)) return;
    if (const auto owner = transfer_->owner.lock()) owner->remove(transfer_);
  }
  void hold() override { transfer_->held = true; }
  void go_on() override {
    if (!std::exchange(transfer_->held, false) || !std::exchange(transfer_->kept, false)) return;
    if (const auto owner = transfer_->owner.lock()) owner->deliver_later(transfer_);
  }

 private:
  const std::shared_ptr<Transfer> transfer_;
};

class CurlClient final : public Client {
 public:
  CurlClient(Executor& loop, Options options) : loop_(loop), options_(std::move(options)) {}
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;
  ~CurlClient() override {
    if (!transfers_) return;
    transfers_->stop();
    thread_.join();
  }

  std::unique_ptr<Call> start(Request request, Handler& handler) override {
    Status fine = check(request);
    if (fine && !transfers_) run();
    auto transfer = std::make_shared<Transfer>(std::move(request), handler, transfers_);
    if (fine) {
      transfers_->add(transfer);
    } else {
      {
        const Lock lock(transfer->mutex);
        transfer->mail_done = std::move(fine);
      }
      loop_.post([transfer] { transfer->deliver(); });
    }
    return std::make_unique<CurlCall>(std::move(transfer));
  }

 private:
  // At the first call: who makes none pays for no library and no thread.
  void run() {
    transfers_ = std::make_shared<Transfers>(*curl_library(), loop_, options_);
    // Signals are the main thread's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([transfers = transfers_] { transfers->run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static Status check(const Request& request) {
    if (const Result<Curl>& curl = curl_library(); !curl) return std::unexpected(curl.error());
    if (!is_token(request.method)) return fail(Code::invalid_argument, "The method is not an HTTP method.", "invalid");
    if (!is_plain(request.url)) return fail(Code::invalid_argument, "The address has a line break in it.", "invalid");
    for (const auto& [name, value] : request.headers)
      if (!is_token(name) || !is_plain(value))
        return fail(Code::invalid_argument,
                    fmt::format("The header {} cannot be sent: it has a line break or a wrong name.",
                                is_token(name) ? name : "given"),
                    "invalid");
    return {};
  }

  Executor& loop_;
  const Options options_;
  std::shared_ptr<Transfers> transfers_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Client> make_client(Executor& loop, Options options) {
  return std::make_unique<CurlClient>(loop, std::move(options));
}

Result<std::string> library_version() {
  const Result<Curl>& curl = curl_library();
  if (!curl) return std::unexpected(curl.error());
  return std::string(curl->version());
}

}  // namespace errand::http
