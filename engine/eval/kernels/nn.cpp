// The nn family: one file a subject.
#include "engine/eval/kernels/families.h"

namespace recut {

void add_nn_kernels(KernelTable& t) {
  add_convolution_kernels(t);
  add_pooling_kernels(t);
  add_attention_kernels(t);
  add_recurrent_kernels(t);
}

}  // namespace recut
