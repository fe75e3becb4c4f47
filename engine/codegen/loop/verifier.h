// Verifies a kernel. A sound kernel satisfies all of:
//
//   names     Each value, loop variable and accumulator is defined by one statement, and used only
//             after it and inside of its block (a loop variable: inside of its loop).
//   types     Values have value types (scalar.h); loads and stores use the buffer's value type;
//             operators fit their signatures; indices are of i64 values; conditions are bools.
//   buffers   A read-only buffer isn't stored to; a write-only one isn't loaded from, nor combined
//             into. Scratch comes after the caller's buffers, and is used inside of outermost loops
//             without lanes, in each at most kMaxScratchBytes.
//   bounds    Every load and store stays within its buffer, by the extents of loops and by checks.
//             Under a condition, the interval only has to overlap the buffer.
//   lanes     A power of two, at most kMaxLanes, and not inside of each other. An accumulator is
//             updated in a loop of as many lanes as it has (one without lanes, in none), and not
//             across iterations of a parallel loop.
//   reading   An accumulator isn't read where it is still being updated: not inside of a loop or
//             branch that also updates it.
//   races     No two iterations of a parallel loop, or lanes of one loop, store to one element, as
//             far as indices show: each store depends on the variable, and not only through loaded
//             indices, unless it combines integers, where any order gives the same bits. Scratch is
//             private to an iteration of an outermost loop.
#pragma once

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

// All diagnostics; empty for a sound kernel. Messages use the names that print() gives.
Diagnostics verify(const Kernel& kernel);

}  // namespace recut::loop
