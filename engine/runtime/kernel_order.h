// Kernels in an order that no plan has a part in: plans of one graph launch the same kernels in
// different orders, and share compiled code where its text is the same.
#pragma once

#include <vector>

#include "engine/runtime/program.h"

namespace recut {

// Brings the program's kernels into that order, and gives them without their names.
std::vector<loop::Kernel> order_kernels(Program& program);

}  // namespace recut
