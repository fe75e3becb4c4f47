// Replaces every splat, a value with one number in all elements, by one `full`.
//
//   %a = full([4, 8], 2.0)
//   %b = mul.Tensor(%a, 3.0)       =>     %b = full([4, 8], 6.0, dtype=f32)
//   %c = sum(%x) + … %b
//
// Needs nothing; runs before noop_removal, which then sees the numbers. Bit-exact. Establishes:
// every contiguous splat is a `full`, and equal ones are one node. An expanded number stays an
// `expand`, which takes no bytes. Values that as_strided reads keep their storage.
//
// The splat analysis is engine/rewrite/splat_values.h (Inductor's constant_fold_uniform_value). It
// does not fold x * 0 for floating x (inf * 0 is a NaN), nor sums and matrix products of splats
// (their rounding depends on the order).
#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/passes/rewrite_nodes.h"
#include "engine/rewrite/splat_values.h"

namespace recut::passes {
namespace {

const Operator& full_operator() {
  static const Operator* const full = find_operator_by_name("full");
  return *full;
}

std::vector<Argument> full_arguments(const TensorType& type, const SplatValue& value) {
  const Operator& full = full_operator();
  std::vector<Argument> arguments(full.parameters.size());
  arguments[*full.parameter("size")] = Argument(type.shape);
  arguments[*full.parameter("fill_value")] = as_argument(value);
  arguments[*full.parameter("dtype")] = type.dtype;
  if (!type.device.empty()) arguments[*full.parameter("device")] = type.device;
  return arguments;
}

}  // namespace

PassResult splat_constants(const Graph& graph) {
  const SplatAnalysis splats(graph);
  const PinnedStorages pinned(graph);
  return rewrite_nodes(
      graph, [&](Graph& to, NodeId old, const std::vector<Argument>&) -> std::optional<Rewrite> {
        const Node& node = graph[old];
        const SplatValue* value = splats.of(old);
        if (value == nullptr || node.op == full_operator().op ||
            operator_of(node.op).multiple_outputs() || pinned.contains(old))
          return std::nullopt;
        std::vector<Argument> arguments = full_arguments(node.type(), *value);
        const auto types = infer_types(full_operator(), arguments,
                                       [&](NodeId id) { return to.pool().types_of(id); });
        if (!types || *types != node.outputs) return std::nullopt;
        return Rewrite{"splat value", to.append(full_operator().op, std::move(arguments),
                                                node.outputs, graph.origin(old))};
      });
}

}  // namespace recut::passes
