#include "engine/eval/kernels/families.h"

namespace recut {

void add_special_kernels(KernelTable&) {}

}  // namespace recut
