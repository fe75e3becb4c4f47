// Folds a batch normalisation by running statistics into the convolution before it.
//
//   %c = convolution(%x, %w, %b, …)
//   %n = _native_batch_norm_legit_no_training(%c, %g, %h, %mean, %var, …, eps)
//   %y = getitem(%n, 0)
//                                   =>   %s = mul(%g, rsqrt(%var + eps))
//                                        %y = convolution(%x, %w * %s, (%b - %mean) * %s + %h, …)
//
// Programs of torch.export have the normalisation as one call, batch_norm(…, training=false).
//
// Needs: w, b and all of the normalisation's operands frozen, in f32 or f64 alike; no other users
// of %c or of the other outputs of %n; no groups if the convolution is transposed. Establishes:
// none of those is left. The new weights depend on frozen values alone, so that fold_frozen makes
// constants of them. Not bit-exact. (The algebra is that of Inductor's efficient_conv_bn_eval.) In
// C++ for the reason given in binary_folding.cpp.
#include "engine/passes/freezing/conv_bn_folding.h"

#include <iterator>
#include <utility>

#include "engine/ir/call.h"
#include "engine/passes/freezing/rewriter.h"

namespace recut::passes {
namespace {

class ConvBnFolding {
 public:
  ConvBnFolding(const Graph& from, bool frozen_alone)
      : from_(from), frozen_alone_(frozen_alone), rewriter_(from) {}

  PassResult run() {
    return rewrite_nodes(from_, [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
      return fold(to, old, arguments);
    });
  }

 private:
  // Operands of a normalisation.
  struct Norm {
    Argument input, weight, bias, mean, variance, eps;
  };

  // The normalisation by running statistics whose value `old` is, with rewritten operands.
  std::optional<Norm> norm_of(const Graph& to, NodeId old,
                              const std::vector<Argument>& arguments) const {
    if (from_[old].op == Op::batch_norm && !*arguments[5].get<bool>())
      return Norm{arguments[0], arguments[1], arguments[2],
                  arguments[3], arguments[4], arguments[7]};
    if (from_[old].op != Op::getitem || *arguments[1].get<std::int64_t>() != 0) return std::nullopt;
    const NodeId old_norm = from_[old].operands.front();
    if (from_[old_norm].op != Op::_native_batch_norm_legit_no_training ||
        !rewriter_.used_once(old_norm))
      return std::nullopt;
    const std::vector<Argument>& norm = to[*arguments[0].get<NodeId>()].arguments;
    return Norm{norm[0], norm[1], norm[2], norm[3], norm[4], norm[6]};
  }

  // The convolution of the graph before whose value the normalisation reads.
  NodeId old_conv_of(NodeId old) const {
    const NodeId input = from_[old].operands.front();
    return from_[old].op == Op::batch_norm ? input : from_[input].operands.front();
  }

  // Of a convolution: input, weight, bias, stride, padding, dilation, transposed, output_padding,
  // groups.
  std::optional<Rewrite> fold(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const auto norm = norm_of(to, old, arguments);
    if (!norm) return std::nullopt;
    const NodeId old_conv = old_conv_of(old);
    if (from_[old_conv].op != Op::convolution || !rewriter_.used_once(old_conv))
      return std::nullopt;
    const Node& conv = to[*norm->input.get<NodeId>()];
    if (conv.op != Op::convolution || !fits(to, conv, *norm)) return std::nullopt;
    const std::string& name = from_.node_name(old);
    const NodeId node = folded(to, conv, *norm, name);
    return Rewrite{"batch norm into convolution",
                   FreezingRewriter::with_types(to, node, from_[old], name)};
  }

  bool fits(const Graph& to, const Node& conv, const Norm& norm) {
    const DType dtype = conv.type().dtype;
    const auto usable = [&](const Argument& argument, bool may_lack) {
      if (argument.none() || argument.absent()) return may_lack;
      return (!frozen_alone_ || rewriter_.frozen(to, argument)) &&
             to.type(*argument.get<NodeId>()).dtype == dtype;
    };
    const bool transposed = *conv.arguments[6].get<bool>();
    if (transposed && *conv.arguments[8].get<std::int64_t>() != 1) return false;
    return (dtype == DType::f32 || dtype == DType::f64) && usable(conv.arguments[1], false) &&
           usable(conv.arguments[2], true) && usable(norm.weight, true) &&
           usable(norm.bias, true) && usable(norm.mean, false) && usable(norm.variance, false);
  }

  static NodeId folded(Graph& to, const Node& conv, const Norm& norm, const std::string& name) {
    const auto make = [&](Op op, std::vector<Argument> arguments, std::string_view part) {
      return FreezingRewriter::make(to, op, std::move(arguments), name + std::string(part));
    };
    const NodeId weight = *conv.arguments[1].get<NodeId>();
    const bool transposed = *conv.arguments[6].get<bool>();
    NodeId scale = make(Op::add_Tensor, {norm.variance, norm.eps}, ".deviation");
    scale = make(Op::rsqrt, {scale}, ".scale");
    if (norm.weight.get<NodeId>() != nullptr)
      scale = make(Op::mul_Tensor, {norm.weight, scale}, ".scale");
    const NodeId wide = FreezingRewriter::along(to, scale, transposed ? 1 : 0,
                                                to.type(weight).rank(), name + ".scale");
    const NodeId new_weight = make(Op::mul_Tensor, {weight, wide}, ".weight");
    NodeId bias = conv.arguments[2].get<NodeId>() != nullptr
                      ? make(Op::sub_Tensor, {conv.arguments[2], norm.mean}, ".bias")
                      : make(Op::neg, {norm.mean}, ".bias");
    bias = make(Op::mul_Tensor, {bias, scale}, ".bias");
    if (norm.bias.get<NodeId>() != nullptr) bias = make(Op::add_Tensor, {bias, norm.bias}, ".bias");
    std::vector<Argument> arguments = conv.arguments;
    arguments[1] = new_weight;
    arguments[2] = bias;
    return make(Op::convolution, std::move(arguments), "");
  }

  const Graph& from_;
  const bool frozen_alone_;
  FreezingRewriter rewriter_;
};

}  // namespace

PassResult fold_batch_norms(const Graph& graph, bool frozen_alone) {
  PassResult folded = ConvBnFolding(graph, frozen_alone).run();
  for (bool more = folded.changed; more;) {  // a norm of a norm
    PassResult next = ConvBnFolding(folded.graph, frozen_alone).run();
    more = next.changed;
    std::move(next.changes.begin(), next.changes.end(), std::back_inserter(folded.changes));
    if (more) folded.graph = std::move(next.graph);
  }
  return folded;
}

PassResult conv_bn_folding(const Graph& graph) { return fold_batch_norms(graph, true); }

}  // namespace recut::passes
