// Inlines both branches of a condition, and selects each result, so that it can be compiled.
//
//   %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x], draw=0) : (f32[4])
//   %y = getitem(%c, 0)      =>   %s = sin(%x); %t = cos(%x); %y = where.self(%p, %s, %t)
//
// Needs nothing. Establishes: no call is a condition whose branches are in the graph, can't fail
// and have no effect. A branch may fail or have an effect if it draws random numbers, reads at
// indices that are data, divides integers, solves, addresses storages, or calls an external
// operator. Bit-exact: a selection takes the values of the branch that the condition would run.
// Where the predicate is known, its branch alone is inlined.
#include <algorithm>
#include <map>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/region_call.h"
#include "engine/passes/pass.h"

namespace recut::passes {
namespace {

bool may_run_untaken(const Graph& region, NodeId id) {
  const Operator& op = region.op(id);
  if (is_external(op.op) || op.is(kRandom | kImpure | kScatterGather | kLinearAlgebra |
                                  kDataDependent | kReadsStorage | kCollective | kWait | kInput))
    return false;
  // Divisions are the pointwise operators on integers that can fail, and none of them is cheap.
  if (!op.is(kPointwise) || op.is(kCheap)) return true;
  for (const TensorType& type : region[id].outputs)
    if (type.exists() && !is_floating(type.dtype) && type.dtype != DType::boolean) return false;
  return true;
}

bool may_run_untaken(const Graph& region) {
  for (const NodeId id : region.order())
    if (!region.is_input(id) && !may_run_untaken(region, id)) return false;
  return std::all_of(region.results.begin(), region.results.end(),
                     [](NodeId id) { return id.valid(); });
}

// Recorded layouts of a region follow from those of its inputs.
bool has_types_of(const Graph& graph, const Graph& region, const std::vector<NodeId>& operands) {
  if (region.device != graph.device || region.inputs().size() != operands.size()) return false;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (graph.type(operands[i]) != region.type(region.inputs()[i])) return false;
  return true;
}

bool is_scalar_bool(const TensorType& type) {
  return type.dtype == DType::boolean && type.shape.empty();
}

bool can_be_inlined(const Graph& graph, NodeId id) {
  const auto call = region_call(graph[id]);
  if (!call || call->kind != RegionCallKind::branches || !has_regions(graph, id)) return false;
  if (!check_regions(graph, id).empty()) return false;
  const auto* predicate = call->predicate.get<NodeId>();
  if (predicate != nullptr && !is_scalar_bool(graph.type(*predicate))) return false;
  for (const TensorType& type : graph[id].outputs)
    if (type.exists() && !is_dense(type)) return false;
  const std::vector<NodeId> operands = operands_among(call->whole);
  return std::all_of(call->regions.begin(), call->regions.end(), [&](const std::string& name) {
    const Graph& region = *graph.region(name);
    return may_run_untaken(region) && has_types_of(graph, region, operands);
  });
}

class Inliner {
 public:
  explicit Inliner(const Graph& from) : from_(from) {}

  PassResult run() {
    Graph to =
        rebuild(from_, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
          return place(graph, old, arguments);
        });
    const bool changed = !changes_.empty();
    return {std::move(to), changed, std::move(changes_)};
  }

 private:
  // A condition becomes no node of its own: its results are known where a getitem reads them.
  NodeId place(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const Node& node = from_[old];
    if (can_be_inlined(from_, old)) {
      inline_call(to, old, arguments);
      return NodeId();
    }
    const auto source =
        node.op == Op::getitem ? values_.find(node.operands.front()) : values_.end();
    if (source == values_.end()) return keep_node(from_, to, old, arguments);
    const Call::TypesOf types_of = [this](NodeId id) { return from_.pool().types_of(id); };
    const Call call(operator_of(node.op), node.arguments, types_of);
    return select(to, old, source->second, static_cast<std::size_t>(call.integer("index")));
  }

  struct Values {
    Argument predicate;                         // in the new graph
    std::vector<std::vector<NodeId>> branches;  // results
  };

  void inline_call(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const RegionCall call = *region_call(Node{from_[old].op, arguments, from_[old].outputs, {}});
    const std::vector<NodeId> operands = operands_among(call.whole);
    const auto* known = call.predicate.get<bool>();
    Values& values = values_[old];
    values.predicate = call.predicate;
    for (std::size_t i = 0; i < call.regions.size(); ++i)
      if (known == nullptr || *known == (i == 0))
        values.branches.push_back(inline_region(to, *from_.region(call.regions[i]), operands));
    changes_.push_back({"condition", old, {}, print_node(from_, old) + "  =>  its branches"});
  }

  static std::vector<NodeId> inline_region(Graph& to, const Graph& region,
                                           const std::vector<NodeId>& operands) {
    std::map<NodeId, NodeId> images;
    for (std::size_t i = 0; i < operands.size(); ++i) images[region.inputs()[i]] = operands[i];
    for (const NodeId id : region.order())
      if (!region.is_input(id))
        images[id] = copy_node(region, id, to, region.origin(id),
                               [&](NodeId operand) { return images.at(operand); });
    std::vector<NodeId> results;
    for (const NodeId id : region.results) results.push_back(images.at(id));
    return results;
  }

  NodeId select(Graph& to, NodeId old, const Values& values, std::size_t index) {
    const NodeId first = values.branches.front()[index];
    if (values.branches.size() == 1) return first;
    return to.append(Op::where_self, {values.predicate, first, values.branches.back()[index]},
                     from_[old].outputs, from_.origin(old));
  }

  const Graph& from_;
  std::map<NodeId, Values> values_;  // of inlined calls
  std::vector<Change> changes_;
};

}  // namespace

PassResult inline_conditions(const Graph& graph) { return Inliner(graph).run(); }

}  // namespace recut::passes
