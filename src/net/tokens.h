// Further tokens, with scopes. The store keeps only their SHA-256: a reader of the database cannot use them. Loop
// thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "net/principal.h"
#include "store/store.h"

namespace errand::net {

struct Token {
  std::string id;  // "tok_..."
  std::string name;
  Scopes scopes;
  Time created_at;
  Time expires_at;    // Never by default.
  Time last_used_at;  // To within `last_use_ms`; what was not stored yet is lost with the server.
};

inline constexpr size_t tokens_max = 1'000;
inline constexpr size_t token_name_max = 100;  // Bytes.
inline constexpr Millis last_use_ms = 60'000;

class Tokens {
 public:
  // Both outlive it; load() comes before anything else.
  Tokens(Store& store, Clock& clock, Random& random) : store_(store), clock_(clock), random_(random) {}
  // Blocking. What cannot be read is an error: a token that is not known must not be forgotten.
  Status load();

  // The caller that this token names; absent if the token is unknown or has expired. Counts as a use.
  std::optional<Principal> use(std::string_view secret);
  // Is the token of that id still good?
  bool is_good(const std::string& id) const;

  // By creation.
  std::vector<Token> list() const;
  struct Made {
    Token token;
    std::string secret;  // "errand_...": told once.
  };
  // Durable before it is answered. Errors: exhausted where there are too many, what the store says.
  void add(std::string token_name, Scopes scopes, Time expires_at, std::move_only_function<void(Result<Made>)> reply);
  // not_found if no token has that id. The token is refused from now on, whatever the store answers.
  void remove(const std::string& id, std::move_only_function<void(Result<void>)> reply);

 private:
  struct Kept {
    Token token;
    std::string hash;
    Time stored_use = {};  // The last use that is stored.
  };
  bool has_ended(const Token& token) const { return token.expires_at && token.expires_at <= clock_.wall(); }
  void store_setting(std::string setting, std::string json, std::move_only_function<void(Result<void>)> reply);

  Store& store_;
  Clock& clock_;
  Random& random_;
  std::map<std::string, Kept> kept_;                        // By id, which goes by time.
  std::map<std::string, std::string, std::less<>> hashes_;  // To ids.
};

// {"id","name","scopes":[...],"created_at","expires_at","last_used_at"}, with "token" where the secret is told.
std::string token_json(const Token& token, std::string_view secret = {});

}  // namespace errand::net
