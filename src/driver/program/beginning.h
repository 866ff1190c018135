// Turns that an agent begins by itself: its program waits between two turns of its task, and goes on without a message,
// as when a command that it left in the background has ended (decision 28).
//
// A turn is begun by a stored message, here too: a note that says why. Whoever keeps tasks stores it and queues a turn,
// which waits for its slot as every turn does. When the turn is opened, it goes on in the program that has begun, from
// the first word. Where that program is gone by then, a new one is told the note.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "task/message.h"

namespace errand::program {

// Asks for a turn of this task. `done` is called later, on the engine's thread: false where there will be none, and
// what has begun is to be ended.
using AskForTurn =
    std::function<void(const TaskId& task, const std::string& why, std::move_only_function<void(bool)> done)>;

// The note, as the content of a message (a JSON list of parts). `why`: one line, the program's own; may be empty.
std::string beginning_note(std::string_view why);
// A message that is such a note and nothing else.
bool is_beginning(const Message& message);

}  // namespace errand::program
