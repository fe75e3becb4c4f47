// The processors that kept kernels are compiled for: levels of an architecture, so that a kernel
// runs on each machine that has the level, and a machine that lacks it can tell.
#pragma once

#include <span>
#include <string_view>

namespace recut::operators {

// LLVM's names, lowest first. The default is the one that `recut compile` has.
std::span<const std::string_view> processor_levels();
std::string_view default_processor();

// True if this machine has that level; false for any other name.
bool runs_here(std::string_view processor);

}  // namespace recut::operators
