// Forks as data files, in and out (tests/fixtures/fork). With ERRAND_UPDATE_GOLDEN=1 the outputs are written anew: read
// the difference before you commit it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/json_out.h"
#include "fork/fork.h"
#include "task/json.h"
#include "task/json_in.h"

namespace errand::fork {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value == nullptr ? std::string() : std::string(value->as_string());
}

std::vector<Message> read_messages(const json::array& list) {
  std::vector<Message> out;
  for (const json::value& value : list) {
    const json::object& object = value.as_object();
    Message& message = out.emplace_back();
    message.id = MessageId(text_of(object, "id"));
    message.role = parse_role(text_of(object, "role")).value();
    message.parts = decode_parts(json::serialize(object.at("parts"))).value();
  }
  return out;
}

Limits read_limits(const json::object& object) {
  Limits limits;
  if (const json::value* v = object.if_contains("tool_result_chars")) limits.tool_result_chars = v->as_int64();
  if (const json::value* v = object.if_contains("tokens")) limits.tokens = v->as_int64();
  if (const json::value* v = object.if_contains("profile")) limits.profile = parse_profile(v->as_string()).value();
  return limits;
}

std::string written(const Result<Prepared>& prepared) {
  std::string text;
  JsonOut out(text);
  out.object();
  if (!prepared) {
    out.field("error", name(prepared.error().code)).field("message", prepared.error().message).end();
    return text + "\n";
  }
  out.field("preamble", prepared->preamble)
      .field("tokens", prepared->tokens)
      .field("results_cut", prepared->results_cut);
  out.field("messages_dropped", prepared->messages_dropped).field("parts_cut", prepared->parts_cut);
  text += ",\n\"messages\":[";
  for (const Message& message : prepared->messages) {
    text += &message == &prepared->messages.front() ? "\n" : ",\n";
    JsonOut one(text);
    one.object().field("id", message.id).field("role", name(message.role)).key("parts");
    write_parts(one, message.parts);
    one.end();
  }
  return text + "\n]}\n";
}

TEST(ForkFixtures, GiveWhatTheySay) {
  int found = 0;
  const bool update = std::getenv("ERRAND_UPDATE_GOLDEN") != nullptr;
  for (const auto& entry : fs::directory_iterator(ERRAND_FIXTURES)) {
    const std::string file = entry.path().filename();
    if (!file.ends_with(".in.json")) continue;
    SCOPED_TRACE(file);
    ++found;
    const json::value parsed = json::parse(read_file(entry.path()));
    const json::object& in = parsed.as_object();
    const Result<Prepared> prepared =
        prepare(read_messages(in.at("messages").as_array()), MessageId(text_of(in, "last")), text_of(in, "settle_call"),
                read_limits(in.at("limits").as_object()));
    const fs::path wanted = entry.path().parent_path() / (file.substr(0, file.size() - 8) + ".out.json");
    const std::string got = written(prepared);
    ASSERT_NO_THROW(std::ignore = json::parse(got));
    if (update) std::ofstream(wanted, std::ios::binary) << got;
    EXPECT_EQ(read_file(wanted), got);
  }
  EXPECT_GE(found, 8);
}

}  // namespace
}  // namespace errand::fork
