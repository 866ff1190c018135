// A web page as text: tags go, blocks become lines, scripts and styles vanish, links keep where they lead. Good enough
// for reading, in time linear in the page whatever it is. Pure.
#pragma once

#include <string>
#include <string_view>

namespace errand::builtin {

std::string html_text(std::string_view html);

}  // namespace errand::builtin
