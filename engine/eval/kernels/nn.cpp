// The nn family: one file a subject.
#include "engine/eval/kernels/families.h"

namespace recut {

void add_nn_kernels(KernelTable& t) {
  add_convolution_kernels(t);
  add_pooling_kernels(t);
  add_attention_kernels(t);
  add_recurrent_kernels(t);
  add_resample_kernels(t);
  add_grid_sampler_kernels(t);
  add_segment_kernels(t);
  add_histogramdd_kernels(t);
  add_softmax_kernels(t);
  add_normalisation_kernels(t);
  add_loss_kernels(t);
  add_gate_kernels(t);
}

}  // namespace recut
