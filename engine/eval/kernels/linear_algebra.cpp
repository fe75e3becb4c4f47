// The linear algebra family: one file a factorisation.
#include "engine/eval/kernels/families.h"

namespace recut {

void add_linear_algebra_kernels(KernelTable& t) {
  add_lu_kernels(t);
  add_cholesky_kernels(t);
  add_qr_kernels(t);
  add_ldl_kernels(t);
  add_spectral_kernels(t);
  add_matrix_function_kernels(t);
}

}  // namespace recut
