#include "engine/codegen/lower/address.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "engine/support/check.h"
#include "engine/support/text.h"

namespace recut::loop {
namespace {

const std::map<Op, layout::Rule>& rules() {
  static const std::map<Op, layout::Rule> table{
      {Op::alias, layout::alias},
      {Op::detach, layout::alias},
      {Op::alias_copy, layout::alias},
      {Op::detach_copy, layout::alias},
      {Op::view, layout::view},
      {Op::reshape, layout::view},
      {Op::_unsafe_view, layout::view},
      {Op::_reshape_alias, layout::view},
      {Op::view_copy, layout::view},
      {Op::as_strided, layout::as_strided},
      {Op::as_strided_copy, layout::as_strided},
      {Op::expand, layout::expand},
      {Op::expand_copy, layout::expand},
      {Op::unsqueeze, layout::unsqueeze},
      {Op::unsqueeze_copy, layout::unsqueeze},
      {Op::squeeze, layout::squeeze_all},
      {Op::squeeze_copy, layout::squeeze_all},
      {Op::squeeze_dim, layout::squeeze},
      {Op::squeeze_dims, layout::squeeze},
      {Op::squeeze_copy_dim, layout::squeeze},
      {Op::squeeze_copy_dims, layout::squeeze},
      {Op::flatten_using_ints, layout::flatten},
      {Op::unflatten_int, layout::unflatten},
      {Op::prims_broadcast_in_dim, layout::broadcast_in_dim},
      {Op::permute, layout::permute},
      {Op::permute_copy, layout::permute},
      {Op::transpose_int, layout::transpose},
      {Op::transpose_copy_int, layout::transpose},
      {Op::t, layout::t},
      {Op::t_copy, layout::t},
      {Op::movedim_int, layout::movedim},
      {Op::movedim_intlist, layout::movedim},
      {Op::slice_Tensor, layout::slice},
      {Op::slice_copy_Tensor, layout::slice},
      {Op::select_int, layout::select},
      {Op::select_copy_int, layout::select},
      {Op::diagonal, layout::diagonal},
      {Op::diagonal_copy, layout::diagonal},
      {Op::unfold, layout::unfold},
      {Op::unfold_copy, layout::unfold},
      {Op::unbind_int, layout::unbind},
      {Op::unbind_copy_int, layout::unbind},
      {Op::split_Tensor, layout::split},
      {Op::split_copy_Tensor, layout::split},
      {Op::unsafe_split_Tensor, layout::split},
      {Op::split_with_sizes, layout::split_with_sizes},
      {Op::split_sizes, layout::split_with_sizes},
      {Op::split_with_sizes_copy, layout::split_with_sizes},
      {Op::unsafe_split_with_sizes, layout::split_with_sizes},
      {Op::chunk, layout::chunk},
      {Op::narrow, layout::narrow},
      {Op::narrow_copy, layout::narrow},
  };
  return table;
}

Diagnostic about(const Graph& graph, NodeId id, std::string_view message) {
  return error(fmt::format("node {}: {}", quote(graph.node_name(id)), message));
}

}  // namespace

Layout storage_layout(const TensorType& type) {
  return {type.shape, is_dense(type) ? type.strides : contiguous_strides(type.shape), 0, false};
}

layout::Rule layout_rule(Op op) {
  const auto found = rules().find(op);
  return found == rules().end() ? nullptr : found->second;
}

Result<Address> address_of(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  if (node.op == Op::getitem)
    return address_of(graph, node.operands.front(),
                      static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>()));
  if (graph.op(id).is(kView)) return viewed(graph, id, output);
  return Address{{id, output}, {storage_layout(node.outputs[output])}};
}

Result<Address> viewed(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  const Operator& op = graph.op(id);
  const layout::Rule rule = layout_rule(node.op);
  if (rule == nullptr)
    return about(graph, id, fmt::format("no layout shows what operator '{}' does", op.name));
  auto address = address_of(graph, node.operands.front());
  if (!address) return address;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  const Call call(op, node.arguments, types_of);
  auto shown = rule(call, address->layouts.back(), static_cast<std::int64_t>(output));
  if (!shown) return about(graph, id, shown.diagnostics().front().message);
  // Elements of what the new layout is a layout of: a row-major count of what was shown so far, or
  // what the layout before it was of.
  std::vector<Layout>& layouts = address->layouts;
  const Made& made = address->made;
  if (shown->copied) {
    layouts.emplace_back();
    shown->copied = false;
  }
  const Shape& under = layouts.size() > 1 ? layouts[layouts.size() - 2].shape
                                          : graph[made.node].outputs[made.output].shape;
  if (!layout::is_within(*shown, element_count(under)))
    return about(graph, id, "this view reaches outside its storage");
  layouts.back() = std::move(*shown);
  return address;
}

Index place_of(const Address& address, std::vector<Index> at, const Builder& builder) {
  for (std::size_t l = address.layouts.size();;) {
    const Layout& shown = address.layouts[--l];
    RECUT_CHECK(at.size() == shown.shape.size(), "an element has an index a dimension");
    Index place(shown.offset);
    for (std::size_t d = 0; d < at.size(); ++d) place = place + shown.strides[d] * at[d];
    place = builder.simple(place);
    if (l == 0) return place;
    at = delinearised(place, address.layouts[l - 1].shape, builder);
  }
}

std::vector<Index> element_at(const Layout& storage, const Index& place, const Builder& builder) {
  std::vector<Index> at(storage.shape.size(), 0);
  for (std::size_t d = 0; d < at.size(); ++d)
    if (storage.shape[d] > 1 && storage.strides[d] > 0)  // an empty tensor steps nowhere
      at[d] = builder.remainder(builder.quotient(place, storage.strides[d]), storage.shape[d]);
  return at;
}

std::vector<Index> delinearised(const Index& place, const Shape& shape, const Builder& builder) {
  return element_at({shape, contiguous_strides(shape), 0, false}, place, builder);
}

Index linearised(const std::vector<Index>& at, const Shape& shape) {
  const Strides strides = contiguous_strides(shape);
  Index place;
  for (std::size_t d = 0; d < at.size(); ++d) place = place + strides[d] * at[d];
  return place;
}

}  // namespace recut::loop
