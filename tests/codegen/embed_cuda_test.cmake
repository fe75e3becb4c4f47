# cmake -P embed_cuda_test.cmake: how the build divides CUDA into helpers, and what it says of files that it can't take.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../.setup/cmake/embed_cuda.cmake")
set(failed 0)

function(check what found wanted)
  if(NOT found STREQUAL wanted)
    message("${what}:\n  found  ${found}\n  wanted ${wanted}")
    math(EXPR failed "${failed} + 1")
    set(failed ${failed} PARENT_SCOPE)
  endif()
endfunction()

# Brackets, semicolons, backslashes and what CMake would replace stay as they are.
set(rows "")
set(names "")
recut_split_helpers([[
// What it is about.
#pragma once

//: helper first
// A [line]; "\n" \
int first(int a[2]) { return a[0]; }  // ${none} @none@

//: helper second uses first
int second();

int third();
]])
check("no fault" "${fault}" "")
check("names" "${names}" "first;second")
check("rows" "${rows}" [[
    {"first", "", R"cuda(// A [line]; "\n" \
int first(int a[2]) { return a[0]; }  // ${none} @none@
)cuda"},
    {"second", "first", R"cuda(int second();

int third();
)cuda"},
]])

# What is in a file before this one may be used.
recut_split_helpers("//: helper fourth uses second first\nint fourth();")
check("another file" "${fault}" "")
check("all names" "${names}" "first;second;fourth")

function(check_fault text wanted)
  set(rows "")
  set(names "before")
  recut_split_helpers("${text}")
  check("of \"${text}\"" "${fault}" "${wanted}")
  set(failed ${failed} PARENT_SCOPE)
endfunction()

check_fault("int a();\n" "it has no helper")
check_fault("//: helper a\n\n//: helper b\nint b();\n" "a is empty")
check_fault("//: helper a\nint a();\n//: helper a\nint b();\n" "there are two helpers a")
check_fault("//: helper before\nint before();\n" "there are two helpers before")
check_fault("//: helper a uses b\nint a();\n//: helper b\nint b();\n"
            "a uses b, which doesn't stand before it")
check_fault("//: helper a uses a\nint a();\n" "a uses a, which doesn't stand before it")
check_fault("//: helper a uses before none\nint a();\n" "a uses none, which doesn't stand before it")
foreach(line "//: helper" "//: helper a b" "//: helper a uses" "//: helper a, uses before" "//: helped a" "//:helper a")
  check_fault("${line}\nint a();\n" "`${line}` is no `//: helper NAME uses OTHER...`")
endforeach()

if(failed)
  message(FATAL_ERROR "${failed} failed")
endif()
