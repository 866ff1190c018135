# cmake -D INPUT=... -D OUTPUT=... -D HEADER=... -D NAMESPACE=... -D FUNCTION=... -P embed.cmake: the bytes of a file as a
# C++ file; HEADER declares `std::string_view FUNCTION()`.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {
constexpr unsigned char content[] = {
${bytes}};
}  // namespace

std::string_view ${FUNCTION}() {
  return {reinterpret_cast<const char*>(content), sizeof content};
}

}  // namespace ${NAMESPACE}
")
