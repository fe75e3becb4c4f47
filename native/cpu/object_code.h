// LLVM IR text to object code (LLVM 19, linked in): parsed, verified, optimised and compiled for a
// processor. No LLVM type shows outside. The object holds no address of this process: it can be
// kept in a file and linked, or loaded by another process (jit.h).
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::cpu {

struct Target {
  std::string triple, processor, features;  // LLVM's names
};

// This machine, with all features of its processor.
Target this_machine();

// A processor by LLVM's name ("x86-64-v3"), with this machine's system. Fails where LLVM knows no
// such processor.
Result<Target> processor_target(const std::string& name);

// LLVM's version: "19.1.7".
std::string llvm_version();

// Fails where the text is no LLVM IR (Recut's own fault: the message is LLVM's), and where LLVM has
// no code for the processor.
Result<std::string> compile_object(std::string_view text, const Target& target);

}  // namespace recut::cpu
