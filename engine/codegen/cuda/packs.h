// Neighbouring iterations of one thread, whose loads and stores are of several elements at once.
#pragma once

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

// How an index goes on from one iteration of a pack to the next.
enum class Step : std::uint8_t { same, next, other };
// `loop`: the one whose neighbouring iterations make packs of `size`. `next` says as well that the
// place of the first is a multiple of it. `body`: values that it defines may be anything.
Step step_of(const loop::Index& index, loop::LoopId loop, std::int64_t size,
             const loop::Block& body);

inline constexpr int kMostOfPack = 8;

// How many iterations a thread may take where all that is stored, and all that is loaded and isn't
// the same for all of them, are neighbours from a multiple of as many on; 1: no more than one.
int pack_size(const loop::Kernel& kernel, const Nest& nest);
// How many loads of a body are of neighbours in neighbouring iterations of the loop.
int loads_of_neighbours(const loop::Block& body, loop::LoopId loop);
// Whether it may take so many of a nest that may store nothing, and whose last loop they divide.
bool fits_pack(const loop::Kernel& kernel, const Nest& nest, std::int64_t size);

}  // namespace recut::cuda
