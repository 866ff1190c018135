// What the binary has for shells: the files of packaging/completions.
#pragma once

#include <string_view>

namespace errand::cli {

std::string_view bash_completion();
std::string_view zsh_completion();
std::string_view fish_completion();

}  // namespace errand::cli
