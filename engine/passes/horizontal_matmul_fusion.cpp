// Horizontal fusion of matrix products: products with a common left operand become one.
//
//   %q = mm(%x, %a)                   %w = cat([%a, %b, %c], 1)
//   %k = mm(%x, %b)                   %y = mm(%x, %w)
//   %v = mm(%x, %c)            =>     %s = split_with_sizes(%y, [n, n, n], 1)
//                                     %q = getitem(%s, 0)   …
//
// The same for addmm, whose biases are concatenated too, and for linear. Needs: two or more
// products of one kind whose right operands and biases are computed from parameters and constants
// alone, so that they exist before the first product, and forward and backward do not wait for each
// other. Establishes: no two such products are left. Bit-exact in the interpreter, since every
// element is the same sum in the same order; a library may choose another kernel for the wider
// product. The parts are views of the whole if all their readers accept that, else copies.
//
// At stage freezing the concatenation is computed once and only the product remains (Inductor's
// freezing patterns, for three products of equal shape). In training the weights would be
// concatenated in every step; there it is opt-in. In C++ instead of rules, since the number of
// products is open.
#include <algorithm>
#include <map>
#include <tuple>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/rebuild.h"
#include "engine/passes/freezing/frozen_values.h"
#include "engine/passes/freezing/rewriter.h"

namespace recut::passes {
namespace {

// The indices of a product's operands among its arguments.
struct MatmulOperands {
  std::size_t input, weight, bias;  // bias is 3 if there is none
  std::int64_t weight_columns;      // the dimension of the weight that becomes columns
};

std::optional<MatmulOperands> operand_indices(const Node& node) {
  if (node.op == Op::mm) return MatmulOperands{0, 1, 3, 1};
  if (node.op == Op::addmm) return MatmulOperands{1, 2, 0, 1};
  if (node.op == Op::linear) return MatmulOperands{0, 1, 2, 0};
  return std::nullopt;
}

struct MatmulGroup {
  std::vector<NodeId> matmuls;  // of the old graph, in order
  bool copied = false;          // the parts must be contiguous
  NodeId split;                 // of the new graph, once the first is reached
};

class HorizontalFusion {
 public:
  explicit HorizontalFusion(const Graph& from) : from_(from) { find_groups(); }

  PassResult run() {
    return rewrite_nodes(
        from_, [&](Graph& to, NodeId old, const std::vector<Argument>&) { return fuse(to, old); },
        [&](NodeId old, const Graph&, NodeId successor) { image_[old] = successor; });
  }

 private:
  // Candidates
  // ----------------------------------------------------------------------------------------------

  // Products of one kind with one left operand.
  using Key = std::tuple<Op, NodeId, bool>;

  void find_groups() {
    const PinnedStorages pinned(from_);
    std::map<Key, std::size_t> group_indices;
    std::vector<MatmulGroup> found;
    for (const NodeId id : from_.order()) {
      const auto key = key_of(id);
      if (!key || pinned.contains(id)) continue;
      const auto [it, fresh] = group_indices.emplace(*key, found.size());
      if (fresh) found.emplace_back();
      found[it->second].matmuls.push_back(id);
    }
    const std::size_t inputs_end = last_input();
    for (MatmulGroup& group : found) {
      // The fused product is created at the position of the first.
      if (group.matmuls.size() < 2 || from_.position(group.matmuls.front()) < inputs_end) continue;
      group.copied = !parts_may_be_views(group);
      for (const NodeId id : group.matmuls) group_of_[id] = groups_.size();
      groups_.push_back(std::move(group));
    }
  }

  std::size_t last_input() const {
    std::size_t last = 0;
    for (const NodeId id : from_.inputs()) last = std::max(last, from_.position(id));
    return last;
  }

  std::optional<Key> key_of(NodeId id) {
    const Node& node = from_[id];
    const auto operands_at = operand_indices(node);
    if (!operands_at || !is_contiguous(node.type()) || !is_floating(node.type().dtype))
      return std::nullopt;
    if (node.op == Op::addmm && (!is_one(node.arguments[3]) || !is_one(node.arguments[4])))
      return std::nullopt;
    if (!is_frozen(node.arguments[operands_at->weight])) return std::nullopt;
    const auto* bias =
        operands_at->bias < 3 ? node.arguments[operands_at->bias].get<NodeId>() : nullptr;
    const Shape columns = {node.type().shape.back()};
    if (bias != nullptr && (!is_frozen(*bias) || from_.type(*bias).shape != columns))
      return std::nullopt;
    return Key{node.op, *node.arguments[operands_at->input].get<NodeId>(), bias != nullptr};
  }

  static bool is_one(const Argument& factor) {
    return factor.absent() || factor == Argument(1) || factor == Argument(1.0);
  }

  bool is_frozen(const Argument& argument) {
    return frozen_.contains(from_, *argument.get<NodeId>());
  }

  // Tells whether all readers accept the strides of parts within the whole, transitively, and no
  // output changes its type. On success the new types hold for later groups too.
  bool parts_may_be_views(const MatmulGroup& group) {
    std::int64_t columns = 0;
    for (const NodeId id : group.matmuls) columns += from_.type(id).shape.back();
    Types retyped = retyped_;
    for (const NodeId id : group.matmuls) {
      if (is_returned(id)) return false;
      TensorType type = from_.type(id);
      Shape whole = type.shape;
      whole.back() = columns;
      type.strides = contiguous_strides(whole);
      retyped[id] = {type};
    }
    const auto types_of = [&](NodeId id) -> std::span<const TensorType> {
      const auto it = retyped.find(id);
      return it == retyped.end() ? from_.pool().types_of(id) : it->second;
    };
    for (std::size_t p = from_.position(group.matmuls.front()); p < from_.order().size(); ++p) {
      const NodeId id = from_.order()[p];
      const auto& operands = from_[id].operands;
      if (retyped.count(id) != 0 || std::none_of(operands.begin(), operands.end(),
                                                 [&](NodeId o) { return retyped.count(o) != 0; }))
        continue;
      auto types = infer_types(from_.op(id), from_[id].arguments, types_of);
      if (!types) return false;
      if (*types == from_[id].outputs) continue;
      if (is_output(id)) return false;
      retyped[id] = std::move(*types);
    }
    retyped_ = std::move(retyped);
    return true;
  }

  // Tells whether an output shares the storage. As a view it would share that of another output.
  bool is_returned(NodeId id) const {
    const auto among = [&](const std::vector<NodeId>& outputs) {
      return std::any_of(outputs.begin(), outputs.end(), [&](NodeId output) {
        return output.valid() && storage_root(from_, output) == id;
      });
    };
    return among(from_.results) || among(from_.gradients);
  }

  bool is_output(NodeId id) const {
    const auto among = [&](const std::vector<NodeId>& outputs) {
      return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
    };
    return among(from_.results) || among(from_.gradients);
  }

  // Joining
  // ----------------------------------------------------------------------------------------------

  std::optional<Rewrite> fuse(Graph& to, NodeId old) {
    const auto it = group_of_.find(old);
    if (it == group_of_.end()) return std::nullopt;
    MatmulGroup& group = groups_[it->second];
    if (!group.split.valid()) group.split = fused(to, group);
    const auto at = std::find(group.matmuls.begin(), group.matmuls.end(), old);
    const std::int64_t part = at - group.matmuls.begin();
    const std::string& name = from_.node_name(old);
    NodeId node = FreezingRewriter::make(to, Op::getitem, {group.split, Argument(part)},
                                         group.copied ? name + ".part" : name);
    if (group.copied)
      node = FreezingRewriter::make(to, Op::clone, {node, "contiguous_format"}, name);
    return Rewrite{"matmuls of one operand", node};
  }

  NodeId fused(Graph& to, const MatmulGroup& group) {
    const Node& first = from_[group.matmuls.front()];
    const MatmulOperands operands_at = *operand_indices(first);
    const std::string name = from_.node_name(group.matmuls.front()) + ".joined";
    std::vector<NodeId> weights, biases;
    Shape sizes;
    for (const NodeId id : group.matmuls) {
      const Node& node = from_[id];
      weights.push_back(imported(to, *node.arguments[operands_at.weight].get<NodeId>()));
      if (operands_at.bias < 3 && node.arguments[operands_at.bias].get<NodeId>() != nullptr)
        biases.push_back(imported(to, *node.arguments[operands_at.bias].get<NodeId>()));
      sizes.push_back(node.type().shape.back());
    }
    std::vector<Argument> arguments = first.arguments;
    arguments[operands_at.input] = imported(to, *first.arguments[operands_at.input].get<NodeId>());
    arguments[operands_at.weight] = FreezingRewriter::make(
        to, Op::cat, {Argument(weights), Argument(operands_at.weight_columns)}, name + ".weight");
    if (!biases.empty())
      arguments[operands_at.bias] =
          FreezingRewriter::make(to, Op::cat, {Argument(biases), 0}, name + ".bias");
    const NodeId whole = FreezingRewriter::make(to, first.op, std::move(arguments), name);
    return FreezingRewriter::make(to, Op::split_with_sizes,
                                  {whole, Argument(sizes), Argument(first.type().rank() - 1)},
                                  name + ".parts");
  }

  // The successor of a node of the old graph, created now if it comes later (the weight of a later
  // product). Inputs and constants are their own successors.
  NodeId imported(Graph& to, NodeId old) {
    if (from_[old].op == Op::constant) return to.add_constant(from_.type(old), from_.origin(old));
    if (from_.op(old).is(kInput)) return old;
    if (const auto it = image_.find(old); it != image_.end()) return it->second;
    const auto arguments =
        arguments_with(from_[old], [&](NodeId operand) { return imported(to, operand); });
    return image_[old] = keep_node(from_, to, old, arguments);
  }

  using Types = std::map<NodeId, std::vector<TensorType>>;

  const Graph& from_;
  FrozenValues frozen_;
  Types retyped_;  // of the old graph: values with other strides once parts are views
  std::vector<MatmulGroup> groups_;
  std::map<NodeId, std::size_t> group_of_;
  std::map<NodeId, NodeId> image_;
};

}  // namespace

PassResult horizontal_matmul_fusion(const Graph& graph) { return HorizontalFusion(graph).run(); }

}  // namespace recut::passes
