#include "engine/eval/kernels/families.h"

namespace recut {

void add_view_kernels(KernelTable&) {}

}  // namespace recut
