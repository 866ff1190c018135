#include "net/session.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/encode.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "base/text.h"

namespace errand::net {
namespace {

constexpr int nonce_bytes = 16;
constexpr size_t ended_max = 1000;

std::string hmac(std::string_view key, std::string_view text) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), mac, &size);
  return {reinterpret_cast<const char*>(mac), size};
}

struct CookieParts {
  std::string_view nonce, mac;
  Time expires_at;
};

std::optional<CookieParts> parse_cookie(std::string_view cookie) {
  const auto parts = split(cookie, '.');
  if (parts.size() != 3 || parts[0].empty() || parts[0].size() > 64) return std::nullopt;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), seconds);
  if (error != std::errc() || end != parts[1].data() + parts[1].size() || seconds <= 0 || seconds > 253'402'300'799)
    return std::nullopt;
  return CookieParts{parts[0], parts[2], {seconds * 1000}};
}

}  // namespace

Sessions::Sessions(std::string_view token, std::string ended_file, Random& random)
    : key_(hmac(token, "errand browser sessions, version 1")), ended_file_(std::move(ended_file)), random_(random) {
  if (ended_file_.empty()) return;
  std::ifstream file(ended_file_);
  std::string nonce;
  int64_t until = 0;
  while (ended_.size() < ended_max && file >> nonce >> until) ended_[nonce] = {until};
}

std::string Sessions::sign(std::string_view text) const { return to_base64url(hmac(key_, text)); }

std::string Sessions::sign_for(std::string_view purpose, std::string_view text) const {
  return sign(std::string(purpose) + "\n" + std::string(text));
}

Session Sessions::make(const std::string& nonce, Time expires_at) const {
  const std::string signed_part = nonce + "." + std::to_string(expires_at.ms / 1000);
  return {.cookie = signed_part + "." + sign("cookie " + signed_part),
          .page_secret = sign("page " + nonce),
          .expires_at = {expires_at.ms / 1000 * 1000}};
}

Session Sessions::open(Time now) { return make(random_secret(random_, nonce_bytes), now + session_ms); }

Sessions::Checked Sessions::check(std::string_view cookie, std::string_view page_secret, Time now) const {
  const std::optional<CookieParts> parts = parse_cookie(cookie);
  if (!parts) return {};
  const std::string nonce(parts->nonce);
  const Session expected = make(nonce, parts->expires_at);
  if (!equal_secret(expected.cookie, cookie) || !equal_secret(expected.page_secret, page_secret)) return {};
  if (parts->expires_at <= now || ended_.contains(nonce)) return {.ok = false, .expired = true, .renewed = {}};
  Checked checked{.ok = true, .expired = false, .renewed = {}};
  if (parts->expires_at - now < session_ms - session_renew_ms) checked.renewed = make(nonce, now + session_ms);
  return checked;
}

void Sessions::end(std::string_view cookie, Time now) {
  const std::optional<CookieParts> parts = parse_cookie(cookie);
  if (!parts) return;
  forget_expired(now);
  // The full time from now: a renewed cookie of the same session may be on its way.
  ended_[std::string(parts->nonce)] = now + session_ms;
  save();
}

void Sessions::forget_expired(Time now) {
  std::erase_if(ended_, [&](const auto& entry) { return entry.second <= now; });
  while (ended_.size() >= ended_max)
    ended_.erase(std::ranges::min_element(ended_, {}, [](const auto& entry) { return entry.second; }));
}

void Sessions::save() const {
  if (ended_file_.empty()) return;
  std::string text;
  for (const auto& [nonce, until] : ended_) text += nonce + " " + std::to_string(until.ms) + "\n";
  // A power cut may bring a session back that was ended in the last seconds; a sync would hold the loop.
  if (replace_file(ended_file_, text, 0600, Durability::process) != 0)
    log_warning("auth", "cannot store which sessions have ended: after a restart they work again");
}

}  // namespace errand::net
