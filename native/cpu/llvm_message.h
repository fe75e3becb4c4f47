// LLVM's messages as our strings; LLVM's memory is freed.
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>

#include <string>

namespace recut::cpu {

inline std::string take_message(char* message) {
  std::string text = message != nullptr ? message : "";
  LLVMDisposeMessage(message);
  return text;
}

inline std::string take_message(LLVMErrorRef fault) {
  char* message = LLVMGetErrorMessage(fault);
  std::string text = message;
  LLVMDisposeErrorMessage(message);
  return text;
}

}  // namespace recut::cpu
