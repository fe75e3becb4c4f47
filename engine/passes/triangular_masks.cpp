// Canonicalises triangular masks, such as causal masks, to tril or triu of a `full`.
//
//   %rows = view(arange(n), [n, 1])
//   %seen = le.Tensor(arange(n), %rows)       =>     %seen = tril(full([n, n], true))
//
// Needs splat_constants (masks that are true everywhere are `full` already). Bit-exact.
// Establishes: every contiguous boolean value that depends only on the difference of its last two
// indices is tril or triu of a `full`; an expanded mask stays an `expand`. Values that as_strided
// reads keep their storage.
//
// The affine value analysis of index arithmetic is engine/rewrite/affine_values.h.
#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/passes/rewrite_nodes.h"
#include "engine/rewrite/splat_values.h"

namespace recut::passes {
namespace {

struct Triangle {
  Op op = Op::tril;
  std::int64_t diagonal = 0;
};

// tril is true where column <= row + diagonal, triu where column >= row + diagonal.
std::optional<Triangle> triangle_of(const AffineValue& p) {
  const std::size_t rank = p.steps.size();
  if (rank < 2) return std::nullopt;
  for (std::size_t d = 0; d + 2 < rank; ++d)
    if (p.steps[d] != 0) return std::nullopt;
  const std::int64_t row = p.steps[rank - 2], column = p.steps[rank - 1];
  if (row == 1 && column == -1) return Triangle{Op::tril, p.start};
  if (row == -1 && column == 1) return Triangle{Op::triu, -p.start};
  return std::nullopt;
}

// The triangle of a `full`; nullopt if its type is not the node's.
std::optional<NodeId> make(Graph& to, const Triangle& triangle, const Node& node,
                           const Origin& origin) {
  const TensorType& type = node.type();
  if (type != make_type(type.dtype, type.shape, type.device)) return std::nullopt;
  const Argument device = type.device.empty() ? Argument() : Argument(type.device);
  const NodeId all = to.append(
      Op::full,
      {Argument(type.shape), Argument(true), Argument(type.dtype), Argument(), device, Argument()},
      {type}, origin);
  return to.append(triangle.op, {Argument(all), Argument(triangle.diagonal)}, {type}, origin);
}

}  // namespace

PassResult triangular_masks(const Graph& graph) {
  const SplatAnalysis values(graph);
  const PinnedStorages pinned(graph);
  return rewrite_nodes(
      graph, [&](Graph& to, NodeId old, const std::vector<Argument>&) -> std::optional<Rewrite> {
        const Node& node = graph[old];
        const AffineValue* affine = values.affine_value_of(old);
        if (affine == nullptr || node.type().dtype != DType::boolean || values.of(old) ||
            node.op == Op::tril || node.op == Op::triu || pinned.contains(old))
          return std::nullopt;
        const auto triangle = triangle_of(*affine);
        if (!triangle) return std::nullopt;
        const auto made = make(to, *triangle, node, graph.origin(old));
        if (!made) return std::nullopt;
        return Rewrite{"a comparison of indices", *made};
      });
}

}  // namespace recut::passes
