#include "notify/signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/encode.h"

namespace errand::notify {

std::string signature(const Target& target, std::string_view id, Time now, std::string_view body) {
  const std::string whole = fmt::format("{}.{}.{}", id, now.ms / 1'000, body);
  std::string out;
  const auto sign = [&](std::string_view secret) {
    const std::optional<std::string> key = secret_bytes(secret);
    if (!key) return;
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    HMAC(EVP_sha256(), key->data(), static_cast<int>(key->size()), reinterpret_cast<const unsigned char*>(whole.data()),
         whole.size(), mac, &size);
    out += (out.empty() ? "v1," : " v1,") + to_base64({reinterpret_cast<const char*>(mac), size});
  };
  sign(target.secret);
  if (!target.old_secret.empty() && now < target.old_until) sign(target.old_secret);
  return out;
}

}  // namespace errand::notify
