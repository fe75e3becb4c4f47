#pragma once

#include "engine/eval/kernel.h"

namespace recut {

void add_random_kernels(KernelTable& table);

}  // namespace recut
