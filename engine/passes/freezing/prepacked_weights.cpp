// Lays out frozen weights in the order in which their readers access them (prepacking).
//
//   %t = permute(%w, [1, 0])              %t = permute(%w, [1, 0])
//   %y = mm(%x, %t)                 =>    %p = clone(%t, memory_format="contiguous_format")
//                                         %y = mm(%x, %p)
//
// Needs: the right operand of mm, addmm or bmm frozen and not contiguous; or a convolution whose
// input is channels last and whose frozen weight is not, with 4 dimensions. Establishes: weights of
// products are row-major, so that any code reads contiguous rows; weights of channels-last
// convolutions are channels last, so that no library reorders them in every run. The copy is made
// once: fold_frozen turns it into a constant and removes the parameter. Bit-exact, and all results
// keep their types. In C++ for the reason given in binary_folding.cpp.
#include "engine/ir/call.h"
#include "engine/passes/freezing/rewriter.h"

namespace recut::passes {
namespace {

class PrepackedWeights {
 public:
  explicit PrepackedWeights(const Graph& from) : from_(from), rewriter_(from) {}

  PassResult run() {
    return rewrite_nodes(from_, [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
      return pack(to, old, arguments);
    });
  }

 private:
  std::optional<Rewrite> pack(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const Op op = from_[old].op;
    if (op == Op::mm || op == Op::bmm) return packed(to, old, arguments, 1, "contiguous_format");
    if (op == Op::addmm) return packed(to, old, arguments, 2, "contiguous_format");
    if (op != Op::convolution) return std::nullopt;
    const TensorType& input = to.type(*arguments[0].get<NodeId>());
    if (input.rank() != 4 || !is_channels_last(input)) return std::nullopt;
    return packed(to, old, arguments, 1, "channels_last");
  }

  // The call with operand `at` in that layout, if it is frozen and in another. Nullopt also if the
  // shape rule would give the call another type in that layout.
  std::optional<Rewrite> packed(Graph& to, NodeId old, std::vector<Argument> arguments,
                                std::size_t at, const char* format) {
    if (!rewriter_.frozen(to, arguments[at])) return std::nullopt;
    const TensorType& type = to.type(*arguments[at].get<NodeId>());
    const bool rows = std::string_view(format) == "contiguous_format";
    if (rows ? is_contiguous(type) : is_channels_last(type)) return std::nullopt;
    const auto types =
        infer_types(from_.op(old), arguments, [&](NodeId id) { return to.pool().types_of(id); });
    if (!types || *types != from_[old].outputs) return std::nullopt;
    const std::string& name = from_.node_name(old);
    arguments[at] =
        FreezingRewriter::make(to, Op::clone, {arguments[at], format}, name + ".weight");
    const NodeId node = FreezingRewriter::make(to, from_[old].op, std::move(arguments), name);
    return Rewrite{rows ? "weight by rows" : "weight with channels last",
                   FreezingRewriter::with_types(to, node, from_[old], name)};
  }

  // Row-major except for the channels, which vary fastest.
  static bool is_channels_last(const TensorType& type) {
    const Shape& s = type.shape;
    return type.strides == Strides{s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]};
  }

  const Graph& from_;
  FreezingRewriter rewriter_;
};

}  // namespace

PassResult prepacked_weights(const Graph& graph) { return PrepackedWeights(graph).run(); }

}  // namespace recut::passes
