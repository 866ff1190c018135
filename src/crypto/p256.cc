#include "crypto/p256.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

#include "base/check.h"

namespace errand::crypto {
namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* thing) const {
    free(thing);
  }
};
template <class T, auto free>
using Owned = std::unique_ptr<T, Free<free>>;

using Pkey = Owned<EVP_PKEY, EVP_PKEY_free>;
using Context = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Digest = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;
using Number = Owned<BIGNUM, BN_clear_free>;
using Group = Owned<EC_GROUP, EC_GROUP_free>;
using Point = Owned<EC_POINT, EC_POINT_free>;
using Signature = Owned<ECDSA_SIG, ECDSA_SIG_free>;
using Builder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Params = Owned<OSSL_PARAM, OSSL_PARAM_free>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// `secret` may be null: a public key alone. Null where the point is none of the curve.
Pkey make_key(std::string_view point, const BIGNUM* secret) {
  if (point.size() != point_bytes || point[0] != 4) return nullptr;
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
    return nullptr;
  if (secret != nullptr && OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, secret) != 1) return nullptr;
  const Params params(OSSL_PARAM_BLD_to_param(builder.get()));
  const Context context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* made = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, secret != nullptr ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                        params.get()) != 1)
    return nullptr;
  Pkey key(made);
  const Context check(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  return check && EVP_PKEY_public_check(check.get()) == 1 ? std::move(key) : nullptr;
}

}  // namespace

bool is_public_key(std::string_view point) { return make_key(point, nullptr) != nullptr; }

bool verify(std::string_view public_key, std::string_view text, std::string_view signature) {
  if (signature.size() != signature_bytes) return false;
  const Pkey key = make_key(public_key, nullptr);
  const Signature parts(ECDSA_SIG_new());
  if (!key || !parts) return false;
  Number r(BN_bin2bn(bytes_of(signature), scalar_bytes, nullptr));
  Number s(BN_bin2bn(bytes_of(signature) + scalar_bytes, scalar_bytes, nullptr));
  if (!r || !s || ECDSA_SIG_set0(parts.get(), r.get(), s.get()) != 1) return false;
  // They are its own now.
  (void)r.release();
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parts.get(), &der);
  if (size <= 0) return false;
  const std::string encoded(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  const Digest digest(EVP_MD_CTX_new());
  return digest && EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), bytes_of(encoded), encoded.size(), bytes_of(text), text.size()) == 1;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(), mac, &size);
  return {reinterpret_cast<const char*>(mac), size};
}

struct KeyPair::Key {
  Pkey pkey;
};

KeyPair::KeyPair(std::unique_ptr<Key> key, std::string private_key, std::string public_key)
    : key_(std::move(key)), private_(std::move(private_key)), public_(std::move(public_key)) {}
KeyPair::KeyPair(KeyPair&&) noexcept = default;
KeyPair& KeyPair::operator=(KeyPair&&) noexcept = default;
KeyPair::~KeyPair() = default;

std::optional<KeyPair> KeyPair::from_private(std::string_view scalar) {
  if (scalar.size() != scalar_bytes) return std::nullopt;
  const Number secret(BN_bin2bn(bytes_of(scalar), scalar_bytes, nullptr));
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  if (!secret || !group || BN_is_zero(secret.get()) || BN_cmp(secret.get(), EC_GROUP_get0_order(group.get())) >= 0)
    return std::nullopt;
  const Point point(EC_POINT_new(group.get()));
  std::string encoded(point_bytes, '\0');
  if (!point || EC_POINT_mul(group.get(), point.get(), secret.get(), nullptr, nullptr, nullptr) != 1 ||
      EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED,
                         reinterpret_cast<unsigned char*>(encoded.data()), encoded.size(), nullptr) != point_bytes)
    return std::nullopt;
  auto key = std::make_unique<Key>();
  key->pkey = make_key(encoded, secret.get());
  if (!key->pkey) return std::nullopt;
  return KeyPair(std::move(key), std::string(scalar), std::move(encoded));
}

KeyPair KeyPair::make(Random& random) {
  // One in 2^32 is past the curve's order.
  for (int tries = 0; tries < 64; ++tries) {
    std::string scalar;
    while (scalar.size() < scalar_bytes) {
      const uint64_t word = random.next();
      scalar.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    if (std::optional<KeyPair> pair = from_private(scalar)) return std::move(*pair);
  }
  ERRAND_CHECK(false, "no key can be made: the cryptography library does not work");
}

std::string KeyPair::sign(std::string_view text) const {
  const Digest digest(EVP_MD_CTX_new());
  size_t size = 0;
  ERRAND_CHECK(digest && EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_->pkey.get()) == 1 &&
                   EVP_DigestSign(digest.get(), nullptr, &size, bytes_of(text), text.size()) == 1,
               "a key signs");
  std::string der(size, '\0');
  ERRAND_CHECK(EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(der.data()), &size, bytes_of(text),
                              text.size()) == 1,
               "a key signs");
  const unsigned char* at = bytes_of(der);
  const Signature parts(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  std::string out(signature_bytes, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(out.data());
  ERRAND_CHECK(parts && BN_bn2binpad(ECDSA_SIG_get0_r(parts.get()), to, scalar_bytes) == scalar_bytes &&
                   BN_bn2binpad(ECDSA_SIG_get0_s(parts.get()), to + scalar_bytes, scalar_bytes) == scalar_bytes,
               "a signature is two numbers");
  return out;
}

std::optional<std::string> KeyPair::agree(std::string_view peer) const {
  const Pkey other = make_key(peer, nullptr);
  const Context context(EVP_PKEY_CTX_new_from_pkey(nullptr, key_->pkey.get(), nullptr));
  std::string secret(scalar_bytes, '\0');
  size_t size = secret.size();
  if (!other || !context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), other.get()) != 1 ||
      EVP_PKEY_derive(context.get(), reinterpret_cast<unsigned char*>(secret.data()), &size) != 1 ||
      size != scalar_bytes)
    return std::nullopt;
  return secret;
}

}  // namespace errand::crypto
