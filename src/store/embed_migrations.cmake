# Writes OUT, a .cc with the migrations of the store KIND (sqlite, postgres) in order, which are in FOLDER. Run by the
# build: cmake -DKIND= -DFOLDER= -DOUT= -P this.
file(GLOB files ${FOLDER}/*.sql)
list(SORT files)
set(rows "")
set(expected 1)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  if(NOT name MATCHES "^([0-9][0-9][0-9])_([a-z0-9_]+)$")
    message(FATAL_ERROR "${file}: a migration is named NNN_name.sql")
  endif()
  math(EXPR number "1${CMAKE_MATCH_1} - 1000")
  if(NOT number EQUAL expected)
    message(FATAL_ERROR "${file}: migrations are numbered without gaps; ${expected} is missing")
  endif()
  math(EXPR expected "${expected} + 1")
  file(READ ${file} sql)
  string(APPEND rows "      {${number}, \"${CMAKE_MATCH_2}\", R\"sql(${sql})sql\"},\n")
endforeach()
file(WRITE ${OUT} "// Made from migrations/*.sql by embed_migrations.cmake.
#include \"store/${KIND}/migrate.h\"

namespace errand::${KIND} {

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> all = {
${rows}  };
  return all;
}

}  // namespace errand::${KIND}
")
