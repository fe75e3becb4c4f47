#include "engine/eval/kernels/families.h"

namespace recut {

void add_linear_algebra_kernels(KernelTable&) {}

}  // namespace recut
