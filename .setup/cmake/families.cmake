# recut_families(COMPONENT TEMPLATE FOLDER PATTERN): functions of one form, such as functions that add a family's rows to the
# table of operators, are listed by the build. TEMPLATE (a path without its ending .in) has a line with @name@, which
# stands in the file that is written once for each function that sources in FOLDER define. PATTERN matches the line that
# begins the definition, with the name in parentheses.
#
# The file is written, and compiled, again only if the names change. A header has to be named in
# tests/house/includes.py.
set(recut_families_script "${CMAKE_CURRENT_LIST_DIR}/write_families.cmake")
function(recut_families component template folder pattern)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  set(from "${PROJECT_SOURCE_DIR}/${template}.in")
  set(to "${CMAKE_BINARY_DIR}/generated/${template}")
  add_custom_command(
    OUTPUT "${to}"
    COMMAND "${CMAKE_COMMAND}" "-DFROM=${from}" "-DTO=${to}" "-DFOLDER=${PROJECT_SOURCE_DIR}/${folder}"
            "-DPATTERN=${pattern}" -P "${recut_families_script}"
    DEPENDS ${sources} "${from}" "${recut_families_script}" VERBATIM)
  target_sources(${component} PRIVATE "${to}")
  target_include_directories(${component} PRIVATE "${CMAKE_BINARY_DIR}/generated")
endfunction()
