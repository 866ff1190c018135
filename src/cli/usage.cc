// errand usage (R15.3): what calls of models used and cost. What has no price is "?", never $0.00.
#include <ctime>

#include <fmt/format.h>

#include "cli/duration.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

// Minutes east of UTC, now.
int utc_offset_min() {
  const std::time_t now = wall_now().ms / 1000;
  std::tm local{};
  ::localtime_r(&now, &local);
  return static_cast<int>(local.tm_gmtoff / 60);
}

// A day as it is, or the time that a span before now began.
Result<std::string> when(const std::string& text, const char* option) {
  if (text.size() == 10 && parse_time(text + "T00:00:00Z")) return text;
  if (const Result<Time> time = parse_time(text)) return format_time(*time);
  const Result<Millis> span = parse_duration(text);
  if (!span)
    return fail(Code::invalid_argument,
                fmt::format("{} {}: give a day (2026-11-01) or a span (7d, 24h).", option, text), "usage");
  return format_time(wall_now() - *span);
}

// 1234567 as 1,234,567: people read these side by side.
std::string grouped(const std::string& digits) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string cost_text(const std::string& sum) {
  const std::string cost = member(sum, "cost_usd");
  if (cost.empty() || cost == "null") return "?";
  const bool at_least = member(sum, "unpriced_calls") != "0";
  return fmt::format("{}${:.4f}", at_least ? "≥" : "", std::strtod(cost.c_str(), nullptr));
}

std::vector<Cell> row_of(const std::string& key, const std::string& sum, std::string_view style) {
  std::vector<Cell> row{{key, style}};
  for (const char* field : {"calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"})
    row.push_back({grouped(member(sum, field)), style});
  row.push_back({cost_text(sum), style});
  return row;
}

}  // namespace

int usage(Context& context, const UsageArgs& args) {
  const Screen& screen = context.screen;
  const Result<std::string> from = when(args.since.empty() ? "30d" : args.since, "--since");
  if (!from) return screen.fail(from.error());
  const Result<std::string> to = args.until.empty() ? Result<std::string>("") : when(args.until, "--until");
  if (!to) return screen.fail(to.error());
  const Query query = Query()
                          .add("by", args.by)
                          .add("from", *from)
                          .add("to", *to)
                          .add("utc_offset_min", std::to_string(utc_offset_min()));
  const Result<std::string> body = context.client.get("/api/usage" + query.text());
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::string& group : elements(*body, "groups")) {
    const std::string key = member(group, "key");
    rows.push_back(row_of(key.empty() ? "(not known)" : key, group, ""));
  }
  if (!screen.out_is_terminal()) {
    screen.out(render_tabs(rows));
    return code(Exit::ok);
  }
  if (rows.empty()) {
    screen.out("No calls of models in this time. --since shows more: errand usage --since 90d\n");
    return code(Exit::ok);
  }
  const std::string total = member(*body, "total");
  rows.push_back(row_of("total", total, "1"));
  std::string header = args.by;
  for (char& c : header) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  screen.out(render_table({{header, 10},
                           {"CALLS", 0, true},
                           {"INPUT", 0, true},
                           {"OUTPUT", 0, true},
                           {"CACHE READ", 0, true},
                           {"CACHE WRITE", 0, true},
                           {"COST", 0, true}},
                          rows, {screen.width(), screen.colours(), true}));
  if (const std::string unpriced = member(total, "unpriced_calls"); unpriced != "0" && !screen.quiet())
    screen.out(styled(fmt::format("The price of {} {} is not known: ? is unknown, ≥ is at least. Set input_usd and "
                                  "output_usd of the model.",
                                  unpriced, unpriced == "1" ? "call" : "calls"),
                      "2", screen.colours()) +
               "\n");
  return code(Exit::ok);
}

}  // namespace errand::cli
