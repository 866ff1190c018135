#include "notify/web_push.h"

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/encode.h"
#include "base/json_out.h"
#include "base/text.h"
#include "notify/reach.h"

namespace errand::notify {
namespace {

constexpr uint32_t record_bytes = 4'096;
constexpr size_t key_bytes = 16, nonce_bytes = 12, tag_bytes = 16;
constexpr char last_record = 2;

using namespace std::string_literals;

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// HKDF (RFC 5869) for one block of output.
std::string derive(std::string_view salt, std::string_view secret, std::string info, size_t bytes) {
  info += '\1';
  return crypto::hmac_sha256(crypto::hmac_sha256(salt, secret), info).substr(0, bytes);
}

std::string seal(std::string_view key, std::string_view nonce, std::string_view plain) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                EVP_CIPHER_CTX_free);
  std::string out(plain.size() + tag_bytes, '\0');
  int written = 0, rest = 0;
  ERRAND_CHECK(
      context && EVP_EncryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, bytes_of(key), bytes_of(nonce)) == 1 &&
          EVP_EncryptUpdate(context.get(), bytes_of(out), &written, bytes_of(plain), static_cast<int>(plain.size())) ==
              1 &&
          EVP_EncryptFinal_ex(context.get(), bytes_of(out) + written, &rest) == 1 &&
          EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, tag_bytes, bytes_of(out) + plain.size()) == 1,
      "AES-GCM encrypts");
  return out;
}

std::string random_bytes(Random& random, size_t count) {
  return from_base64(random_secret(random, static_cast<int>(count))).value();
}

}  // namespace

std::string encrypt_push(std::string_view plain, std::string_view key, std::string_view auth,
                         const crypto::KeyPair& once, std::string_view salt) {
  ERRAND_CHECK(plain.size() <= push_plain_max && salt.size() == push_salt_bytes, "a push is one record");
  const std::optional<std::string> agreed = once.agree(key);
  if (!agreed) return {};
  const std::string secret =
      derive(auth, *agreed, "WebPush: info\0"s + std::string(key) + once.public_key(), crypto::scalar_bytes);
  const std::string content_key = derive(salt, secret, "Content-Encoding: aes128gcm\0"s, key_bytes);
  const std::string nonce = derive(salt, secret, "Content-Encoding: nonce\0"s, nonce_bytes);
  std::string body(salt);
  for (int shift = 24; shift >= 0; shift -= 8) body += static_cast<char>(record_bytes >> shift & 0xff);
  body += static_cast<char>(once.public_key().size());
  body += once.public_key();
  return body + seal(content_key, nonce, std::string(plain) + last_record);
}

std::string vapid(const crypto::KeyPair& own, std::string_view audience, std::string_view subject, Time now) {
  std::string claims;
  JsonOut(claims).object().field("aud", audience).field("exp", (now + vapid_ms).ms / 1'000).field("sub", subject).end();
  const std::string plain = to_base64url(R"({"typ":"JWT","alg":"ES256"})") + "." + to_base64url(claims);
  return fmt::format("vapid t={}.{}, k={}", plain, to_base64url(own.sign(plain)), to_base64url(own.public_key()));
}

std::string push_payload(const Notification& notification) {
  const auto written = [&](std::string_view title, std::string_view text) {
    std::string json;
    JsonOut out(json);
    out.object().field("id", notification.id).field("type", name(notification.occasion));
    out.field("task_id", notification.task_id).text_or_null("title", title);
    out.text_or_null("question", notification.question).text_or_null("request_id", notification.request_id);
    out.text_or_null("reason", notification.reason).text_or_null("text", text).end();
    return json;
  };
  std::string_view title = notification.title, text = notification.text;
  std::string json = written(title, text);
  // The text goes first: the title names the task.
  while (json.size() > push_plain_max && !(title.empty() && text.empty())) {
    std::string_view& longer = text.empty() ? title : text;
    longer = longer.substr(0, utf8_prefix(longer, longer.size() / 2));
    json = written(title, text);
  }
  return json;
}

http::Request push_request(const Target& target, const Notification& notification, const crypto::KeyPair& own,
                           Random& random, std::string_view page_url, Time now) {
  const Url url = parse_url(target.url).value_or(Url{});
  // A push service wants to know whom to write to; some refuse one that cannot be an address.
  const std::string subject =
      page_url.starts_with("https://") ? std::string(page_url) : std::string("mailto:errand@example.com");
  http::Request request;
  request.method = "POST";
  request.url = target.url;
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Content-Encoding", "aes128gcm"},
                     {"TTL", fmt::format("{}", push_ttl_ms / 1'000)},
                     {"Urgency", notification.occasion == Occasion::asked ? "high" : "normal"},
                     {"Authorization", vapid(own, url.origin(), subject, now)}};
  request.body = encrypt_push(push_payload(notification), from_base64(target.push_key).value_or(""),
                              from_base64(target.push_auth).value_or(""), crypto::KeyPair::make(random),
                              random_bytes(random, push_salt_bytes));
  return request;
}

}  // namespace errand::notify
