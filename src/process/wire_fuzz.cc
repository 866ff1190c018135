// Whatever comes over the socket or lies in a run's folder: nothing but a refusal may follow.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "process/protocol.h"
#include "process/run.h"
#include "process/wire.h"

using namespace errand::process;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FrameReader reader;
  // In two pieces, so that frames are put together as well.
  reader.append(bytes.substr(0, size / 2));
  while (reader.next()) {
  }
  reader.append(bytes.substr(size / 2));
  while (auto payload = reader.next()) {
    auto fields = Fields::parse(*payload);
    if (!fields) continue;
    auto request = get_spawn(*fields);
    if (!request) continue;
    // What was taken can be sent on and is the same there.
    FrameOut out;
    put_spawn(out, *request);
    auto again = get_spawn(*Fields::parse(out.payload()));
    if (!again || again->argv != request->argv || again->env != request->env || again->run != request->run)
      __builtin_trap();
  }
  if (auto end = decode_end(bytes); end && !decode_end(encode_end(*end))) __builtin_trap();
  return 0;
}
