# cmake -D INPUT=... -D OUTPUT=... -P embed.cmake: the bytes of openapi.json as a C++ file.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"api/openapi.h\"

namespace errand::api {
namespace {
constexpr unsigned char document[] = {
${bytes}};
}  // namespace

std::string_view openapi_document() {
  return {reinterpret_cast<const char*>(document), sizeof document};
}

}  // namespace errand::api
")
