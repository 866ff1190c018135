#include "mcp/task_uri.h"

#include <charconv>

#include "base/text.h"

namespace errand::mcp {
namespace {

constexpr std::string_view scheme = "task://";
constexpr size_t uri_max = 8'192;

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return out;
}

bool read_query(std::string_view query, TaskUri& into) {
  for (const std::string_view pair : split(query, '&')) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals), value = pair.substr(std::min(pair.size(), equals + 1));
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (value.empty() || error != std::errc() || end != value.data() + value.size()) return false;
    if (name == "offset") {
      into.offset = number;
    } else if (name == "limit" && number > 0) {
      into.limit = number;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<TaskUri> parse_task_uri(std::string_view uri) {
  if (!uri.starts_with(scheme) || uri.size() > uri_max || !is_utf8(uri)) return std::nullopt;
  uri.remove_prefix(scheme.size());
  TaskUri out;
  if (const size_t query = uri.find('?'); query != std::string_view::npos) {
    if (!read_query(uri.substr(query + 1), out)) return std::nullopt;
    uri = uri.substr(0, query);
  }
  const size_t slash = uri.find('/');
  if (slash == std::string_view::npos || !is_id(uri.substr(0, slash), "task_")) return std::nullopt;
  out.task = TaskId(uri.substr(0, slash));
  const std::string_view rest = uri.substr(slash + 1);
  constexpr std::string_view artifacts = "artifacts/";
  if (rest == "result" || rest == "log" || rest == "transcript" || rest == "artifacts") {
    out.path = rest;
    return out;
  }
  if (!rest.starts_with(artifacts)) return std::nullopt;
  const std::optional<std::string> name = decode(rest.substr(artifacts.size()));
  if (!name || name->empty() || !is_utf8(*name) || name->contains('\0')) return std::nullopt;
  out.path = *name;
  out.artifact = true;
  return out;
}

std::string task_uri(const TaskId& task, std::string_view path) {
  return std::string(scheme) + task.value + "/" + std::string(path);
}

std::string artifact_uri(const TaskId& task, std::string_view name) {
  std::string path = "artifacts/";
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_' || c == '~';
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (plain)
      path += c;
    else
      path += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return task_uri(task, path);
}

}  // namespace errand::mcp
