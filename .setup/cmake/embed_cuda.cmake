# CUDA becomes part of a component as text. It is written in `.cuh` files, which tools format, read and compile. In a file of
# helpers a marker begins each piece that a text may have alone: `//: helper NAME` or `//: helper NAME uses OTHER...`.
# Tools need the includes before the first marker; the table has neither them nor the markers.

# recut_split_helpers(TEXT): appends to the caller's `rows` a row of the table for each helper of a file's text, and to
# `names` its name. `fault` is the fault of the text; "": none.
function(recut_split_helpers text)
  set(rest "\n${text}\n")
  set(fault "")
  string(FIND "${rest}" "\n//:" next)
  if(next EQUAL -1)
    set(fault "it has no helper")
  endif()
  while(next GREATER -1 AND NOT fault)
    math(EXPR begin "${next} + 1")
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    string(FIND "${rest}" "\n" end)
    string(SUBSTRING "${rest}" 0 ${end} marker)
    string(SUBSTRING "${rest}" ${end} -1 rest)
    string(FIND "${rest}" "\n//:" next)
    string(SUBSTRING "${rest}" 0 ${next} code)
    string(STRIP "${code}" code)
    recut_read_marker("${marker}")
    if(NOT fault AND code STREQUAL "")
      set(fault "${name} is empty")
    endif()
    list(APPEND names "${name}")
    string(APPEND rows "    {\"${name}\", \"${uses}\", R\"cuda(${code}\n)cuda\"},\n")
  endwhile()
  set(rows "${rows}" PARENT_SCOPE)
  set(names "${names}" PARENT_SCOPE)
  set(fault "${fault}" PARENT_SCOPE)
endfunction()

# recut_read_marker(LINE): sets the caller's `name`, and `uses`, with spaces between. `fault` says whether the line has
# another form, whether `names` has the name already, and whether `names` lacks a helper that is used.
function(recut_read_marker line)
  set(fault "")
  if(NOT line MATCHES "^//: helper ([A-Za-z0-9_]+)( uses(( [A-Za-z0-9_]+)+))?$")
    set(fault "`${line}` is no `//: helper NAME uses OTHER...`" PARENT_SCOPE)
    return()
  endif()
  set(name "${CMAKE_MATCH_1}")
  string(STRIP "${CMAKE_MATCH_3}" uses)
  if(name IN_LIST names)
    set(fault "there are two helpers ${name}")
  endif()
  string(REPLACE " " ";" others "${uses}")
  foreach(other IN LISTS others)
    if(NOT other IN_LIST names)
      set(fault "${name} uses ${other}, which doesn't stand before it")
    endif()
  endforeach()
  set(name "${name}" PARENT_SCOPE)
  set(uses "${uses}" PARENT_SCOPE)
  set(fault "${fault}" PARENT_SCOPE)
endfunction()

# recut_embed_helpers(COMPONENT FOLDER NAMES...): the helpers of a folder's files become the table that
# engine/codegen/cuda/helpers.h declares, in the order of NAMES. These have no folder and no ending.
function(recut_embed_helpers component folder)
  set(rows "")
  set(names "")
  foreach(file IN LISTS ARGN)
    set(path "${folder}/${file}.cuh")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    recut_split_helpers("${text}")
    if(fault)
      message(FATAL_ERROR "${path}: ${fault}")
    endif()
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*.cuh")
  list(TRANSFORM found REPLACE "\\.cuh$" "")
  list(REMOVE_ITEM found ${ARGN})
  if(found)
    message(FATAL_ERROR "${folder}: no place among the others is given to ${found}")
  endif()
  set(source "${CMAKE_BINARY_DIR}/generated/cuda_helpers.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Written by recut_embed_helpers from engine/codegen/cuda/device.
#include \"engine/codegen/cuda/helpers.h\"

namespace recut::cuda {
namespace {
constexpr Helper kHelpers[] = {
@rows@};
}  // namespace

std::span<const Helper> all_helpers() { return kHelpers; }

}  // namespace recut::cuda
")
  target_sources(${component} PRIVATE "${source}")
endfunction()

# recut_embed_kernels(COMPONENT PATH HEADER NAME): a whole file becomes the text NAME, which HEADER declares.
function(recut_embed_kernels component path header name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  get_filename_component(file "${path}" NAME_WE)
  file(READ "${path}" text)
  set(source "${CMAKE_BINARY_DIR}/generated/cuda_${file}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Written by recut_embed_kernels.
#include \"@header@\"

namespace recut::cuda {

const char* const @name@ = R\"cuda(@text@)cuda\";

}  // namespace recut::cuda
")
  target_sources(${component} PRIVATE "${source}")
endfunction()
