// The loop form as LLVM IR text, for the CPU's JIT compiler and for display. It names no target:
// vector widths are the loop form's lanes.
//
//   parallel %i in 0..1024 lanes 8      a function over a thread's range: a loop over
//   { ... }                             vectors of 8, and a scalar epilogue
//
// A function of the text has the C signature
//   void stage(void* const* buffers, int64_t first, int64_t last, int64_t seed, int64_t* fault);
// `buffers` in the kernel's order, each where its elements begin, none overlapping. Stages of a
// kernel run one after another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/stages.h"

namespace recut::llvm_ir {

struct Module {
  std::string text;
  std::vector<std::vector<loop::Stage>> kernels;  // by kernel
  // By line of the text: the source location in its kernel (loop/kernel.h); kUnknownLocation:
  // unknown.
  std::vector<std::uint32_t> locations;
  // Messages of runtime errors. If `*fault`, 0 before, is n after a run, the error is faults[n -
  // 1]: bad data, and the kernel's results are undefined.
  std::vector<std::string> faults;
};

// The kernels must be verified (loop/verifier.h).
Module emit(std::span<const loop::Kernel> kernels);

}  // namespace recut::llvm_ir
