// Keys on the curve P-256, in the bytes that browsers speak (WebCrypto, RFC 8291, RFC 8292): a public key is an
// uncompressed point, a signature is r and s side by side. Blocking only as long as the arithmetic takes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace errand::crypto {

inline constexpr size_t point_bytes = 65;      // 0x04, x, y.
inline constexpr size_t scalar_bytes = 32;     // A private key.
inline constexpr size_t signature_bytes = 64;  // r, s.

// A point of the curve in its uncompressed form.
bool is_public_key(std::string_view point);

// ECDSA over the SHA-256 of `text`. False for anything that is not a key and a signature of it.
bool verify(std::string_view public_key, std::string_view text, std::string_view signature);

std::string hmac_sha256(std::string_view key, std::string_view text);

class KeyPair {
 public:
  static KeyPair make(Random& random);
  // Nothing where it is no private key.
  static std::optional<KeyPair> from_private(std::string_view scalar);

  KeyPair(KeyPair&&) noexcept;
  KeyPair& operator=(KeyPair&&) noexcept;
  ~KeyPair();

  const std::string& private_key() const { return private_; }
  const std::string& public_key() const { return public_; }

  // ECDSA over the SHA-256 of `text`.
  std::string sign(std::string_view text) const;
  // What both sides of a Diffie-Hellman exchange know; nothing where `peer` is no public key.
  std::optional<std::string> agree(std::string_view peer) const;

 private:
  struct Key;
  KeyPair(std::unique_ptr<Key> key, std::string private_key, std::string public_key);

  std::unique_ptr<Key> key_;
  std::string private_, public_;
};

}  // namespace errand::crypto
