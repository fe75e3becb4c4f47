#include "engine/eval/kernels/pointwise.h"

#include "engine/eval/kernels/families.h"

namespace recut {

void add_pointwise_kernels(KernelTable& table) {
  add_arithmetic_kernels(table);
  add_power_kernels(table);
  add_rounding_kernels(table);
  add_elementary_kernels(table);
  add_comparison_kernels(table);
  add_selection_kernels(table);
  add_bit_kernels(table);
  add_copy_kernels(table);
  add_activation_kernels(table);
  add_activation_gradient_kernels(table);
}

}  // namespace recut
