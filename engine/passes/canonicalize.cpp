// Canonicalisation: gives operators with several names the one form that other passes match, as
// PyTorch's decompositions do during tracing. Graphs exported without them, or built by `recut
// grad`, have the other forms.
//
//   %b = transpose.int(%a, -2, -1)              %b = permute(%a, [0, 2, 1])
//   %y = conv2d(%x, %w)                  =>     %y = convolution(%x, %w, none, [1, 1], [0, 0],
//                                                                [1, 1], false, [0, 0], 1)
//
//   %y = linear(%x, %w, %b)              =>     %y = addmm(%b, %x, permute(%w, [1, 0]))
//
// Needs nothing. Bit-exact. Establishes: every transpose is a permute, every convolution of a batch
// is a convolution, and products of real matrices are mm, addmm or bmm (canonical_products.h).
#include <numeric>

#include "engine/ir/call.h"
#include "engine/passes/canonical_products.h"
#include "engine/passes/rewrite_nodes.h"

namespace recut::passes {
namespace {

struct CanonicalCall {
  std::string_view rule;
  Op op;
  std::vector<Argument> arguments;
};

std::optional<CanonicalCall> transposed(const Call& call, std::int64_t a, std::int64_t b) {
  const TensorType& self = call.tensor("self");
  std::vector<std::int64_t> dims(self.shape.size());
  std::iota(dims.begin(), dims.end(), std::int64_t{0});
  const auto first = wrap_dimension(a, self.rank()), second = wrap_dimension(b, self.rank());
  if (dims.empty() || !first || !second) return std::nullopt;
  std::swap(dims[static_cast<std::size_t>(*first)], dims[static_cast<std::size_t>(*second)]);
  return CanonicalCall{
      "transpose as a permutation", Op::permute, {call.node("self"), Argument(dims)}};
}

// Expands a list of one number to one for every spatial dimension.
Argument spread(const Call& call, std::string_view parameter, std::size_t dims) {
  if (!call.op().parameter(parameter)) return Argument(std::vector<std::int64_t>(dims, 0));
  std::vector<std::int64_t> list = call.integers(parameter);
  if (list.size() == 1) list = std::vector<std::int64_t>(dims, list.front());
  return Argument(list);
}

std::optional<CanonicalCall> convolution(const Call& call, bool transposed) {
  const TensorType &input = call.tensor("input"), &weight = call.tensor("weight");
  if (input.rank() != weight.rank()) return std::nullopt;
  const std::size_t dims = weight.shape.size() - 2;
  const NodeId bias = call.node("bias");
  return CanonicalCall{
      "convolution in its canonical form",
      Op::convolution,
      {call.node("input"), call.node("weight"), bias.valid() ? Argument(bias) : Argument(None{}),
       spread(call, "stride", dims), spread(call, "padding", dims), spread(call, "dilation", dims),
       transposed, spread(call, "output_padding", dims), call.integer("groups")}};
}

std::optional<CanonicalCall> canonical_form(Op op, const Call& call) {
  switch (op) {
    case Op::transpose_int:
      return transposed(call, call.integer("dim0"), call.integer("dim1"));
    case Op::t:
      return call.tensor("self").rank() == 2 ? transposed(call, 0, 1) : std::nullopt;
    case Op::conv1d:
    case Op::conv2d:
    case Op::conv3d:
      return convolution(call, false);
    case Op::conv_transpose1d:
    case Op::conv_transpose2d_input:
    case Op::conv_transpose3d_input:
      return convolution(call, true);
    case Op::_convolution:
      return convolution(call, call.boolean("transposed"));
    default:
      return std::nullopt;
  }
}

}  // namespace

PassResult canonicalize(const Graph& graph) {
  return rewrite_nodes(
      graph,
      [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) -> std::optional<Rewrite> {
        if (auto product = canonical_product(graph, to, old, arguments)) return product;
        const Call::TypesOf types_of = [&](NodeId id) { return to.pool().types_of(id); };
        auto canonical = canonical_form(graph[old].op, Call(graph.op(old), arguments, types_of));
        if (!canonical) return std::nullopt;
        const auto types = infer_types(operator_of(canonical->op), canonical->arguments, types_of);
        if (!types || *types != graph[old].outputs) return std::nullopt;
        return Rewrite{canonical->rule, to.append(canonical->op, std::move(canonical->arguments),
                                                  *types, graph.origin(old))};
      });
}

}  // namespace recut::passes
