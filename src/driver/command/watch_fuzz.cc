// Any output, cut anywhere, with the server restarted anywhere: the same lines are told, and nothing crashes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "driver/command/watch.h"

using namespace errand;
using namespace errand::command;

namespace {

void take(Watch& watch, std::vector<std::string>& lines) {
  for (const Report& report : watch.take())
    if (const auto* match = std::get_if<report::Match>(&report)) {
      if (!is_utf8(match->line) || match->line.empty() || match->line.contains('\n')) std::abort();
      lines.push_back(match->pattern + match->line + std::to_string(match->more));
    }
}

process::Piece piece(std::string_view bytes) {
  process::Piece out;
  out.bytes = bytes;
  out.at = {1'763'200'000'000};
  return out;
}

}  // namespace

// The first byte says how long the pieces are; the first line is a pattern, the rest is output.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 8'192) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string pattern = to_utf8(first_line(all)).substr(0, 100);
  const std::string_view output = all.substr(std::min(all.size(), first_line(all).size() + 1));
  const std::vector<std::string> patterns = {pattern, "a", "/^x|y$/"};
  if (!is_utf8(pattern) || !check_patterns(patterns)) return 0;
  const size_t step = data[0] % 64 + 1 + size / 64;  // Every restart compiles the patterns again.

  std::vector<std::string> whole, cut;
  Watch once(patterns);
  once.begin_round();
  once.add(piece(output));
  once.finish();
  take(once, whole);

  std::string state;
  for (size_t at = 0; at < output.size(); at += step) {
    Watch watch(patterns);
    watch.restore(state);
    watch.begin_round();
    watch.add(piece(output.substr(at, step)));
    take(watch, cut);
    state = watch.state();
    if (state.contains(' ')) std::abort();
  }
  Watch last(patterns);
  last.restore(state);
  last.finish();
  take(last, cut);
  if (whole != cut) std::abort();
  Watch other(patterns);
  other.restore(all);
  return 0;
}
