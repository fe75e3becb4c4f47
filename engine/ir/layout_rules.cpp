// The table from operators to layout rules.
#include <map>

#include "engine/ir/layout.h"

namespace recut::layout {
namespace {

const std::map<Op, Rule>& rules() {
  static const std::map<Op, Rule> table{
      {Op::alias, alias},
      {Op::detach, alias},
      {Op::c10d_wait_tensor, alias},
      {Op::alias_copy, alias},
      {Op::detach_copy, alias},
      {Op::view, view},
      {Op::reshape, view},
      {Op::_unsafe_view, view},
      {Op::_reshape_alias, view},
      {Op::view_copy, view},
      {Op::as_strided, as_strided},
      {Op::as_strided_copy, as_strided},
      {Op::expand, expand},
      {Op::expand_copy, expand},
      {Op::unsqueeze, unsqueeze},
      {Op::unsqueeze_copy, unsqueeze},
      {Op::squeeze, squeeze_all},
      {Op::squeeze_copy, squeeze_all},
      {Op::squeeze_dim, squeeze},
      {Op::squeeze_dims, squeeze},
      {Op::squeeze_copy_dim, squeeze},
      {Op::squeeze_copy_dims, squeeze},
      {Op::flatten_using_ints, flatten},
      {Op::unflatten_int, unflatten},
      {Op::prims_broadcast_in_dim, broadcast_in_dim},
      {Op::permute, permute},
      {Op::permute_copy, permute},
      {Op::transpose_int, transpose},
      {Op::transpose_copy_int, transpose},
      {Op::t, t},
      {Op::t_copy, t},
      {Op::movedim_int, movedim},
      {Op::movedim_intlist, movedim},
      {Op::slice_Tensor, slice},
      {Op::slice_copy_Tensor, slice},
      {Op::select_int, select},
      {Op::select_copy_int, select},
      {Op::diagonal, diagonal},
      {Op::diagonal_copy, diagonal},
      {Op::unfold, unfold},
      {Op::unfold_copy, unfold},
      {Op::unbind_int, unbind},
      {Op::unbind_copy_int, unbind},
      {Op::split_Tensor, split},
      {Op::split_copy_Tensor, split},
      {Op::unsafe_split_Tensor, split},
      {Op::split_with_sizes, split_with_sizes},
      {Op::split_sizes, split_with_sizes},
      {Op::split_with_sizes_copy, split_with_sizes},
      {Op::unsafe_split_with_sizes, split_with_sizes},
      {Op::chunk, chunk},
      {Op::narrow, narrow},
      {Op::narrow_copy, narrow},
  };
  return table;
}

}  // namespace

Rule rule_of(Op op) {
  const auto found = rules().find(op);
  return found == rules().end() ? nullptr : found->second;
}

}  // namespace recut::layout
