// How a kernel is divided into what threads share: stages, which run one after another, each a part
// of its iterations at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// A function of a target's code, [first, last) of whose iterations are run by a call.
struct Stage {
  std::string symbol;
  std::int64_t extent = 1;  // iterations; [first, last) is a part of 0 … extent
  std::int64_t grain = 1;   // first and last are multiples of it, or last is extent
  bool parallel = false;    // parts may run at once and in any order; else it is one part
  double work = 0;          // statements that all iterations go through, lanes abreast
};

// Less work than this is quicker on one thread: a core is through with it in some 30 µs, about the
// time to wake another thread and to wait for it. Where the other cores have work
// of their own, waiting takes a thousand times as long.
inline constexpr double kLeastSharedWork = 1 << 18;

// What such a function is written from: a loop behind the definitions that it shares with other
// stages, which each of them repeats. Without a loop: the statements alone, once.
struct StageCode {
  Block shared;
  const Loop* loop = nullptr;  // of the kernel
  std::uint32_t note = kNoNote;
};
std::vector<StageCode> stages_of(const Kernel& kernel);

// Its figures, yet without a symbol.
Stage stage_of(const Kernel& kernel, const StageCode& code);

// Whether neighbouring iterations of this body can be done at once, statement by statement: nothing
// that only some of them do, and nothing whose order matters.
bool fits_lanes(const Block& body);

}  // namespace recut::loop
