#include "engine/codegen/lower/nest.h"

namespace recut::loop {

const NestRow& nest_row(Op op) {
  static const std::vector<NestRow> table = [] {
    NestTable rows;
    add_reduction_nests(rows);
    add_softmax_nests(rows);
    add_normalisation_nests(rows);
    add_movement_nests(rows);
    add_scatter_nests(rows);
    add_scan_nests(rows);
    add_loss_nests(rows);
    add_matrix_nests(rows);
    add_convolution_nests(rows);
    add_pooling_nests(rows);
    add_average_pooling_nests(rows);
    add_elementwise_loss_nests(rows);
    add_sort_nests(rows);
    add_membership_nests(rows);
    add_distance_nests(rows);
    add_product_nests(rows);
    add_meeting_nests(rows);
    add_edge_nests(rows);
    add_resample_nests(rows);
    add_recurrent_nests(rows);
    add_attention_nests(rows);
    add_lu_nests(rows);
    add_triangular_nests(rows);
    add_householder_nests(rows);
    add_ldl_nests(rows);
    add_spectral_nests(rows);
    add_matrix_function_nests(rows);
    add_least_squares_nests(rows);
    add_trilinear_nests(rows);
    add_polynomial_nests(rows);
    add_incomplete_gamma_nests(rows);
    add_embedding_bag_nests(rows);
    add_column_nests(rows);
    add_mask_nests(rows);
    add_segment_nests(rows);
    add_margin_loss_nests(rows);
    add_divisor_nests(rows);
    add_histogram_nests(rows);
    add_fractional_pooling_nests(rows);
    add_draw_nests(rows);
    add_grid_sampler_nests(rows);
    add_antialiased_resample_nests(rows);
    std::vector<NestRow> by_op(all_operators().size());
    for (const NestRow& row : rows) by_op[static_cast<std::size_t>(row.op)] = row;
    return by_op;
  }();
  return table[static_cast<std::size_t>(op)];
}

Index Nest::checked_index(Lowering& lowering, const Quantity& raw, std::int64_t size,
                          bool from_end) {
  Quantity index = raw.to(DType::i64);
  if (from_end) {
    const Quantity end = Quantity::constant(index.builder(), DType::i64, size);
    index = select(index < 0.0, index + end, index);
  }
  return lowering.builder().check(index.id(), size);
}

Indices broadcast_place(const Indices& at, const Shape& shape) {
  Indices place(at.end() - static_cast<std::ptrdiff_t>(shape.size()), at.end());
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) place[d] = 0;
  return place;
}

Indices folded_place(const Indices& at, const std::vector<bool>& folded, std::size_t rank) {
  Indices place;
  for (std::size_t d = 0; d < at.size(); ++d)
    if (!folded[d] || rank == at.size()) place.push_back(folded[d] ? Index(0) : at[d]);
  return place;
}

void write_zeros(const Nest& nest) {
  const Layout whole = made_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at,
                        nest.lowering.constant(value_type(nest.type().dtype), 0));
  });
}

}  // namespace recut::loop
