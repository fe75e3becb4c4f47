// Views: the operand's storage under the layout that engine/ir/layout.h computes. Operators that
// copy by definition have the same kernels; the evaluator copies for them.
#include <fmt/core.h>

#include "engine/eval/kernel.h"
#include "engine/ir/layout.h"
#include "engine/support/check.h"

namespace recut {
namespace {

// The elements in row-major order in a storage of their own. Bytes are moved, not values, so that
// every bit of a NaN arrives.
Tensor contiguous_copy(const Tensor& tensor) {
  Tensor copy = allocate(make_type(tensor.dtype, tensor.shape), nullptr);
  const std::int64_t item = item_bytes(tensor.dtype);
  std::vector<std::int64_t> position(tensor.shape.size(), 0);
  std::int64_t offset = tensor.offset;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::byte* from = tensor.storage->data() + offset * item;
    std::copy(from, from + item, copy.storage->data() + i * item);
    for (std::size_t d = position.size(); d-- > 0;) {
      offset += tensor.strides[d];
      if (++position[d] < tensor.shape[d]) break;
      offset -= tensor.strides[d] * tensor.shape[d];
      position[d] = 0;
    }
  }
  return copy;
}

Result<Tensor> under_layout(const Call& call, const Tensor& self, Result<Layout> layout) {
  if (!layout) return layout.diagnostics();
  const Tensor base = layout->copied ? contiguous_copy(self) : self;
  const std::int64_t elements = base.storage->size() / item_bytes(base.dtype);
  if (!layout::is_within(*layout, elements))
    return error(
        fmt::format("{}: shape {} with strides {} from {} reaches outside a storage of {} "
                    "elements",
                    call.op().name, format_shape(layout->shape), format_shape(layout->strides),
                    layout->offset, elements));
  return Tensor{base.dtype, std::move(layout->shape), std::move(layout->strides), layout->offset,
                base.storage};
}

template <layout::Rule rule>
Result<Tensor> view(const Call& call, const Tensor& self, const TensorType&, std::size_t index) {
  return under_layout(call, self,
                      rule(call, Layout{self.shape, self.strides, self.offset, false},
                           static_cast<std::int64_t>(index)));
}

Result<Tensor> view_dtype(const Call&, const Tensor& self, const TensorType& output, std::size_t) {
  const bool same_size = item_bytes(self.dtype) == item_bytes(output.dtype);
  Tensor view = same_size ? self : contiguous_copy(self);
  view.dtype = output.dtype;
  if (same_size) return view;
  view.shape = output.shape;
  view.strides = contiguous_strides(view.shape);
  return view;
}

void add_reshapes(KernelTable& table) {
  for (const Op op : {Op::alias, Op::detach, Op::alias_copy, Op::detach_copy, Op::c10d_wait_tensor})
    table.add_view(op, view<layout::alias>);
  for (const Op op : {Op::view, Op::reshape, Op::_unsafe_view, Op::_reshape_alias, Op::view_copy})
    table.add_view(op, view<layout::view>);
  for (const Op op : {Op::view_dtype, Op::view_copy_dtype}) table.add_view(op, view_dtype);
  for (const Op op : {Op::as_strided, Op::as_strided_copy})
    table.add_view(op, view<layout::as_strided>);
  for (const Op op : {Op::expand, Op::expand_copy}) table.add_view(op, view<layout::expand>);
  for (const Op op : {Op::unsqueeze, Op::unsqueeze_copy})
    table.add_view(op, view<layout::unsqueeze>);
  for (const Op op : {Op::squeeze, Op::squeeze_copy}) table.add_view(op, view<layout::squeeze_all>);
  for (const Op op :
       {Op::squeeze_dim, Op::squeeze_dims, Op::squeeze_copy_dim, Op::squeeze_copy_dims})
    table.add_view(op, view<layout::squeeze>);
  table.add_view(Op::flatten_using_ints, view<layout::flatten>);
  table.add_view(Op::unflatten_int, view<layout::unflatten>);
  table.add_view(Op::prims_broadcast_in_dim, view<layout::broadcast_in_dim>);
}

void add_permutations(KernelTable& table) {
  for (const Op op : {Op::permute, Op::permute_copy}) table.add_view(op, view<layout::permute>);
  for (const Op op : {Op::transpose_int, Op::transpose_copy_int})
    table.add_view(op, view<layout::transpose>);
  for (const Op op : {Op::t, Op::t_copy}) table.add_view(op, view<layout::t>);
  for (const Op op : {Op::movedim_int, Op::movedim_intlist})
    table.add_view(op, view<layout::movedim>);
}

void add_parts(KernelTable& table) {
  for (const Op op : {Op::slice_Tensor, Op::slice_copy_Tensor})
    table.add_view(op, view<layout::slice>);
  for (const Op op : {Op::select_int, Op::select_copy_int})
    table.add_view(op, view<layout::select>);
  for (const Op op : {Op::diagonal, Op::diagonal_copy}) table.add_view(op, view<layout::diagonal>);
  for (const Op op : {Op::unfold, Op::unfold_copy}) table.add_view(op, view<layout::unfold>);
  for (const Op op : {Op::unbind_int, Op::unbind_copy_int})
    table.add_view(op, view<layout::unbind>);
  for (const Op op : {Op::split_Tensor, Op::split_copy_Tensor, Op::unsafe_split_Tensor})
    table.add_view(op, view<layout::split>);
  for (const Op op : {Op::split_with_sizes, Op::split_sizes, Op::split_with_sizes_copy,
                      Op::unsafe_split_with_sizes})
    table.add_view(op, view<layout::split_with_sizes>);
  table.add_view(Op::chunk, view<layout::chunk>);
  for (const Op op : {Op::narrow, Op::narrow_copy}) table.add_view(op, view<layout::narrow>);
}

}  // namespace

void add_view_kernels(KernelTable& table) {
  add_reshapes(table);
  add_permutations(table);
  add_parts(table);
}

}  // namespace recut
