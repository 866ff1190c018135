# cmake -D INPUT=... -D OUTPUT=... -P embed_plugin.cmake: the bytes of OpenCode's plugin as a C++ file.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"cli/opencode.h\"

namespace errand::cli {
namespace {
constexpr unsigned char plugin[] = {
${bytes}};
}  // namespace

std::string_view opencode_plugin_source() {
  return {reinterpret_cast<const char*>(plugin), sizeof plugin};
}

}  // namespace errand::cli
")
