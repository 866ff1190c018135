#include "model/secrets.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace errand::model {
namespace {

bool names_a_secret(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"authorization", "key", "token", "secret", "password", "cookie"},
      [&](std::string_view word) { return name.contains(word); });
}

void add(std::vector<std::string>& secrets, std::string secret) {
  if (secret.size() < secret_text_min || std::ranges::find(secrets, secret) != secrets.end()) return;
  // Inside of JSON a slash may be written as "\/".
  std::string escaped;
  for (const char c : secret) escaped.append(c == '/' ? "\\/" : std::string(1, c));
  if (escaped != secret) secrets.push_back(std::move(escaped));
  secrets.push_back(std::move(secret));
}

}  // namespace

std::vector<std::string> secrets_of(const Endpoint& endpoint) {
  std::vector<std::string> secrets;
  add(secrets, endpoint.key);
  for (const auto& [name, value] : endpoint.headers) {
    if (!names_a_secret(name)) continue;
    add(secrets, value);
    if (const size_t space = value.rfind(' '); space != std::string::npos) add(secrets, value.substr(space + 1));
  }
  return secrets;
}

std::string SecretFilter::feed(std::string_view text) {
  if (secrets_->empty()) return std::string(text);
  held_ += text;
  return take(false);
}

std::string SecretFilter::end() { return take(true); }

std::string SecretFilter::take(bool last) {
  std::string out;
  size_t at = 0;
  while (at < held_.size()) {
    const std::string_view rest = std::string_view(held_).substr(at);
    size_t found = 0;
    bool may_be = false;
    for (const std::string& secret : *secrets_) {
      if (secret.front() != rest.front()) continue;
      if (rest.starts_with(secret))
        found = std::max(found, secret.size());
      else if (!last && rest.size() < secret.size() && secret.starts_with(rest))
        may_be = true;
    }
    // A longer one may still stand here: what comes decides.
    if (may_be) break;
    if (found > 0)
      out += "[key]";
    else
      out.push_back(rest.front());
    at += std::max<size_t>(found, 1);
  }
  held_.erase(0, at);
  return out;
}

std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
  if (std::ranges::none_of(secrets, [&](const std::string& secret) { return text.contains(secret); })) return text;
  SecretFilter filter(secrets);
  std::string out = filter.feed(text);
  return out + filter.end();
}

}  // namespace errand::model
