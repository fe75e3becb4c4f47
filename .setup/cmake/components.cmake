# recut_library(NAME SOURCES... SEES COMPONENTS...): a static library of ours, which sees the named components, and
# all that these see.
function(recut_library name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" "" "SEES")
  if(its_UNPARSED_ARGUMENTS)
    add_library(${name} STATIC ${its_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE recut_warnings)
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} ${scope} ${its_SEES} recut_headers)
endfunction()

# recut_component(NAME FOLDER [COMPONENTS...] [EXCEPT SOURCES...]): the sources under FOLDER are one library NAME.
# Folders below with a CMakeLists.txt of their own are left out.
#
# tests/house/check.py, not CMake, checks that only public headers of other components are included.
function(recut_component name folder)
  cmake_parse_arguments(PARSE_ARGV 2 its "" "" "EXCEPT")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "(^|/|_)main\\.cpp$")
  file(GLOB_RECURSE others RELATIVE "${folder}" "${folder}/*/CMakeLists.txt")
  foreach(other IN LISTS others)
    get_filename_component(other "${other}" DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/${other}/")
  endforeach()
  list(REMOVE_ITEM sources "" ${its_EXCEPT})
  recut_library(${name} ${sources} SEES ${its_UNPARSED_ARGUMENTS})
endfunction()
