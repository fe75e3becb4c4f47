#include "engine/eval/kernels/families.h"

namespace recut {

void add_indexing_kernels(KernelTable&) {}

}  // namespace recut
