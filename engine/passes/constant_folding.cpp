// Constant folding: evaluates values that follow from the graph alone, and writes them as one
// `arange` or `full`.
//
//   %ones = full([8], 1, dtype=i64)
//   %sums = cumsum(%ones, 0)            =>     %y = arange.start_step(0, 8, 1, dtype=i64)
//   %y = sub.Tensor(%sums, 1)
//
// Needs nothing. The interpreter evaluates calls of at most kMaxFoldedElements elements whose
// operands are all created by the graph (full, arange, eye, …), except random ones. A graph has no
// tables of values, so that only splats and integers in equal steps along one dimension are folded;
// values that come with a model are fold_frozen's task (freezing.h). Establishes: no such value is
// computed. Bit-exact, since the values are compared. Outputs, and values that share storage with
// one, stay. splat_constants finds larger splats without evaluation; this pass also folds
// reductions, scans and comparisons (Inductor's pointless_cumsum is one case). Opt-in: among the
// models in samples/joint it folds 6 of 2,535 nodes of gpt2 and none of any other, and evaluation
// takes time.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/eval/evaluator.h"
#include "engine/ir/aliases.h"
#include "engine/passes/freezing/rewriter.h"
#include "engine/passes/rewrite_nodes.h"

namespace recut::passes {
namespace {

constexpr std::int64_t kMaxFoldedElements = 16 * 1024;
constexpr double kMaxExactInteger =
    16'777'216;  // f32 counts without a gap until here, f64 far beyond

// start, start + step, …: along `dimension`, the same in all others. step 0: one number.
struct Progression {
  double start = 0, step = 0;
  std::size_t dimension = 0;
};

bool same_bits(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

std::optional<Progression> progression_of(const Tensor& tensor) {
  const Reals values = unpack<double>(tensor);
  if (values.count() == 0 || std::isnan(values[0])) return std::nullopt;
  const Strides strides = contiguous_strides(values.shape);
  Progression found{values[0], 0, 0};
  for (std::size_t d = 0; d < values.shape.size(); ++d)
    if (values.shape[d] > 1 && !same_bits(values[strides[d]], values[0]))
      found = {values[0], values[strides[d]] - values[0], d};
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const double index =
        found.step == 0
            ? 0
            : static_cast<double>(i / strides[found.dimension] % values.shape[found.dimension]);
    const double expected = found.step == 0 ? found.start : found.start + index * found.step;
    if (!same_bits(values[i], expected)) return std::nullopt;
    if (!is_floating(tensor.dtype) && std::abs(expected) > kMaxExactInteger) return std::nullopt;
    if (found.step != 0 &&
        (expected != std::trunc(expected) || std::abs(expected) > kMaxExactInteger))
      return std::nullopt;
  }
  return found;
}

class ConstantFolder {
 public:
  explicit ConstantFolder(const Graph& from) : from_(from), pinned_(from) {}

  PassResult run() {
    find_targets();
    compute();
    return rewrite_nodes(from_, [&](Graph& to, NodeId old, const std::vector<Argument>&) {
      return written(to, old);
    });
  }

 private:
  // Finding and computing
  // ----------------------------------------------------------------------------------------------

  bool can_be_folded(NodeId id) const {
    const Operator& op = from_.op(id);
    if (op.is(kInput | kImpure | kRandom | kDataDependent)) return false;
    if (op.packet.find("empty") != std::string_view::npos) return false;  // holds no values
    if (from_[id].operands.empty() && !op.is(kCreation)) return false;
    std::int64_t elements = 0;
    for (const TensorType& type : from_[id].outputs)
      if (type.exists() && !has_arithmetic(type.dtype)) return false;
    for (const TensorType& type : from_[id].outputs) elements += element_count(type.shape);
    return elements <= kMaxFoldedElements &&
           std::all_of(from_[id].operands.begin(), from_[id].operands.end(),
                       [&](NodeId operand) { return known_.count(operand) != 0; });
  }

  // Tells whether a value is created, then only viewed or copied: it cannot be written shorter.
  bool is_created(NodeId id) const {
    while (from_.op(id).is(kView | kCopy) || from_[id].op == Op::clone) {
      if (from_[id].operands.size() != 1) return false;
      id = from_[id].operands.front();
    }
    return from_.op(id).is(kCreation);
  }

  void find_targets() {
    for (const NodeId id : from_.order())
      if (can_be_folded(id)) known_.insert(id);
    std::set<NodeId> returned;
    for (const auto* outputs : {&from_.results, &from_.gradients})
      for (const NodeId id : *outputs)
        if (id.valid()) returned.insert(storage_root(from_, id));
    const auto add_target = [&](NodeId id) {
      if (known_.count(id) != 0 && !from_.op(id).multiple_outputs() && !is_created(id) &&
          !pinned_.contains(id) && returned.count(storage_root(from_, id)) == 0)
        targets_.push_back(id);
    };
    for (const NodeId id : from_.order())
      if (known_.count(id) == 0)
        for (const NodeId operand : from_[id].operands) add_target(operand);
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  }

  // If evaluation fails (data out of range, an operator without a kernel), nothing is folded.
  void compute() {
    if (targets_.empty()) return;
    Graph folded_graph = from_.empty_like();
    std::set<NodeId> needed(targets_.begin(), targets_.end());
    for (auto it = from_.order().rbegin(); it != from_.order().rend(); ++it)
      if (needed.count(*it) != 0)
        needed.insert(from_[*it].operands.begin(), from_[*it].operands.end());
    for (const NodeId id : from_.order())
      if (needed.count(id) != 0)
        folded_graph.append(from_[id].op, from_[id].arguments, from_[id].outputs, from_.origin(id));
    folded_graph.results = targets_;
    const auto computed = evaluate(folded_graph, {});
    if (!computed) return;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (const auto found = progression_of(computed->outputs[i]))
        found_.emplace(targets_[i], *found);
  }

  // Writing
  // ----------------------------------------------------------------------------------------------

  std::optional<Rewrite> written(Graph& to, NodeId old) {
    const auto it = found_.find(old);
    if (it == found_.end()) return std::nullopt;
    const TensorType& type = from_.type(old);
    if (type != make_type(type.dtype, type.shape, type.device)) return std::nullopt;
    const std::string& name = from_.node_name(old);
    const bool is_splat = it->second.step == 0;
    if (!is_splat && type.dtype == DType::boolean) return std::nullopt;
    const NodeId node =
        is_splat ? full(to, type, it->second.start, name) : steps(to, type, it->second, name);
    return Rewrite{is_splat ? "one number" : "equal steps", node};
  }

  static Argument number(DType dtype, double value) {
    if (is_floating(dtype)) return value;
    if (dtype == DType::boolean) return value != 0;
    return static_cast<std::int64_t>(value);
  }

  static Argument device_of(const TensorType& type) {
    return type.device.empty() ? Argument() : Argument(type.device);
  }

  static NodeId full(Graph& to, const TensorType& type, double value, const std::string& name) {
    return FreezingRewriter::make(to, Op::full,
                                  {Argument(type.shape), number(type.dtype, value), type.dtype,
                                   Argument(), device_of(type), Argument()},
                                  name);
  }

  static NodeId steps(Graph& to, const TensorType& type, const Progression& found,
                      const std::string& name) {
    const std::int64_t count = type.shape[found.dimension];
    const double end = found.start + found.step * static_cast<double>(count);
    NodeId node = FreezingRewriter::make(
        to, Op::arange_start_step,
        {number(type.dtype, found.start), number(type.dtype, end), number(type.dtype, found.step),
         type.dtype, Argument(), device_of(type), Argument()},
        name);
    if (type.rank() == 1) return node;
    Shape along(type.shape.size(), 1);
    along[found.dimension] = count;
    node = FreezingRewriter::make(to, Op::view, {node, Argument(along)}, name);
    if (along == type.shape) return node;
    node = FreezingRewriter::make(to, Op::expand, {node, Argument(type.shape)}, name);
    return FreezingRewriter::make(to, Op::clone, {node, "contiguous_format"}, name);
  }

  const Graph& from_;
  PinnedStorages pinned_;
  std::set<NodeId> known_;
  std::vector<NodeId> targets_;
  std::map<NodeId, Progression> found_;
};

}  // namespace

PassResult constant_folding(const Graph& graph) { return ConstantFolder(graph).run(); }

}  // namespace recut::passes
