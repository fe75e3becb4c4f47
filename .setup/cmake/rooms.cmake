# recut_room(NAME FOLDER [ROOMS...]): the sources under FOLDER are one static
# library NAME which sees the named rooms, and whatever those see.
#
# Which headers of another room may be included is not CMake's matter;
# tests/house/check.py watches that.
function(recut_room name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "(^|/|_)main\\.cpp$")
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
