// Each family adds its kernels to the table; kernel_table() calls them all.
#pragma once

#include "engine/eval/kernel.h"

namespace recut {

void add_pointwise_kernels(KernelTable& table);
void add_special_kernels(KernelTable& table);
void add_creation_kernels(KernelTable& table);
void add_reduction_kernels(KernelTable& table);
void add_view_kernels(KernelTable& table);
void add_indexing_kernels(KernelTable& table);
void add_matrix_kernels(KernelTable& table);
void add_nn_kernels(KernelTable& table);
void add_linear_algebra_kernels(KernelTable& table);
void add_quantization_kernels(KernelTable& table);

// Parts of families, called by the family's function.
void add_distance_kernels(KernelTable& table);
void add_convolution_kernels(KernelTable& table);
void add_pooling_kernels(KernelTable& table);
void add_adaptive_pooling_kernels(KernelTable& table);
void add_attention_kernels(KernelTable& table);
void add_attention_backward_kernels(KernelTable& table);
void add_recurrent_kernels(KernelTable& table);
void add_movement_kernels(KernelTable& table);
void add_plane_kernels(KernelTable& table);
void add_part_scatter_kernels(KernelTable& table);
void add_gather_scatter_kernels(KernelTable& table);
void add_index_kernels(KernelTable& table);
void add_index_dimension_kernels(KernelTable& table);
void add_embedding_kernels(KernelTable& table);
void add_mask_kernels(KernelTable& table);
void add_resample_kernels(KernelTable& table);
void add_grid_sampler_kernels(KernelTable& table);
void add_segment_kernels(KernelTable& table);
void add_histogramdd_kernels(KernelTable& table);
void add_softmax_kernels(KernelTable& table);
void add_normalisation_kernels(KernelTable& table);
void add_loss_kernels(KernelTable& table);
void add_gate_kernels(KernelTable& table);
void add_class_loss_kernels(KernelTable& table);
void add_lu_kernels(KernelTable& table);
void add_cholesky_kernels(KernelTable& table);
void add_qr_kernels(KernelTable& table);
void add_ldl_kernels(KernelTable& table);
void add_spectral_kernels(KernelTable& table);
void add_matrix_function_kernels(KernelTable& table);

}  // namespace recut
