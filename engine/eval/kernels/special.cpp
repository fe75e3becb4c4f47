#include "engine/eval/kernels/special.h"

#include "engine/eval/kernels/families.h"

namespace recut {

void add_special_kernels(KernelTable& table) {
  add_error_function_kernels(table);
  add_gamma_kernels(table);
  add_incomplete_gamma_kernels(table);
  add_bessel_kernels(table);
  add_modified_bessel_kernels(table);
  add_polynomial_kernels(table);
}

}  // namespace recut
