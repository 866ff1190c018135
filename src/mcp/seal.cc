#include "mcp/seal.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/encode.h"

namespace errand::mcp {
namespace {

constexpr size_t seal_bytes = 18;

}  // namespace

std::string seal(std::string_view secret, std::string_view purpose, std::string_view text) {
  std::string whole(purpose);
  whole += '\0';
  whole += text;
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), mac, &size);
  return to_base64url({reinterpret_cast<const char*>(mac), seal_bytes});
}

std::string digest(std::string_view text) { return seal("errand", "digest", text); }

}  // namespace errand::mcp
