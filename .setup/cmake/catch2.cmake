# Catch2 from the source that install.sh unpacked: Debian 12 carries only its
# second version. All of it is compiled in a few large files, a third of the time.
set(catch2_source "${RECUT_SOURCES}/catch2-3.7.1")
if(NOT EXISTS "${catch2_source}/CMakeLists.txt")
  message(FATAL_ERROR "Catch2's source is missing at ${catch2_source}; run .setup/install.sh first.")
endif()
set(unity_batch ${CMAKE_UNITY_BUILD_BATCH_SIZE})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
add_subdirectory("${catch2_source}" "${CMAKE_BINARY_DIR}/catch2" EXCLUDE_FROM_ALL SYSTEM)
set(CMAKE_UNITY_BUILD_BATCH_SIZE ${unity_batch})
