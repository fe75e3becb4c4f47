#include "engine/ir/storage_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/node_diagnostic.h"

namespace recut {

Layout output_layout(const TensorType& type) {
  return {type.shape, is_dense(type) ? type.strides : contiguous_strides(type.shape), 0, false};
}

Layout input_layout(const TensorType& type) {
  const std::int64_t count = element_count(type.shape);
  std::int64_t last_offset = 0;
  for (std::size_t d = 0; d < type.shape.size(); ++d)
    last_offset += (std::max<std::int64_t>(type.shape[d], 1) - 1) * type.strides[d];
  const bool small = count > 0 && last_offset < 16 * count + 4096;
  return small ? Layout{type.shape, type.strides, 0, false} : output_layout(type);
}

namespace {

Result<StorageView> of_view(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  const layout::Rule rule = layout::rule_of(node.op);
  if (rule == nullptr)
    return node_diagnostic(
        graph, id,
        fmt::format("operator '{}' gives no view that a layout describes", graph.op(id).name));
  auto view = storage_view(graph, node.operands.front());
  if (!view) return view;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  auto shown = rule(Call(graph.op(id), node.arguments, types_of), view->shown,
                    static_cast<std::int64_t>(output));
  if (!shown) return node_diagnostic(graph, id, shown.diagnostics().front().message);
  if (!shown->copied) {
    view->shown = std::move(*shown);
    return view;
  }
  shown->copied = false;
  return StorageView{id, output, *shown, *shown};
}

}  // namespace

Result<StorageView> storage_view(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  if (node.op == Op::getitem)
    return storage_view(graph, node.operands.front(),
                        static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>()));
  if (graph.op(id).is(kView)) return of_view(graph, id, output);
  const TensorType& type = node.outputs[output];
  const Layout whole = graph.op(id).is(kInput) ? input_layout(type) : output_layout(type);
  return StorageView{id, output, whole, whole};
}

}  // namespace recut
