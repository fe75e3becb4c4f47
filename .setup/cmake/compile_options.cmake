# Compile options of every target, on every platform.
#
# Results must be the same bits everywhere (a plan made in the browser is the
# plan made on the server), so floating point keeps the language's meaning:
# no -ffast-math, and no contraction of a*b+c into an fma where the machine has
# one. errno is nothing that Recut reads, so libm may skip it.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_compile_options(-ffp-contract=off -fno-math-errno)

# Our CHECKs stay on in release; -O2 rather than -O3 halves the time to build
# and costs nothing measurable outside the interpreter.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# The sanitizers' build is compiled more often than its code runs; engine/CMakeLists.txt says which
# components are worth optimising in it.
set(CMAKE_CXX_FLAGS_SANITIZE "-O0 -g1 -fno-omit-frame-pointer")

# gcc collects its garbage from an eighth of the memory on, 128 MB at most; with 1 GB before it does, a
# unit compiles 5 to 8 % faster.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000" "SHELL:--param ggc-min-expand=300")
endif()

# recut_compiled_quickly(TARGET): interactive code, whose speed less optimisation doesn't change noticeably.
function(recut_compiled_quickly target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT EMSCRIPTEN)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Only Recut's own targets get these (recut_warnings is linked to each of them).
add_library(recut_warnings INTERFACE)
target_compile_options(recut_warnings INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports these inside libstdc++'s own std::string, std::vector and std::variant.
  target_compile_options(recut_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized)
  # And this one of a source's own types, since it takes included sources for headers.
  target_compile_options(recut_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(RECUT_WERROR)
  target_compile_options(recut_warnings INTERFACE -Werror)
endif()

if(EMSCRIPTEN)
  # Exceptions cross no interface of ours, but the JSON library throws inside input.
  add_compile_options(-fwasm-exceptions)
  add_link_options(-fwasm-exceptions)
  # No code uses RTTI, and its type names would be a part of the page's download.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

if(RECUT_SANITIZE)
  add_compile_options(-fsanitize=${RECUT_SANITIZE} -fno-sanitize-recover=all)
  # A quarter of the time to compile went into asking each pointer whether it is null or misaligned.
  # AddressSanitizer reports the use of a null pointer, and only a cast of bytes makes a misaligned one:
  # native/CMakeLists.txt, where such casts stand, asks again.
  add_compile_options(-fno-sanitize=null,alignment)
  add_link_options(-fsanitize=${RECUT_SANITIZE})
endif()

# Paths inside the checkout are compiled relative to it, so that a binary doesn't depend on its checkout.
# Debuggers started elsewhere need absolute paths, so the preset `debug` keeps them.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()

# ccache hashes them relative to it, too, so that every clone and worktree of one user shares one cache.
find_program(RECUT_CCACHE ccache)
if(RECUT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${RECUT_CCACHE})
endif()
