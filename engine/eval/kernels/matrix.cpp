#include "engine/eval/kernels/families.h"

namespace recut {

void add_matrix_kernels(KernelTable&) {}

}  // namespace recut
