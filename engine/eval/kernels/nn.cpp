#include "engine/eval/kernels/families.h"

namespace recut {

void add_nn_kernels(KernelTable&) {}

}  // namespace recut
