#include "model/catalog.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "http/field.h"
#include "model/model.h"

namespace errand::model {
namespace {

struct Row {
  std::string_view prefix;  // The first row that fits counts: the longer ones stand first.
  int64_t context, output;
  double in, out, cache_read, cache_write;
};

// Prices and limits that are public and were known when this was written; settings go over them, and what is newer than
// this table has no price here rather than a wrong one.
constexpr std::array rows = {
    Row{"claude-opus-4-5", 200'000, 64'000, 5, 25, 0.5, 6.25},
    Row{"claude-opus-4-1", 200'000, 32'000, 15, 75, 1.5, 18.75},
    Row{"claude-opus-4-2", 200'000, 32'000, 15, 75, 1.5, 18.75},  // claude-opus-4-20250514
    Row{"claude-sonnet-4", 200'000, 64'000, 3, 15, 0.3, 3.75},
    Row{"claude-haiku-4-5", 200'000, 64'000, 1, 5, 0.1, 1.25},
    Row{"claude-3-7-sonnet", 200'000, 64'000, 3, 15, 0.3, 3.75},
    Row{"claude-3-5-haiku", 200'000, 8'192, 0.8, 4, 0.08, 1},
    Row{"claude-3-5-sonnet", 200'000, 8'192, 3, 15, 0.3, 3.75},
    Row{"claude-3-", 200'000, 4'096, 0, 0, 0, 0},
    Row{"claude-", 200'000, 32'000, 0, 0, 0, 0},
    Row{"gpt-5-mini", 400'000, 128'000, 0.25, 2, 0.025, 0},
    Row{"gpt-5-nano", 400'000, 128'000, 0.05, 0.4, 0.005, 0},
    Row{"gpt-5-chat", 128'000, 16'384, 1.25, 10, 0.125, 0},
    Row{"gpt-5-pro", 400'000, 272'000, 15, 120, 0, 0},
    Row{"gpt-5-codex", 400'000, 128'000, 1.25, 10, 0.125, 0},
    Row{"gpt-5.1-mini", 400'000, 128'000, 0.25, 2, 0.025, 0},
    Row{"gpt-5.1", 400'000, 128'000, 1.25, 10, 0.125, 0},
    Row{"gpt-5.2", 400'000, 128'000, 1.75, 14, 0.175, 0},
    Row{"gpt-5-20", 400'000, 128'000, 1.25, 10, 0.125, 0},
    Row{"gpt-4.1-mini", 1'047'576, 32'768, 0.4, 1.6, 0.1, 0},
    Row{"gpt-4.1-nano", 1'047'576, 32'768, 0.1, 0.4, 0.025, 0},
    Row{"gpt-4.1", 1'047'576, 32'768, 2, 8, 0.5, 0},
    Row{"gpt-4o-mini", 128'000, 16'384, 0.15, 0.6, 0.075, 0},
    Row{"gpt-4o", 128'000, 16'384, 2.5, 10, 1.25, 0},
    Row{"o4-mini", 200'000, 100'000, 1.1, 4.4, 0.275, 0},
    Row{"o3-mini", 200'000, 100'000, 1.1, 4.4, 0.55, 0},
    Row{"o3-pro", 200'000, 100'000, 20, 80, 0, 0},
    Row{"o3", 200'000, 100'000, 2, 8, 0.5, 0},
    Row{"gpt-5", 400'000, 128'000, 0, 0, 0, 0},
    Row{"gpt-6", 400'000, 128'000, 0, 0, 0, 0},
};

// "anthropic/claude-sonnet-4.5" and "us.anthropic.claude-sonnet-4-5-v1:0" name the same as "claude-sonnet-4-5".
std::string plain_name(std::string_view model) {
  if (const size_t slash = model.rfind('/'); slash != std::string_view::npos) model.remove_prefix(slash + 1);
  std::string name = http::lower(model);
  if (const size_t claude = name.find("claude-"); claude != std::string::npos) {
    name.erase(0, claude);
    for (char& c : name)
      if (c == '.') c = '-';
  }
  return name;
}

ModelInfo info_of(const Row& row) {
  return {row.context, row.output, row.in, row.out, row.cache_read, row.cache_write, true, false};
}

template <class Number>
Status take(const std::map<std::string, std::string>& options, const char* name, Number& into) {
  const auto it = options.find(name);
  if (it == options.end()) return {};
  Number value{};
  const char* end = it->second.data() + it->second.size();
  const auto [at, error] = std::from_chars(it->second.data(), end, value);
  if (error != std::errc() || at != end || !(value >= 0) || static_cast<double>(value) > 1e12)
    return fail(Code::invalid_argument, fmt::format("The option {} must be a number that is not negative.", name),
                "option");
  into = value;
  return {};
}

}  // namespace

ModelInfo model_info(std::string_view model) {
  const std::string name = plain_name(model);
  // The bare name of a family whose later members cost otherwise.
  if (name == "gpt-5") return {400'000, 128'000, 1.25, 10, 0.125, 0, true, false};
  for (const Row& row : rows)
    if (name.starts_with(row.prefix)) return info_of(row);
  return {};
}

Result<ModelInfo> with_options(ModelInfo info, const std::map<std::string, std::string>& options) {
  for (const auto& [name, number] :
       {std::pair("context_tokens", &info.context_tokens), std::pair("output_tokens", &info.output_tokens)})
    if (Status read = take(options, name, *number); !read) return std::unexpected(read.error());
  for (const auto& [name, number] :
       {std::pair("input_usd", &info.input_usd), std::pair("output_usd", &info.output_usd),
        std::pair("cache_read_usd", &info.cache_read_usd), std::pair("cache_write_usd", &info.cache_write_usd)})
    if (Status read = take(options, name, *number); !read) return std::unexpected(read.error());
  info.set = options.contains("input_usd") || options.contains("output_usd");
  return info;
}

double cost_usd(const ModelInfo& info, const TokenUse& use) {
  const auto part = [](int64_t tokens, double price) { return static_cast<double>(tokens) * price / 1e6; };
  // A cache whose price is not known is billed as input: too much rather than too little.
  const double read = info.cache_read_usd > 0 ? info.cache_read_usd : info.input_usd;
  const double write = info.cache_write_usd > 0 ? info.cache_write_usd : info.input_usd;
  return part(use.input, info.input_usd) + part(use.output, info.output_usd) + part(use.cache_read, read) +
         part(use.cache_write, write);
}

}  // namespace errand::model
