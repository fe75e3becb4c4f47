#include "engine/eval/kernels/families.h"

namespace recut {

void add_creation_kernels(KernelTable&) {}

}  // namespace recut
