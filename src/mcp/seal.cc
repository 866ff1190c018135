#include "mcp/seal.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace errand::mcp {
namespace {

constexpr size_t seal_bytes = 18;

std::string base64url(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  for (size_t i = 0; i + 2 < bytes.size(); i += 3) {
    const auto at = [&](size_t n) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + n])); };
    const uint32_t bits = at(0) << 16 | at(1) << 8 | at(2);
    for (const int shift : {18, 12, 6, 0}) out += digits[bits >> shift & 63];
  }
  return out;
}

}  // namespace

std::string seal(std::string_view secret, std::string_view purpose, std::string_view text) {
  std::string whole(purpose);
  whole += '\0';
  whole += text;
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), mac, &size);
  return base64url({reinterpret_cast<const char*>(mac), seal_bytes});
}

std::string digest(std::string_view text) { return seal("errand", "digest", text); }

}  // namespace errand::mcp
