// Division of a kernel into stages. Stages run one after another; the iterations of a stage are
// divided among threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// A function of a target's code. A call runs the iterations [first, last).
struct Stage {
  std::string symbol;
  std::int64_t extent = 1;  // iterations; [first, last) is a part of 0 … extent
  std::int64_t grain = 1;   // first and last are multiples of it, or last is extent
  bool parallel = false;    // parts may run at once and in any order; else it is one part
  double work = 0;          // statements executed by all iterations, vectors counted once
};

// Less work than this is faster on one thread: a core does it in about 30 µs, which is the time to
// wake another thread and to wait for it. If the other cores are busy, waiting takes a thousand
// times as long.
inline constexpr double kMinParallelWork = 1 << 18;

// The source of such a function: a loop, preceded by definitions that all stages need and that each
// of them rematerializes. Without a loop: straight-line statements, executed once.
struct StageCode {
  Block shared;
  const Loop* loop = nullptr;  // of the kernel
  std::uint32_t location = kUnknownLocation;
};
std::vector<StageCode> stages_of(const Kernel& kernel);

// The stage's numbers; the symbol is left empty.
Stage stage_of(const Kernel& kernel, const StageCode& code);

// True if the body can run as vectors over neighbouring iterations: no control flow that differs
// between them, and no stores whose order matters.
bool is_vectorizable(const Block& body);

}  // namespace recut::loop
