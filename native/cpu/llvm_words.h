// LLVM's messages as our strings; LLVM's memory is freed.
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>

#include <string>

namespace recut::cpu {

inline std::string taken(char* words) {
  std::string text = words != nullptr ? words : "";
  LLVMDisposeMessage(words);
  return text;
}

inline std::string taken(LLVMErrorRef fault) {
  char* words = LLVMGetErrorMessage(fault);
  std::string text = words;
  LLVMDisposeErrorMessage(words);
  return text;
}

}  // namespace recut::cpu
