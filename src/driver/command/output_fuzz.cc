// What a process prints is anything at all: however it is cut, each stream's text is what the whole would be, valid
// UTF-8, and every byte is reported once.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "driver/command/output.h"

using namespace errand;
using namespace errand::command;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4'096) return 0;  // Below the cap of a report's text.
  std::string whole[2], shown[2];
  int64_t next[2] = {0, 0};
  OutputReports reports;
  const auto take = [&] {
    for (const Report& any : reports.take(nullptr)) {
      const auto& output = std::get<report::Output>(any);
      const size_t stream = output.stream == "stdout" ? 0 : 1;
      if (output.offset < next[stream] || output.length <= 0 || !is_utf8(output.text)) std::abort();
      next[stream] = output.offset + output.length;
      shown[stream] += output.text;
    }
    // As after a restart.
    const Result<OutputMark> mark = decode_mark(encode_mark(reports.mark()));
    if (!mark || *mark != reports.mark()) std::abort();
    reports = OutputReports(*mark);
  };
  // Each piece begins with a byte that says its stream, its length and whether a report is made behind it.
  int64_t offset = 0;
  for (size_t at = 0; at < size;) {
    const uint8_t head = data[at++];
    const size_t length = std::min<size_t>(size - at, (head >> 2) & 0x0f);
    const auto stream = head & 1 ? process::Stream::err : process::Stream::out;
    if (length > 0) {
      const std::string bytes(reinterpret_cast<const char*>(data + at), length);
      whole[static_cast<size_t>(stream)] += bytes;
      reports.add({.pieces = {{.stream = stream, .offset = offset, .bytes = bytes}},
                   .next = offset + static_cast<int64_t>(length)});
    }
    at += length;
    offset += static_cast<int64_t>(length);
    if (head & 2) take();
  }
  reports.finish();
  take();
  for (int stream = 0; stream < 2; ++stream)
    if (shown[stream] != to_utf8(whole[stream])) std::abort();
  return 0;
}
