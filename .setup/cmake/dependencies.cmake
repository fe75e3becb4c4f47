# The kept libraries. .setup/install.sh brings all of them; a missing one is an error
# that names its package.

# recut_headers: the libraries that are all, or nearly all, header. They are reached through links in the
# build folder, because putting /usr/include itself on Emscripten's include path
# would shadow its own C library.
add_library(recut_headers INTERFACE)
set(header_links "${CMAKE_BINARY_DIR}/headers")
file(MAKE_DIRECTORY "${header_links}")
foreach(header fmt/core.h nlohmann/json.hpp CLI/CLI.hpp)
  get_filename_component(library "${header}" DIRECTORY)
  find_path(RECUT_${library}_DIR NAMES "${header}" PATHS /usr/include /usr/local/include
            NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(NOT RECUT_${library}_DIR)
    message(FATAL_ERROR "The headers of ${library} are missing; run .setup/install.sh first.")
  endif()
  file(CREATE_LINK "${RECUT_${library}_DIR}/${library}" "${header_links}/${library}" SYMBOLIC)
endforeach()
target_include_directories(recut_headers SYSTEM INTERFACE "${header_links}")

# fmt isn't quite header-only: its body is compiled once, here.
add_library(recut_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/../fmt/format.cpp")
target_include_directories(recut_fmt SYSTEM PUBLIC "${header_links}")
target_link_libraries(recut_headers INTERFACE recut_fmt)
if(NOT EMSCRIPTEN)
  set_target_properties(recut_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
endif()

# Libraries that come as source stand in the user's cache, shared by all clones.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(user_cache "$ENV{XDG_CACHE_HOME}")
else()
  set(user_cache "$ENV{HOME}/.cache")
endif()
set(RECUT_SOURCES "${user_cache}/recut" CACHE PATH "Where install.sh unpacked libraries")

# recut_zlib: gzipped graphs and zip archives. A page has it of the source that install.sh unpacked, without
# its packing half: Emscripten's own copy would be fetched as the build runs.
add_library(recut_zlib INTERFACE)
if(EMSCRIPTEN)
  set(zlib_source "${RECUT_SOURCES}/zlib-1.3.1")
  if(NOT EXISTS "${zlib_source}/inflate.c")
    message(FATAL_ERROR "zlib's source is missing at ${zlib_source}; run .setup/install.sh --page first.")
  endif()
  enable_language(C)
  add_library(recut_inflate STATIC
              "${zlib_source}/inflate.c" "${zlib_source}/inffast.c" "${zlib_source}/inftrees.c"
              "${zlib_source}/adler32.c" "${zlib_source}/crc32.c" "${zlib_source}/zutil.c")
  target_include_directories(recut_inflate SYSTEM PUBLIC "${zlib_source}")
  set_target_properties(recut_inflate PROPERTIES UNITY_BUILD OFF)  # its sources include one header twice
  target_compile_options(recut_inflate PRIVATE -w -Os)
  target_link_libraries(recut_zlib INTERFACE recut_inflate)
else()
  find_package(ZLIB REQUIRED)
  # The static one where there is one: librecut.so is to need nothing but the C library.
  find_library(RECUT_ZLIB_STATIC NAMES libz.a)
  if(RECUT_ZLIB_STATIC)
    target_include_directories(recut_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
    target_link_libraries(recut_zlib INTERFACE "${RECUT_ZLIB_STATIC}")
  else()
    target_link_libraries(recut_zlib INTERFACE ZLIB::ZLIB)
  endif()
endif()
