# The linker: mold or lld where one is there, which link the command with all of LLVM in a second
# (GNU's takes five). Emscripten has its own.
if(NOT EMSCRIPTEN)
  find_program(RECUT_MOLD mold)
  find_program(RECUT_LLD ld.lld)
  if(RECUT_MOLD)
    add_link_options(-fuse-ld=mold)
  elseif(RECUT_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
