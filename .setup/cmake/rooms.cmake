# recut_room(NAME FOLDER [ROOMS...]): the sources under FOLDER are one static
# library NAME which sees the named rooms, and whatever those see. A folder below
# that has a CMakeLists.txt of its own is none of its business.
#
# Which headers of another room may be included is not CMake's matter;
# tests/house/check.py watches that.
function(recut_room name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "(^|/|_)main\\.cpp$")
  file(GLOB_RECURSE others RELATIVE "${folder}" "${folder}/*/CMakeLists.txt")
  foreach(other IN LISTS others)
    get_filename_component(other "${other}" DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/${other}/")
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PRIVATE recut_warnings)
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} ${scope} ${ARGN} recut_headers)
endfunction()
