# LLVM 19, linked statically, so that the command runs where no LLVM is installed.
find_program(RECUT_LLVM_CONFIG llvm-config-19)
if(NOT RECUT_LLVM_CONFIG)
  message(FATAL_ERROR "LLVM 19 is missing; run .setup/install.sh first.")
endif()
function(recut_llvm result)
  execute_process(COMMAND "${RECUT_LLVM_CONFIG}" --link-static ${ARGN} OUTPUT_VARIABLE words
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

# recut_use_llvm(TARGET COMPONENTS...): its headers, and these parts of it.
function(recut_use_llvm target)
  recut_llvm(headers --includedir)
  recut_llvm(libraries --libfiles ${ARGN})
  recut_llvm(needs --system-libs)
  target_include_directories(${target} SYSTEM PRIVATE "${headers}")
  target_link_libraries(${target} PRIVATE ${libraries} ${needs})
endfunction()
