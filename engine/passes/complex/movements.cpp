// Operators that move, select or create elements: one call a part.
#include "engine/ir/layout.h"
#include "engine/passes/complex/call_parts.h"

namespace recut::complex_parts {
namespace {

MaybeParts each(CallParts& c) { return c.of_each(); }

// A part may have other strides than the complex value had, so that only a copy has that shape.
MaybeParts reshaped(CallParts& c) {
  return of_tensors(c["self"], [&](const Value& part) { return c.b.view(part, c.out.shape); });
}

MaybeParts zeros(CallParts&) { return Parts{0.0, {}}; }
MaybeParts ones(CallParts&) { return Parts{1.0, {}}; }
MaybeParts filled_with_number(CallParts& c) {
  const Argument& given = c.call.argument("fill_value");
  const auto number = Scalar::from(given);
  if (!number) return std::nullopt;
  return Parts{number->real, {}};
}

// Operators that treat all elements alike, and don't depend on their values.
constexpr Op kOfEach[] = {Op::where_self,
                          Op::where_ScalarSelf,
                          Op::where_ScalarOther,
                          Op::where_Scalar,
                          Op::copy,
                          Op::fill_Scalar,
                          Op::fill_Tensor,
                          Op::gather,
                          Op::take_along_dim,
                          Op::take,
                          Op::put,
                          Op::scatter_src,
                          Op::scatter_value,
                          Op::scatter_add,
                          Op::index_Tensor,
                          Op::_unsafe_index_Tensor,
                          Op::index_put,
                          Op::_unsafe_index_put,
                          Op::_unsafe_masked_index,
                          Op::_unsafe_masked_index_put_accumulate,
                          Op::index_select,
                          Op::index_add,
                          Op::index_copy,
                          Op::index_fill_int_Scalar,
                          Op::index_fill_int_Tensor,
                          Op::masked_fill_Scalar,
                          Op::masked_fill_Tensor,
                          Op::masked_select,
                          Op::masked_scatter,
                          Op::cat,
                          Op::stack,
                          Op::constant_pad_nd,
                          Op::reflection_pad1d,
                          Op::reflection_pad2d,
                          Op::reflection_pad3d,
                          Op::replication_pad1d,
                          Op::replication_pad2d,
                          Op::replication_pad3d,
                          Op::reflection_pad1d_backward,
                          Op::reflection_pad2d_backward,
                          Op::reflection_pad3d_backward,
                          Op::replication_pad1d_backward,
                          Op::replication_pad2d_backward,
                          Op::replication_pad3d_backward,
                          Op::flip,
                          Op::prims_rev,
                          Op::roll,
                          Op::rot90,
                          Op::repeat,
                          Op::tile,
                          Op::repeat_interleave_self_int,
                          Op::repeat_interleave_self_Tensor,
                          Op::slice_scatter,
                          Op::select_scatter,
                          Op::diagonal_scatter,
                          Op::slice_backward,
                          Op::select_backward,
                          Op::diagonal_backward,
                          Op::unfold_backward,
                          Op::tril,
                          Op::triu,
                          Op::diag_embed,
                          Op::pixel_shuffle,
                          Op::pixel_unshuffle,
                          Op::channel_shuffle,
                          Op::native_channel_shuffle};

constexpr Op kZeros[] = {Op::zeros,      Op::_efficientzerotensor, Op::zeros_like,
                         Op::new_zeros,  Op::empty_memory_format,  Op::empty_strided,
                         Op::empty_like, Op::empty_permuted,       Op::new_empty,
                         Op::zero,       Op::new_empty_strided};

// These read storages, whose elements are pairs.
bool reads_layout(const Operator& op) {
  return op.is(kReadsStorage) || op.parameter("stride").has_value();
}

bool reshapes_in_order(const Operator& op) {
  return op.is(kView) && op.is(kKeepsOrder) && op.parameter("size").has_value() &&
         !op.parameter("implicit").has_value();
}

}  // namespace

void add_movements(PartRules& rules) {
  for (const Op op : kOfEach) rules.set(op, each);
  for (const Operator& op : all_operators())
    if (layout::rule_of(op.op) != nullptr && !reads_layout(op))
      rules.set(op.op, reshapes_in_order(op) ? reshaped : each);
  for (const Op op : kZeros) rules.set(op, zeros);
  for (const Op op : {Op::ones, Op::ones_like, Op::new_ones}) rules.set(op, ones);
  for (const Op op : {Op::full, Op::full_like, Op::new_full}) rules.set(op, filled_with_number);
  for (const Op op : {Op::eye, Op::eye_m, Op::scalar_tensor}) rules.set(op, each);
}

}  // namespace recut::complex_parts
