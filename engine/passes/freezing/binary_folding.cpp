// Folds a sum, difference, product or quotient with constants into the convolution or the matrix
// product before it.
//
//   %c = convolution(%x, %w, %b, …)
//   %y = mul.Tensor(%c, %k)            =>   %y = convolution(%x, %w * %k, %b * %k, …)
//   %m = mm(%x, %w)
//   %y = add.Tensor(%m, %k)            =>   %y = addmm(%k, %x, %w)
//
// Needs: the weight frozen, and the bias if there is one; the other operand a number, or frozen
// with one value a channel (for a product: a column); f32 or f64 alike; no other users of the
// convolution or product. A product under a view (rows of a batch as one matrix) is folded beneath
// the view. Establishes: none of those is left. Not bit-exact. The conditions are those of
// Inductor's binary folding. In C++ instead of rules: whether an operand is frozen depends on
// everything under it, which patterns do not see.
#include <algorithm>
#include <unordered_set>

#include "engine/ir/call.h"
#include "engine/passes/freezing/rewriter.h"

namespace recut::passes {
namespace {

enum class Kind { add, subtract, multiply, divide };

struct Binary {
  Kind kind;
  NodeId base;     // of the old graph
  Argument other;  // of the new one
};

// A convolution or product with its weight and bias. `bias` is None if there is none.
struct Linear {
  Node node;                  // convolution, mm or addmm
  std::size_t weight_at = 1;  // in its arguments
  Argument bias;
  std::int64_t channels = 0;
  std::int64_t channel_dimension = 1;  // of the result
  std::int64_t weight_dimension = 0;   // of the weight
};

class BinaryFolding {
 public:
  explicit BinaryFolding(const Graph& from) : from_(from), rewriter_(from) {}

  PassResult run() {
    return rewrite_nodes(from_, [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
      return fold(to, old, arguments);
    });
  }

 private:
  std::optional<Rewrite> fold(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const auto binary = read(old, arguments);
    if (!binary || !rewriter_.used_once(binary->base)) return std::nullopt;
    const bool left = from_[old].arguments[0] == Argument(binary->base);
    const NodeId base = *arguments[left ? 0 : 1].get<NodeId>();
    const bool viewed = to[base].op == Op::view && keeps_columns(to, base) &&
                        (folded_.count(binary->base) != 0 || viewed_once(binary->base));
    const NodeId call = viewed ? to[base].operands.front() : base;
    const auto linear = linear_of(to, to[call]);
    if (!linear || (viewed && linear->node.op == Op::convolution)) return std::nullopt;
    const std::int64_t rank = to.type(base).rank();
    const auto values =
        values_of(to, *linear, binary->other, viewed ? rank - 1 : linear->channel_dimension, rank);
    if (!values) return std::nullopt;
    const std::string& name = from_.node_name(old);
    NodeId node = folded(to, *linear, binary->kind, *values, viewed ? name + ".product" : name);
    if (viewed) node = FreezingRewriter::make(to, Op::view, {node, to[base].arguments[1]}, name);
    folded_.insert(old);
    return Rewrite{linear->node.op == Op::convolution ? "constants into convolution"
                                                      : "constants into matrix product",
                   FreezingRewriter::with_types(to, node, from_[old], name)};
  }

  // The call as left operand, or as right operand of a commutative operator.
  std::optional<Binary> read(NodeId old, const std::vector<Argument>& arguments) {
    const auto kind = kind_of(from_[old]);
    if (!kind) return std::nullopt;
    const auto* left = from_[old].arguments[0].get<NodeId>();
    const auto* right = from_[old].arguments[1].get<NodeId>();
    if (left != nullptr && right != nullptr && *left == *right) return std::nullopt;
    if (left != nullptr && is_base(*left)) return Binary{*kind, *left, arguments[1]};
    const bool commutes = *kind == Kind::add || *kind == Kind::multiply;
    if (commutes && right != nullptr && is_base(*right)) return Binary{*kind, *right, arguments[0]};
    return std::nullopt;
  }

  static std::optional<Kind> kind_of(const Node& node) {
    const bool no_scaling =
        node.arguments.size() < 3 || node.arguments[2].absent() || node.arguments[2] == Argument(1);
    if (node.op == Op::add_Tensor && no_scaling) return Kind::add;
    if (node.op == Op::sub_Tensor && no_scaling) return Kind::subtract;
    if (node.op == Op::mul_Tensor) return Kind::multiply;
    if (node.op == Op::div_Tensor) return Kind::divide;
    return std::nullopt;
  }

  // A call that can fold constants, or one that this pass has folded already.
  bool is_base(NodeId old) const {
    const Op op = from_[old].op;
    const Op below = op == Op::view ? from_[from_[old].operands.front()].op : op;
    return below == Op::convolution || below == Op::mm || below == Op::addmm ||
           folded_.count(old) != 0;
  }

  bool viewed_once(NodeId old) const {
    return from_[old].op == Op::view && rewriter_.used_once(from_[old].operands.front());
  }

  static bool keeps_columns(const Graph& to, NodeId view) {
    const Shape& before = to.type(to[view].operands.front()).shape;
    const Shape& after = to.type(view).shape;
    return !before.empty() && !after.empty() && before.back() == after.back();
  }

  std::optional<Linear> linear_of(const Graph& to, const Node& node) {
    Linear linear{node};
    if (node.op == Op::convolution) {
      linear.bias = node.arguments[2];
      const bool transposed = *node.arguments[6].get<bool>();
      if (transposed && *node.arguments[8].get<std::int64_t>() != 1) return std::nullopt;
      linear.weight_dimension = transposed ? 1 : 0;
    } else if (node.op == Op::mm) {
      linear.weight_dimension = 1;
      linear.bias = None{};
    } else if (node.op == Op::addmm && scaled_by_one(node)) {
      linear.weight_at = 2;
      linear.bias = node.arguments[0];
      linear.weight_dimension = 1;
    } else {
      return std::nullopt;
    }
    linear.channels = node.type().shape[1];
    const DType dtype = node.type().dtype;
    if (dtype != DType::f32 && dtype != DType::f64) return std::nullopt;
    if (!rewriter_.frozen(to, node.arguments[linear.weight_at])) return std::nullopt;
    const auto* bias = linear.bias.get<NodeId>();
    if (bias != nullptr &&
        (!rewriter_.frozen(to, linear.bias) || to.type(*bias).shape != Shape{linear.channels}))
      return std::nullopt;
    return linear;
  }

  static bool scaled_by_one(const Node& node) {
    const auto one = [](const Argument& a) {
      return a.absent() || a == Argument(1) || a == Argument(1.0);
    };
    return one(node.arguments[3]) && one(node.arguments[4]);
  }

  // The constants as a number or as one value a channel; nullopt if they are neither.
  std::optional<Argument> values_of(Graph& to, const Linear& linear, const Argument& other,
                                    std::int64_t dimension, std::int64_t rank) {
    const auto* id = other.get<NodeId>();
    if (id == nullptr) return other.get<bool>() == nullptr ? std::optional(other) : std::nullopt;
    const TensorType& type = to.type(*id);
    if (!rewriter_.frozen(to, other) || type.dtype != linear.node.type().dtype) return std::nullopt;
    if (type.rank() > rank) return std::nullopt;
    for (std::int64_t i = 0; i < type.rank(); ++i) {
      const std::int64_t size = type.shape[static_cast<std::size_t>(i)];
      const bool channel = rank - type.rank() + i == dimension;
      if (size != 1 && !(channel && size == linear.channels)) return std::nullopt;
    }
    const std::int64_t count = element_count(type.shape);
    const NodeId flat =
        type.rank() == 1
            ? *id
            : FreezingRewriter::make(to, Op::reshape, {*id, Argument(Shape{count})}, "constants");
    if (count == linear.channels) return Argument(flat);
    return Argument(FreezingRewriter::make(to, Op::expand, {flat, Argument(Shape{linear.channels})},
                                           "constants"));
  }

  static NodeId folded(Graph& to, const Linear& linear, Kind kind, const Argument& values,
                       const std::string& name) {
    const auto make = [&](Op op, std::vector<Argument> arguments, std::string_view part) {
      return FreezingRewriter::make(to, op, std::move(arguments), name + std::string(part));
    };
    std::vector<Argument> arguments = linear.node.arguments;
    Argument bias = linear.bias;
    if (kind == Kind::multiply || kind == Kind::divide) {
      const Op op = kind == Kind::multiply ? Op::mul_Tensor : Op::div_Tensor;
      const NodeId weight = *arguments[linear.weight_at].get<NodeId>();
      Argument wide = values;
      if (const auto* id = values.get<NodeId>())
        wide = FreezingRewriter::along(to, *id, linear.weight_dimension, to.type(weight).rank(),
                                       name + ".factor");
      arguments[linear.weight_at] = make(op, {weight, wide}, ".weight");
      if (bias.get<NodeId>() != nullptr) bias = make(op, {bias, values}, ".bias");
    } else {
      bias = sum(to, linear, kind, values, name);
    }
    if (linear.node.op == Op::convolution) arguments[2] = bias;
    if (linear.node.op == Op::addmm) arguments[0] = bias;
    if (linear.node.op != Op::mm || bias.none())
      return make(linear.node.op, std::move(arguments), "");
    return make(Op::addmm, {bias, arguments[0], arguments[1]}, "");
  }

  // The new bias of a sum or difference: the old one (or zero) and the constants.
  static NodeId sum(Graph& to, const Linear& linear, Kind kind, const Argument& values,
                    const std::string& name) {
    const auto make = [&](Op op, std::vector<Argument> arguments) {
      return FreezingRewriter::make(to, op, std::move(arguments), name + ".bias");
    };
    const DType dtype = linear.node.type().dtype;
    const bool has_bias = linear.bias.get<NodeId>() != nullptr;
    if (!has_bias && kind == Kind::add && values.get<NodeId>() != nullptr)
      return *values.get<NodeId>();
    const NodeId before = has_bias ? *linear.bias.get<NodeId>()
                                   : make(Op::full, {Argument(Shape{linear.channels}), 0.0, dtype});
    return make(kind == Kind::add ? Op::add_Tensor : Op::sub_Tensor, {before, values});
  }

  const Graph& from_;
  FreezingRewriter rewriter_;
  std::unordered_set<NodeId> folded_;  // of the old graph; looked up only, never walked
};

}  // namespace

PassResult binary_folding(const Graph& graph) { return BinaryFolding(graph).run(); }

}  // namespace recut::passes
