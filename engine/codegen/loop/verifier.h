// Whether a kernel is sound. What holds of every sound kernel:
//
//   names     Every value, loop variable and accumulator belongs to one statement, and is used
//   after
//             it inside of its block (a loop variable: inside of its loop).
//   types     Values have value types (scalar.h); loads give and stores take the buffer's value
//   type;
//             operators fit their signatures; indices are of i64 values; conditions are bools.
//   buffers   What is read only isn't stored to, and what is written only isn't loaded from, nor
//             combined into. Scratch stands behind the buffers that the caller brings, and is used
//             inside of outermost loops without lanes, in each at most kMostScratchBytes.
//   bounds    Every load and store stays within its buffer, by the extents of loops and by checks.
//             Of what happens under a condition this asks only that it could be within.
//   lanes     A power of two, at most kMostLanes, and not inside of each other. An accumulator is
//             updated in a loop of as many lanes as it has (one without lanes, in none), and not
//             across iterations of a parallel loop.
//   reading   An accumulator isn't read where it is still being updated: not inside of a loop or
//             branch that also updates it.
//   races     No two iterations of a parallel loop, or lanes of one loop, store to one place, as
//   far
//             as indices tell: each store depends on the variable, and not on loaded indices,
//             unless it combines in a way that any order gives the same bits. Iterations of an
//             outermost loop don't meet in scratch.
#pragma once

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

// All faults; none of a sound kernel. Messages name what they are about as print() does.
Diagnostics verify(const Kernel& kernel);

}  // namespace recut::loop
