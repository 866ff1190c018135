// A question's bytes: what goes over the wire for each Api. Pure, so that a golden file is a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/client.h"
#include "model/model.h"

namespace errand::model {

// The whole request but its timeouts: address, headers (the key among them), body. Streams.
http::Request encode(const Endpoint& endpoint, const Request& request);

// The conversation as every provider takes it, whatever was stored: turns alternate and the first is the user's; each
// tool call has its result right behind it (one that has none is told as interrupted), each result its call (else it is
// text); no empty text; ids of calls that every provider takes.
std::vector<Entry> normalize(const std::vector<Entry>& conversation);

// `input` where it is a JSON object; else an object that holds it as text.
std::string valid_input(std::string_view input);
// `schema` with what the providers insist on (a type, properties); a schema that is no JSON object takes anything.
std::string valid_schema(std::string_view schema);

// A block's own data, marked with whose it is, and back: empty where it is another Api's.
std::string make_opaque(Api api, std::string_view data);
std::string_view opaque_of(Api api, const Block& block);

}  // namespace errand::model
