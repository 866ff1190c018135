// Makes frames: what one event looks like on a stream. Pure functions: any thread.
#pragma once

#include <string_view>

#include "engine/feed.h"
#include "store/store.h"
#include "task/event.h"

namespace errand {

// `text` is what an `output` event printed, where the caller has it; other events carry all they say in their data.
FramePtr make_frame(const Event& event, std::string_view text = {});
FramePtr make_gone_frame(const Tombstone& gone);

// An `output` event's data with its text in it: {"stream","text","offset","length","run"}.
std::string output_data(std::string_view stored, std::string_view text);

}  // namespace errand
