#include "engine/codegen/lower/view_map.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/node_diagnostic.h"
#include "engine/support/check.h"
#include "engine/support/text.h"

namespace recut::loop {
namespace {

// The elements of a view's owner as as_strided counts them: an input comes row by row, whatever
// gaps its type has.
Result<ViewMap> elements_of(const Graph& graph, const StorageView& view) {
  auto view_map = view_map_of(graph, view.owner, view.output);
  if (view_map && graph.op(view.owner).is(kView)) view_map->layouts.push_back(view.whole);
  return view_map;
}

// as_strided: its strides count elements of the storage, not of the operand.
Result<ViewMap> strided(const Graph& graph, NodeId id) {
  const auto view = storage_view(graph, graph[id].operands.front());
  if (!view) return view.diagnostics();
  auto view_map = elements_of(graph, *view);
  if (!view_map) return view_map;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  auto shown =
      layout::as_strided(Call(graph.op(id), graph[id].arguments, types_of), view->shown, 0);
  if (!shown) return node_diagnostic(graph, id, shown.diagnostics().front().message);
  const bool within = layout::is_within(*shown, layout::extent(view->whole));
  if (view->whole.strides == view_map->layouts.back().strides) {
    if (!within) return node_diagnostic(graph, id, "this view reaches outside its storage");
    view_map->layouts.back() = std::move(*shown);
    return view_map;
  }
  auto among = within ? layout::relative_layout(*shown, view->whole) : std::nullopt;
  if (!among) {
    const TensorType& type = graph[view->owner].outputs[view->output];
    return node_diagnostic(
        graph, id,
        fmt::format("it reads offsets of the storage of {} that in its type {} are gaps, or "
                    "of several elements: declare that row by row, or show its elements "
                    "by other views",
                    quote(graph.node_name(view->owner)), format(type)));
  }
  view_map->layouts.back() = std::move(*among);
  return view_map;
}

}  // namespace

Layout in_parts(Layout layout, DType dtype) {
  if (!is_complex(dtype)) return layout;
  for (std::int64_t& stride : layout.strides) stride *= 2;
  layout.offset *= 2;
  layout.shape.push_back(2);
  layout.strides.push_back(1);
  return layout;
}

Layout buffer_layout(const TensorType& type) { return in_parts(output_layout(type), type.dtype); }

Result<ViewMap> view_map_of(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  if (node.op == Op::getitem)
    return view_map_of(graph, node.operands.front(),
                       static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>()));
  if (graph.op(id).is(kView)) return compose_view(graph, id, output);
  return ViewMap{{id, output}, {output_layout(node.outputs[output])}};
}

Result<ViewMap> compose_view(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  const Operator& op = graph.op(id);
  const layout::Rule rule = layout::rule_of(node.op);
  if (rule == nullptr)
    return node_diagnostic(
        graph, id, fmt::format("operator '{}' gives no view that a layout describes", op.name));
  if (graph.op(id).is(kReadsStorage)) return strided(graph, id);
  auto view_map = view_map_of(graph, node.operands.front());
  if (!view_map) return view_map;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  const Call call(op, node.arguments, types_of);
  auto shown = rule(call, view_map->layouts.back(), static_cast<std::int64_t>(output));
  if (!shown) return node_diagnostic(graph, id, shown.diagnostics().front().message);
  // The rule gives a layout over the operand's elements: either the row-major count of the last
  // layout (copied), or whatever that layout indexed itself.
  std::vector<Layout>& layouts = view_map->layouts;
  const ValueRef& base = view_map->base;
  if (shown->copied) {
    layouts.emplace_back();
    shown->copied = false;
  }
  const Shape& under = layouts.size() > 1 ? layouts[layouts.size() - 2].shape
                                          : graph[base.node].outputs[base.output].shape;
  if (!layout::is_within(*shown, element_count(under)))
    return node_diagnostic(graph, id, "this view reaches outside its storage");
  layouts.back() = std::move(*shown);
  return view_map;
}

Index element_offset(const ViewMap& view_map, std::vector<Index> at, const Builder& builder) {
  for (std::size_t l = view_map.layouts.size();;) {
    const Layout& shown = view_map.layouts[--l];
    RECUT_CHECK(at.size() == shown.shape.size(), "an element has an index a dimension");
    Index offset(shown.offset);
    for (std::size_t d = 0; d < at.size(); ++d) offset = offset + shown.strides[d] * at[d];
    offset = builder.simple(offset);
    if (l == 0) return offset;
    at = delinearize(offset, view_map.layouts[l - 1].shape, builder);
  }
}

std::vector<Index> index_at_offset(const Layout& storage, const Index& offset,
                                   const Builder& builder) {
  std::vector<Index> at(storage.shape.size(), 0);
  for (std::size_t d = 0; d < at.size(); ++d)
    if (storage.shape[d] > 1 && storage.strides[d] > 0)  // an empty tensor steps nowhere
      at[d] = builder.remainder(builder.quotient(offset, storage.strides[d]), storage.shape[d]);
  return at;
}

std::vector<Index> delinearize(const Index& offset, const Shape& shape, const Builder& builder) {
  return index_at_offset({shape, contiguous_strides(shape), 0, false}, offset, builder);
}

Index linearize(const std::vector<Index>& at, const Shape& shape) {
  const Strides strides = contiguous_strides(shape);
  Index offset;
  for (std::size_t d = 0; d < at.size(); ++d) offset = offset + strides[d] * at[d];
  return offset;
}

}  // namespace recut::loop
