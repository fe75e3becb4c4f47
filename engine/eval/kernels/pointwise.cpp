#include "engine/eval/kernels/families.h"

namespace recut {

void add_pointwise_kernels(KernelTable&) {}

}  // namespace recut
