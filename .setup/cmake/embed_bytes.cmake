# recut_embed_bytes(COMPONENT NAME FILES...): the bytes of files become part of a library, as a table that
# gui/embedded.h describes: `std::span<const EmbeddedFile> NAME()`. They are turned into C++ when the build runs,
# and again where a file is newer. Names have no folder, unless RECUT_EMBED_ROOT names the folder that they are under.
function(recut_embed_bytes component name)
  set(source "${CMAKE_BINARY_DIR}/generated/${name}.cpp")
  set(writer "${PROJECT_SOURCE_DIR}/.setup/cmake/write_bytes.cmake")
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${source}" "-DNAME=${name}" "-DFILES=${files}" "-DROOT=${RECUT_EMBED_ROOT}"
            -P "${writer}"
    DEPENDS ${ARGN} "${writer}" VERBATIM)
  target_sources(${component} PRIVATE "${source}")
  # Long tables: compiled beside the sources, not in front of them.
  set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
