// A canonical order of a program's kernels, independent of the plan. Plans of one graph launch the
// same kernels in different orders, and share compiled code if its text is the same.
#pragma once

#include "engine/runtime/program.h"

namespace recut {

// Sorts the program's kernels and library kernels, and renumbers its launches.
void order_kernels(Program& program);

// Copies of kernels without names and source locations, on which no compiled code depends.
template <class Kernel>
std::vector<Kernel> strip_names(const std::vector<Kernel>& kernels) {
  std::vector<Kernel> unnamed;
  for (const Kernel& kernel : kernels) unnamed.push_back(strip_names(kernel));
  return unnamed;
}

}  // namespace recut
