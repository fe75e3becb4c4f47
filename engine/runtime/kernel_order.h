// Kernels in an order that no plan has a part in: plans of one graph launch the same kernels in
// different orders, and share compiled code where its text is the same.
#pragma once

#include "engine/runtime/program.h"

namespace recut {

// Brings the program's kernels, and its library's, into that order.
void order_kernels(Program& program);

// Copies of kernels without names and notes, which no compiled code depends on.
template <class Kernel>
std::vector<Kernel> without_names(const std::vector<Kernel>& kernels) {
  std::vector<Kernel> unnamed;
  for (const Kernel& kernel : kernels) unnamed.push_back(without_names(kernel));
  return unnamed;
}

}  // namespace recut
