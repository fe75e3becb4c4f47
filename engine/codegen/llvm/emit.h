// The loop form as LLVM IR text: what a processor's compiler takes, and what is shown of a kernel
// everywhere, also where nothing can run it. Names no target: widths are the loop form's lanes.
//
//   parallel %i in 0..1024 lanes 8      a function of the range that one thread takes, over
//   { ... }                             vectors of 8, and by single numbers what is left over
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
  // By line of the text: which of its kernel's notes it is from (loop/kernel.h); kNoNote: none.
  std::vector<std::uint32_t> notes;
  // What is wrong where `*fault`, 0 before, is n afterwards: faults[n - 1]. The data's fault; what
  // the kernel wrote is then of no use.
  std::vector<std::string> faults;
};

// Of sound kernels (loop/verifier.h).
Module emit(std::span<const loop::Kernel> kernels);

}  // namespace recut::llvm_ir
