# recut_onnx_proto: ONNX's own description of its format (libonnx-dev's onnx.proto), of which protoc makes C++ as the
# build runs, with protobuf's lite runtime: no reflection. On the desktop it is Debian's, linked statically where there is
# such a library, so that the command needs no library of its own to be installed; for a page it is compiled from the
# source of the same version that install.sh unpacked.
find_program(RECUT_PROTOC protoc)
find_path(RECUT_onnx_proto_DIR onnx/onnx.proto PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH)
if(NOT RECUT_PROTOC OR NOT RECUT_onnx_proto_DIR)
  message(FATAL_ERROR "protoc or ONNX's onnx.proto are missing; run .setup/install.sh first.")
endif()

set(out "${CMAKE_BINARY_DIR}/generated/onnx_proto/onnx")
file(MAKE_DIRECTORY "${out}")
add_custom_command(
  OUTPUT "${out}/onnx.pb.cc" "${out}/onnx.pb.h"
  COMMAND "${RECUT_PROTOC}" "--proto_path=${RECUT_onnx_proto_DIR}/onnx" "--cpp_out=lite:${out}" onnx.proto
  DEPENDS "${RECUT_onnx_proto_DIR}/onnx/onnx.proto" VERBATIM)
add_library(recut_onnx_proto STATIC "${out}/onnx.pb.cc" "${out}/onnx.pb.h")
target_include_directories(recut_onnx_proto SYSTEM PUBLIC "${CMAKE_BINARY_DIR}/generated/onnx_proto")
target_compile_options(recut_onnx_proto PRIVATE -w)

if(EMSCRIPTEN)
  set(protobuf_source "${RECUT_SOURCES}/protobuf-3.21.12/src")
  if(NOT EXISTS "${protobuf_source}/google/protobuf/message_lite.h")
    message(FATAL_ERROR "protobuf's source is missing at ${protobuf_source}; run .setup/install.sh --page first.")
  endif()
  # Its own list of the lite runtime's sources, from a file that says more than that.
  file(STRINGS "${protobuf_source}/../cmake/libprotobuf-lite.cmake" lines REGEX "google/protobuf/.*\\.cc$")
  string(REGEX MATCHALL "google/protobuf/[a-z0-9_/]+\\.cc" lite "${lines}")
  list(TRANSFORM lite PREPEND "${protobuf_source}/")
  add_library(recut_protobuf_lite STATIC EXCLUDE_FROM_ALL ${lite})
  target_include_directories(recut_protobuf_lite SYSTEM PUBLIC "${protobuf_source}")
  target_compile_options(recut_protobuf_lite PRIVATE -w -Os)
  set_target_properties(recut_protobuf_lite PROPERTIES UNITY_BUILD OFF)
  target_compile_options(recut_onnx_proto PRIVATE -Os)
  target_link_libraries(recut_onnx_proto PUBLIC recut_protobuf_lite)
else()
  find_path(RECUT_protobuf_DIR google/protobuf/message_lite.h)
  find_library(RECUT_protobuf_lite NAMES libprotobuf-lite.a protobuf-lite)
  if(NOT RECUT_protobuf_DIR OR NOT RECUT_protobuf_lite)
    message(FATAL_ERROR "protobuf is missing; run .setup/install.sh first.")
  endif()
  find_package(Threads REQUIRED)
  target_link_libraries(recut_onnx_proto PUBLIC "${RECUT_protobuf_lite}" Threads::Threads)
endif()
