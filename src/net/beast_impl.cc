// Beast's own code, compiled once (BOOST_BEAST_SEPARATE_COMPILATION).
//
// Without its assertions: one of them (basic_parser.ipp, "n >= 5") is wrong for a chunked body that begins with its
// last chunk and comes in pieces, so any peer could end the process with it. What they would guard is fuzzed under the
// address sanitizer (request_fuzz.cc).
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/src.hpp>
