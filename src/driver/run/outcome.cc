#include "driver/run/outcome.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::run {
namespace {

using How = process::RunEnd::How;

// How far back the tail of stderr is looked for.
constexpr int64_t look_back = 256 * 1024;
constexpr int64_t read_chunk = 64 * 1024;

// The last `bytes` of `text` as UTF-8. Cutting first keeps the work small; replacing what is no text can make it
// longer.
std::string utf8_tail(std::string_view text, size_t bytes) {
  const std::string valid = to_utf8(text.substr(text.size() - utf8_suffix(text, bytes)));
  return valid.substr(valid.size() - utf8_suffix(valid, bytes));
}

void keep_last(std::string& text, size_t bytes) {
  if (text.size() > 2 * bytes) text.erase(0, text.size() - bytes);
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("{} (SIG{})", signal, name) : fmt::format("{}", signal);
}

std::string details(const process::RunEnd& end, const Tails& tails, Millis timeout_ms) {
  std::string out;
  JsonOut json(out);
  json.object();
  if (end.how != How::spawn_failed) {
    if (end.signal > 0) {
      json.field("signal", end.signal);
    } else {
      json.field("exit_code", end.exit_code);
    }
  }
  if (!end.text.empty()) json.field("reason", end.text);
  if (end.how == How::timeout) {
    json.field("limit", static_cast<double>(timeout_ms) / 1000);
    json.field("seen", static_cast<double>(std::max<Millis>(end.ended_at - end.started_at, 0)) / 1000);
  }
  if (end.how == How::limit && !end.limit.empty()) {
    json.field("limit", end.limit_value);
    if (end.limit_seen > 0) json.field("seen", end.limit_seen);
  }
  json.field("stderr_tail", tails.err).end();
  return out;
}

// The supervisor's words as the end of a sentence of ours.
std::string clause(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  return to_utf8(text);
}

std::string size_text(int64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  if (mebibytes >= 1024) return fmt::format("{:.2f} GiB", mebibytes / 1024);
  if (mebibytes >= 1) return fmt::format("{:.1f} MiB", mebibytes);
  return fmt::format("{} bytes", bytes);
}

// What it had, what it may have, and what to do.
std::string limit_text(const process::RunEnd& end) {
  const int64_t value = end.limit_value, seen = end.limit_seen;
  if (end.limit == "cpu")
    return fmt::format(
        "The command used up its {} s of CPU time and was ended; set limits.cpu_s (--cpu) to give it more.", value);
  if (end.limit == "memory")
    return fmt::format(
        "The command {} and was ended: its limit is {}; set limits.memory_bytes (--memory) to give it more, or let it "
        "use less (fewer jobs at once).",
        seen > 0 ? fmt::format("took {} of memory", size_text(seen)) : "ran out of memory", size_text(value));
  return fmt::format(
      "The command {} and was ended: its limit is {}; set limits.processes (--processes) to allow more, or let it "
      "start "
      "fewer at once.",
      seen > 0 ? fmt::format("had {} processes at once", seen) : "was refused a further process", value);
}

TaskError make_error(const process::RunEnd& end, const Tails& tails, Millis timeout_ms, Surface surface) {
  const auto error = [&](const char* code, std::string message) {
    return TaskError{code, std::move(message), details(end, tails, timeout_ms)};
  };
  switch (end.how) {
    case How::signalled:
      return error("signal", fmt::format("The command was ended by signal {}.", signal_name(end.signal)));
    case How::timeout:
      return error("timeout", fmt::format("The command did not end within {} and was ended; set {} to give it longer.",
                                          timeout_ms > 0 ? format_duration(timeout_ms) : "its time limit",
                                          timeout_option(surface)));
    case How::limit:
      if (end.limit == "cpu" || end.limit == "memory" || end.limit == "processes")
        return error(end.limit.c_str(), limit_text(end));
      return error("limit", fmt::format("The command went over a limit and was ended: {}.", clause(end.text)));
    case How::spawn_failed:
      return error("spawn_failed", fmt::format("The command could not be started: {}.", clause(end.text)));
    case How::exited:
    case How::stopped:
    case How::lost:
      break;
  }
  return error("exit", fmt::format("The command exited with code {}.", end.exit_code));
}

}  // namespace

Tails read_tails(process::Journal& journal) {
  const int64_t size = journal.size();
  const int64_t start = std::max<int64_t>(0, size - look_back);
  std::string output, err;
  bool cut = start > 0;
  for (int64_t at = start; at < size;) {
    const Result<process::JournalRead> read = journal.read(at, read_chunk);
    if (!read || read->next <= at) break;
    if (read->damaged)
      output += damage_text(read->cut);
    else if (read->cut > 0)
      cut = true;
    for (const process::Piece& piece : read->pieces) {
      output += piece.bytes;
      if (piece.stream == process::Stream::err) err += piece.bytes;
    }
    cut = cut || output.size() > result_tail_max;
    keep_last(output, result_tail_max);
    keep_last(err, stderr_tail_max);
    at = read->next;
  }
  Tails tails{utf8_tail(output, result_tail_max), utf8_tail(err, stderr_tail_max)};
  if (const size_t line_end = tails.output.find('\n');
      cut && line_end != std::string::npos && line_end + 1 < tails.output.size())
    tails.output.erase(0, line_end + 1);
  return tails;
}

Outcome make_outcome(const process::RunEnd& end, const Tails& tails, Millis timeout_ms, Surface surface) {
  Outcome outcome;
  if (end.how == How::lost) {
    outcome.kind = Outcome::Kind::lost;
    outcome.error = TaskError{"interrupted",
                              "The command's process was lost with the supervisor, and how it ended is not "
                              "known; retry starts it again.",
                              {}};
    return outcome;
  }
  if (end.how != How::spawn_failed) {
    if (end.signal > 0) {
      outcome.signal = end.signal;
    } else {
      outcome.exit_code = end.exit_code;
    }
  }
  if (end.how == How::stopped) {
    outcome.kind = Outcome::Kind::stopped;
    outcome.error = TaskError{"stopped", "The command was stopped.", details(end, tails, timeout_ms)};
  } else if (end.how == How::exited && end.exit_code == 0) {
    outcome.kind = Outcome::Kind::completed;
  } else {
    outcome.kind = Outcome::Kind::failed;
    outcome.error = make_error(end, tails, timeout_ms, surface);
  }
  if (outcome.kind == Outcome::Kind::completed || !tails.output.empty()) outcome.result = tails.output;
  return outcome;
}

}  // namespace errand::run
