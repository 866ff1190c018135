#include "driver/run/artifact_manifest.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/encode.h"
#include "base/json_out.h"
#include "base/text.h"
#include "files/beneath.h"

namespace errand::run {
namespace {

namespace json = boost::json;

bool is_copy_name(std::string_view name) {
  return name.size() <= 40 && std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

std::string text_in(const json::object& object, const char* name) {
  const json::value* const value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

int64_t number_in(const json::object& object, const char* name) {
  const json::value* const value = object.if_contains(name);
  return value && value->is_int64() ? value->get_int64() : 0;
}

bool decode_entry(const json::value& value, ManifestFile::Entry& entry) {
  const json::object* const object = value.if_object();
  if (!object) return false;
  const std::optional<ArtifactSource> source = parse_artifact_source(text_in(*object, "source"));
  if (!source) return false;
  entry.info.id = text_in(*object, "id");
  entry.info.name = text_in(*object, "name");
  entry.info.source = *source;
  entry.info.size = number_in(*object, "size");
  entry.info.media_type = text_in(*object, "media_type");
  entry.info.sha256 = text_in(*object, "sha256");
  entry.info.modified = {number_in(*object, "modified")};
  entry.kept = text_in(*object, "kept");
  entry.raw = entry.info.name;
  if (object->contains("raw")) {
    const std::optional<std::string> raw = from_hex(text_in(*object, "raw"));
    if (!raw) return false;
    entry.raw = *raw;
  }
  return entry.info.size >= 0 && is_copy_name(entry.kept) && files::clean_path(entry.raw).has_value();
}

}  // namespace

std::string encode_manifest(const ManifestFile& manifest) {
  std::string text;
  JsonOut out(text);
  out.object().field("version", 1).field("generation", manifest.generation);
  out.field("gathered_at", manifest.gathered_at.ms).field("left_out", manifest.left_out).field("why", manifest.why);
  out.key("files").array();
  for (const ManifestFile::Entry& entry : manifest.entries) {
    const Artifact& info = entry.info;
    out.object().field("id", info.id).field("name", info.name);
    if (entry.raw != info.name) out.field("raw", to_hex(entry.raw));
    out.field("source", name(info.source)).field("size", info.size).field("media_type", info.media_type);
    out.field("sha256", info.sha256).field("modified", info.modified.ms).field("kept", entry.kept).end();
  }
  out.end().end();
  text += '\n';
  return text;
}

Result<ManifestFile> decode_manifest(std::string_view text) {
  const auto damaged = [] {
    return fail(Code::internal, "The list of this task's artifacts is damaged; gather them again.", "corrupt");
  };
  json::error_code error;
  json::value value;
  try {
    value = json::parse(text, error);
  } catch (const std::exception&) {
    return damaged();
  }
  const json::object* const object = error ? nullptr : value.if_object();
  const json::value* const files = object ? object->if_contains("files") : nullptr;
  if (!files || !files->is_array() || number_in(*object, "version") != 1) return damaged();
  ManifestFile manifest;
  manifest.generation = number_in(*object, "generation");
  manifest.gathered_at = {number_in(*object, "gathered_at")};
  manifest.left_out = number_in(*object, "left_out");
  manifest.why = text_in(*object, "why");
  for (const json::value& element : files->get_array())
    if (!decode_entry(element, manifest.entries.emplace_back())) return damaged();
  return manifest;
}

}  // namespace errand::run
