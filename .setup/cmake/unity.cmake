# Unity builds: sources of one target are compiled a dozen at a time, for most of a source's time goes
# into the headers that all of them include. Names in anonymous namespaces are therefore one name a
# target; tests/house/check.py reports two equal ones. The sanitizers' and Emscripten's builds, which aren't
# for editing, take five dozen at a time (CMakePresets.json): most targets whole.
set(CMAKE_UNITY_BUILD ON)
set(RECUT_UNITY_BATCH 12 CACHE STRING "Sources that are compiled together")
set(CMAKE_UNITY_BUILD_BATCH_SIZE ${RECUT_UNITY_BATCH})

# recut_unity_by_folder(TARGET SIZE): no source is compiled together with one of another folder, or with
# more than SIZE others, so that names are one name a folder and a change recompiles little.
function(recut_unity_by_folder target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(last "")
  set(count 0)
  foreach(file IN LISTS sources)
    get_filename_component(folder "${file}" DIRECTORY)
    if(NOT folder STREQUAL last)
      set(last "${folder}")
      set(count 0)
    endif()
    math(EXPR part "${count} / ${size}")
    math(EXPR count "${count} + 1")
    get_filename_component(name "${folder}" NAME)
    set_source_files_properties("${file}" PROPERTIES UNITY_GROUP "${name}_${part}")
  endforeach()
endfunction()
