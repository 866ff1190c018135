// Removes secrets that a server quotes from what it says, however its words are cut into pieces. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace errand::model {

// What an answer must not show: the endpoint's key, and what its headers hold under names such as `authorization`.
// Shorter ones than secret_text_min are left out: what a local server is given for a key ("lm-studio") is a word that
// people use.
inline constexpr size_t secret_text_min = 16;
std::vector<std::string> secrets_of(const Endpoint& endpoint);

// Puts "[key]" in the place of each secret. What it gives depends on the whole text only, not on how that is cut: at
// each place the longest secret that stands there. Holds back at most the longest secret's length less one, and only
// where one may have begun.
class SecretFilter {
 public:
  // `secrets` outlive it; none is empty.
  explicit SecretFilter(const std::vector<std::string>& secrets) : secrets_(&secrets) {}

  std::string feed(std::string_view text);
  // Nothing more comes.
  std::string end();

 private:
  std::string take(bool last);

  const std::vector<std::string>* secrets_;
  std::string held_;
};

std::string without_secrets(std::string text, const std::vector<std::string>& secrets);

}  // namespace errand::model
