// What a task asks, as whoever is asked sees it in a terminal (R14.3): the question, the folder it is about, an edit as
// a coloured diff, and what can be typed.
#pragma once

#include <string>
#include <string_view>

#include "cli/reply_words.h"
#include "cli/wire.h"

namespace errand::cli {

// Whole lines, filtered for a terminal. `choices`: with what can be typed.
std::string question_text(const WaitingInfo& waiting, bool colours, bool choices);
// A diff in colours; nothing of it can steer the terminal.
std::string diff_lines(std::string_view diff, bool colours);
// The body of POST .../answer. `request` empty: the question itself.
std::string answer_body(const WaitingInfo& waiting, const ReplyWords& words, std::string_view message,
                        std::string_view request = {});
// What was told, in a few words: "allow, for commands that begin with `npm test`".
std::string told_words(const ReplyWords& words);

}  // namespace errand::cli
