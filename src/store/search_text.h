// What it means that a task is found by a text: the same for every store.
//
// A query is split at white space; every part must occur, whatever its case, somewhere in the task's title, prompt,
// command or result. A part is plain text: quotes, operators and punctuation stand for themselves. Only the first
// `searched_bytes` of a field are searched, so that a result of many megabytes does not cost a reader seconds.
//
// An index keeps grams: every run of one, two or three characters (no three with an ideograph in them: two are as
// selective there). A part of a query is found by the grams that cover it and then looked for in the text itself, since
// grams may stand apart.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/task.h"

namespace errand {

inline constexpr size_t searched_bytes = 64 * 1024;
inline constexpr size_t query_bytes_max = 1'000;

// Lower case, full-width forms narrow, invalid UTF-8 as U+FFFD.
std::string fold(std::string_view text);

// The folded parts of a query, without repeats. invalid_argument where it is too long.
Result<std::vector<std::string>> query_terms(std::string_view query);

// True where every term occurs in the task.
bool found_in(const Task& task, const std::vector<std::string>& terms);

// What an index keeps of a task: of what is fixed when it is made, and of its result.
std::string searched_text(std::string_view title, std::string_view prompt, std::string_view command);
std::string_view searched_text(std::string_view result);

// Calls `each` once for every distinct gram of `text` (folded here), until it answers false.
void each_gram(std::string_view text, const std::function<bool(std::string_view gram)>& each);

// Grams that every text with `term` in it has: at most 4, spread over the term.
std::vector<std::string> grams_of_term(std::string_view term);

}  // namespace errand
