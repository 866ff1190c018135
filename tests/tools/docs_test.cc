// The tools' descriptions against what the tools do, and docs/tools.md against both.
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tests/tools/tool_world.h"
#include "tools/markdown.h"

namespace errand::tools {
namespace {

namespace json = boost::json;

class Schemas : public ToolTest {};

std::set<std::string> keys(const json::value& object) {
  std::set<std::string> all;
  for (const auto& member : object.as_object()) all.emplace(member.key());
  return all;
}

TEST_F(Schemas, HaveTheArgumentsThatAreRead) {
  for (const ToolInfo& info : tool_infos()) {
    const json::value schema = json::parse(info.input_schema);
    // The example is good but for one name: the refusal says which are known.
    json::object arguments = json::parse(info.example).as_object();
    arguments["no_such_argument"] = 1;
    const std::string text = bad(info.name, json::serialize(arguments)).text;
    constexpr std::string_view mark = "Known here: ";
    const size_t at = text.find(mark);
    ASSERT_NE(at, std::string::npos) << info.name << ": " << text;
    std::string_view known = std::string_view(text).substr(at + mark.size());
    known = known.substr(0, known.find(".\n"));
    std::set<std::string> fields;
    for (const std::string_view field : split(known, ',')) fields.emplace(trim(field));
    EXPECT_EQ(keys(schema.at("properties")), fields) << info.name;
  }
}

TEST_F(Schemas, AreWholeAndFitTheirExamples) {
  for (const std::string_view family_name : families) {
    for (const ToolInfo& info : tool_infos(family_name)) {
      EXPECT_FALSE(info.title.empty());
      EXPECT_FALSE((info.input_schema + info.output_schema + info.example).contains('\n')) << info.name;
      EXPECT_GT(info.description.size(), 80U) << info.name;
      EXPECT_LE(info.name.size(), 64U);
      const json::value schema = json::parse(info.input_schema);
      EXPECT_EQ(schema.at("type").as_string(), "object");
      EXPECT_FALSE(schema.at("additionalProperties").as_bool());
      EXPECT_EQ(breach(schema, json::parse(info.example)), "") << info.name;
      for (const auto& property : schema.at("properties").as_object())
        EXPECT_TRUE(property.value().as_object().contains("description") ||
                    property.value().as_object().contains("enum"))
            << info.name << "." << property.key();
      EXPECT_EQ(json::parse(info.output_schema).at("type").as_string(), "object");
      if (family_name != "background") {
        EXPECT_EQ((info.name + info.description + info.input_schema).find("background_"), std::string::npos)
            << info.name;
      }
    }
  }
}

TEST_F(Schemas, TheFamilyThatIsListedIsASetting) {
  family = "superagents";
  restart();
  std::vector<std::string> names;
  for (const ToolInfo& info : toolbox->list()) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"superagents_task", "superagents_execute", "superagents_output",
                                             "superagents_list", "superagents_message", "superagents_cancel",
                                             "superagents_retry", "superagents_clear", "session_manager", "look_at"}));
  // A tool without a prefix speaks in the words of the family that is listed.
  EXPECT_NE(good("background_list", "{}").text.find("No background tasks found"), std::string::npos);
}

TEST(Docs, AreCurrent) {
  const std::string path = ERRAND_SOURCE_DIR "/docs/tools.md";
  const std::string made = markdown(tool_infos());
  if (std::getenv("ERRAND_UPDATE_DOCS")) std::ofstream(path) << made;
  std::stringstream file;
  file << std::ifstream(path).rdbuf();
  EXPECT_EQ(file.str(), made) << "run with ERRAND_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace errand::tools
