# How every library, test and fuzzer of the project is built.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(LLD ld.lld-19)
if(LLD)
  # Packed, the 30,000 relocations are 9 KiB instead of 750, which every process of ours would read at its start and keep.
  add_link_options(-fuse-ld=lld -Wl,-z,pack-relative-relocs)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                    -Woverloaded-virtual -Wthread-safety -Wimplicit-fallthrough -Wno-missing-designated-field-initializers -fno-omit-frame-pointer)
if(ERRAND_WERROR)
  add_compile_options(-Werror)
endif()
if(ERRAND_SANITIZE)
  add_compile_options(-fsanitize=${ERRAND_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ERRAND_SANITIZE})
  # Asio keeps coroutine frames for reuse, which hides a use after free from the sanitizer.
  add_compile_definitions(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
endif()
if(ERRAND_FUZZ)
  # Everything tells the fuzzers what it reached; without it they are blind.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

# Everything but glibc is linked in: the binary runs on any machine of the same age or newer.
add_link_options(-static-libstdc++ -static-libgcc)
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)

find_package(Threads REQUIRED)
find_library(SQLITE_STATIC libsqlite3.a REQUIRED)
find_library(SSL_STATIC libssl.a REQUIRED)
find_library(CRYPTO_STATIC libcrypto.a REQUIRED)
find_library(MAGIC_STATIC libmagic.a REQUIRED)
# What libmagic.a needs.
find_library(ZLIB_STATIC libz.a REQUIRED)
find_library(BZ2_STATIC libbz2.a REQUIRED)
find_library(LZMA_STATIC liblzma.a REQUIRED)
find_library(RE2_STATIC libre2.a REQUIRED)
find_path(LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
find_package(GTest REQUIRED)

# errand_embed(FILE MADE HEADER ... NAMESPACE ... FUNCTION ...): MADE, in the build folder, has the file's bytes.
function(errand_embed file made)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE;FUNCTION" "" ${ARGN})
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${made}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${file} -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${made} -D HEADER=${ARG_HEADER}
            -D NAMESPACE=${ARG_NAMESPACE} -D FUNCTION=${ARG_FUNCTION} -P ${script}
    DEPENDS ${file} ${script})
endfunction()

# errand_library(NAME SOURCES ... NEEDS ...): one folder of src/.
function(errand_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;NEEDS;LINK" ${ARGN})
  add_library(errand_${name} STATIC ${ARG_SOURCES})
  target_include_directories(errand_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  foreach(need ${ARG_NEEDS})
    target_link_libraries(errand_${name} PUBLIC errand_${need})
  endforeach()
  if(ARG_LINK)
    target_link_libraries(errand_${name} PUBLIC ${ARG_LINK})
  endif()
endfunction()

# errand_joined(OUT NAME FILE...): OUT is a list of files in the build folder that include these, ERRAND_TEST_GROUP at a time.
# What the units of one program share (headers, and the templates that each would instantiate for itself) is compiled once.
# Named from the root, so that every clone asks the compiler cache for the same text.
function(errand_joined out name)
  set(made "")
  set(text "")
  set(count 0)
  list(LENGTH ARGN left)
  foreach(file ${ARGN})
    get_filename_component(file ${file} ABSOLUTE)
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${file})
    string(APPEND text "#include \"${file}\"\n")
    math(EXPR count "${count} + 1")
    math(EXPR left "${left} - 1")
    if(count EQUAL ERRAND_TEST_GROUP OR left EQUAL 0)
      list(LENGTH made number)
      set(joined ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cc)
      file(CONFIGURE OUTPUT ${joined} CONTENT "${text}" @ONLY)
      list(APPEND made ${joined})
      set(text "")
      set(count 0)
    endif()
  endforeach()
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# errand_test(NAME SOURCES ... [SEPARATE ...] NEEDS ... [LABELS ...] [OPTIMIZED] [LONG]): a GoogleTest program, one ctest entry.
# Its units are compiled several at a time and not optimized, which takes a quarter of the time; the libraries under test
# are built as ever. SEPARATE: units with names of their own that another unit has too. OPTIMIZED: the test itself computes
# a lot. LONG: it runs for many seconds and is started first, so that no processor waits for it at the end.
# (docs/decisions/0023-time.md)
function(errand_test name)
  cmake_parse_arguments(ARG "OPTIMIZED;LONG" "" "SOURCES;SEPARATE;NEEDS;LABELS" ${ARGN})
  if(ERRAND_TEST_GROUP GREATER 1)
    errand_joined(ARG_SOURCES ${name} ${ARG_SOURCES})
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_SEPARATE})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(ERRAND_TEST_GROUP GREATER 1)
    # A local that is named like a neighbour's helper hides nothing that its own unit could mean. The dev preset looks.
    target_compile_options(${name} PRIVATE -Wno-shadow)
  endif()
  foreach(need ${ARG_NEEDS})
    target_link_libraries(${name} PRIVATE errand_${need})
  endforeach()
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  if(ARG_LONG)
    set_tests_properties(${name} PROPERTIES COST 60)
  endif()
endfunction()

# errand_fuzz(NAME SOURCES ... NEEDS ...): a libFuzzer target; built where ERRAND_FUZZ is on. Its corpus is
# tests/fuzz/corpus/NAME.
function(errand_fuzz name)
  if(NOT ERRAND_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;NEEDS" ${ARGN})
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  foreach(need ${ARG_NEEDS})
    target_link_libraries(fuzz_${name} PRIVATE errand_${need})
  endforeach()
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_property(GLOBAL APPEND PROPERTY ERRAND_FUZZERS fuzz_${name})
endfunction()
