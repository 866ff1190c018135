# cmake -D FOLDER=... -D OUTPUT=... -P embed_presets.cmake: the files of presets/ as a C++ file.
file(GLOB files ${FOLDER}/*.md)
list(SORT files)
set(arrays "")
set(entries "")
set(index 0)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char file_${index}[] = {${bytes}};\n")
  string(APPEND entries "      {\"${name}\", {reinterpret_cast<const char*>(file_${index}), sizeof file_${index}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"tools/presets.h\"

namespace errand::tools {
namespace {
${arrays}}  // namespace

std::vector<PresetFile> preset_files() {
  return {
${entries}  };
}

}  // namespace errand::tools
")
