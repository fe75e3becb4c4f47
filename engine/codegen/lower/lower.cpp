// A kernel is lowered in three steps: check every call and its operands, build loop nests, clean up
// with licm and dce_and_cse. Calls with a formula that only feed calls of the same kernel get no
// loops: their consumers compute the element where they need it.
//   %a = mul(%x, %y); %s = sum(%a)    =>    for i { acc += x[i] * y[i] }
// Outputs of equal layouts share one nest. Reductions of the same rows share one too (row_nest.h),
// and the calls after them in the kernel are emitted behind their sums. Every other operator has a
// nest of its own and may only read from memory. The checks come first, so that the nests need not
// fail: all faults of a kernel are reported at once.
#include "engine/codegen/lower/lower.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/codegen/loop/dce_and_cse.h"
#include "engine/codegen/loop/licm.h"
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/row_nest.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/ir/region_call.h"
#include "engine/passes/region_inlining.h"
#include "engine/support/text.h"

namespace recut::loop {
namespace {

// A call of nested graphs has none: passes replace it, or say why not.
std::string other_ways(const Graph& graph, NodeId id) {
  if (!has_regions(graph, id)) return std::string(expansion_tip(graph[id].op));
  if (const auto why = why_not_inlined(graph, id))
    return fmt::format(": {}; `recut eval` computes it", *why);
  return ": the passes inline_regions and expand_flex_attention make calls with one of it";
}

// Pointwise and creation operators may be computed where they are read; a value of any other
// operator is read from memory.
bool is_pointwise(const Operator& op) {
  return op.is(kPointwise | kCreation | kRandom) && formula_entry(op.op).formula != nullptr;
}

// By FormulaDTypes: the dtypes that a formula doesn't take.
constexpr bool (*kLacking[])(DType) = {
    [](DType d) { return !has_arithmetic(d); },
    [](DType d) { return !has_arithmetic(d) && !is_float8(d); },
    [](DType d) { return !has_arithmetic(d) && !is_complex(d); },
};

class Lowerer {
 public:
  Lowerer(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
          std::vector<NodeId> calls, const LowerOptions& options)
      : graph_(graph),
        calls_(std::move(calls)),
        rows_(row_kernel(graph, calls_)),
        lowering_(graph, storages, groups, calls_, options) {}

  Result<LoweredKernel> run() {
    for (const NodeId id : calls_) check(id);
    if (!diagnostics_.empty()) return diagnostics_;
    for (const NodeId id : calls_)
      if (nest_entry(graph_[id].op).reduce != nullptr && row_nest(id) == nullptr) add_row_nest(id);
    for (const NodeId id : calls_) build(id);
    LoweredKernel lowered = lowering_.finish();
    lowered.kernel = dce_and_cse(licm(lowered.kernel));
    lowered.kernel.name = name();
    for (const NodeId id : calls_)
      lowered.kernel.locations.push_back(
          fmt::format("%{} = {}", graph_.node_name(id), graph_.op(id).name));
    return lowered;
  }

 private:
  void report(NodeId id, const std::string& message) {
    diagnostics_.push_back(node_diagnostic(graph_, id, message));
  }

  void check(NodeId id) {
    const Operator& op = graph_.op(id);
    const Call::TypesOf types_of = [this](NodeId node) { return graph_.pool().types_of(node); };
    const FormulaEntry& formula = formula_entry(op.op);
    const NestEntry& nest = nest_entry(op.op);
    const DType dtype = first_dtype(
        graph_[id].arguments, graph_[id].outputs, types_of,
        kLacking[static_cast<std::size_t>(nest.exists() ? nest.dtypes : formula.dtypes)]);
    if (dtype != DType::none)
      return report(
          id, fmt::format("operator '{}' has no lowering for {} yet{}", op.name, short_name(dtype),
                          has_values(dtype) ? "; recut eval computes it" : ""));
    if (formula.formula == nullptr && !nest.exists())
      return report(
          id, fmt::format("operator '{}' has no lowering yet{}", op.name, other_ways(graph_, id)));
    const UnsupportedReason unsupported = nest.exists() ? nest.unsupported : formula.unsupported;
    if (unsupported != nullptr)
      if (const auto why = unsupported(lowering_.call_of(id)))
        return report(id, fmt::format("operator '{}' has no lowering for {} yet", op.name, *why));
    for (const NodeId operand : graph_[id].operands) check_operand(id, operand);
    if (layout::rule_of(op.op) == nullptr) return;
    for (std::size_t i = 0; i < graph_[id].outputs.size(); ++i)
      if (const auto shown = compose_view(graph_, id, i); !shown) report(id, message_of(shown));
  }

  static const std::string& message_of(const Result<ViewMap>& failed) {
    return failed.diagnostics().front().message;
  }

  void check_operand(NodeId id, NodeId operand) {
    const auto view_map = view_map_of(graph_, operand);
    if (!view_map) return report(id, message_of(view_map));
    const NodeId producer = view_map->base.node;
    if (!lowering_.is_member(producer)) return;
    const bool readable = is_pointwise(graph_.op(producer)) || rows_.is_behind(id);
    const bool reductions = graph_.op(id).is(kReduction);
    if (!readable || !(is_pointwise(graph_.op(id)) || reductions))
      report(id, fmt::format("reads {}, which this kernel makes by loops of its own",
                             quote(graph_.node_name(producer))));
  }

  RowNest* row_nest(NodeId id) {
    for (RowNest& nest : row_nests_)
      if (nest.has(id)) return &nest;
    return nullptr;
  }

  void add_row_nest(NodeId first) {
    const RowNest& nest = row_nests_.emplace_back(lowering_, calls_, rows_, first);
    built_.insert(built_.end(), nest.outputs().begin(), nest.outputs().end());
  }

  void build(NodeId id) {
    if (nest_entry(graph_[id].op).build != nullptr) return build_nest(id);
    RowNest* const nest = row_nest(id);
    if (nest == nullptr) return build_formulas(id);
    if (nest->first() == id) nest->build();
  }

  void build_nest(NodeId id) {
    bool requested = false;
    for (std::size_t i = 0; i < graph_[id].outputs.size(); ++i)
      requested = requested || lowering_.is_materialized({id, i});
    if (!requested) return;
    const Lowering::LocationScope scope(lowering_, id);
    const Call call = lowering_.call_of(id);
    nest_entry(graph_[id].op).build(Nest(lowering_, call, id));
  }

  // All outputs of one layout are written by one nest, when the first of them is reached.
  void build_formulas(NodeId first) {
    for (std::size_t i = 0; i < graph_[first].outputs.size(); ++i) {
      const ValueRef ref{first, i};
      if (!is_output(ref) || is_built(ref)) continue;
      std::vector<ValueRef> together;
      for (const NodeId id : calls_)
        for (std::size_t o = 0; o < graph_[id].outputs.size(); ++o)
          if (is_output({id, o}) && !is_built({id, o}) && same_layout({id, o}, ref))
            together.push_back({id, o});
      built_.insert(built_.end(), together.begin(), together.end());
      const Lowering::LocationScope scope(lowering_, first);
      const Layout layout = output_layout(lowering_.type(ref));
      lowering_.for_each(layout.shape, layout.strides, [&](const Indices& at) {
        for (const ValueRef& out : together) lowering_.write_computed(out, at);
      });
    }
  }

  bool is_output(const ValueRef& ref) const {
    return !nest_entry(graph_[ref.node].op).exists() && lowering_.is_materialized(ref);
  }
  bool is_built(const ValueRef& ref) const {
    return std::find(built_.begin(), built_.end(), ref) != built_.end();
  }
  bool same_layout(const ValueRef& a, const ValueRef& b) const {
    const Layout one = output_layout(lowering_.type(a));
    const Layout other = output_layout(lowering_.type(b));
    return one.shape == other.shape && one.strides == other.strides;
  }

  std::string name() const {
    std::string words;
    for (const NodeId id : calls_) {
      if (words.size() > 60) return words + ", ...";
      words += (words.empty() ? "" : ", ") + graph_.node_name(id);
    }
    return words;
  }

  const Graph& graph_;
  const std::vector<NodeId> calls_;
  const RowKernel rows_;
  Lowering lowering_;
  std::deque<RowNest> row_nests_;
  std::vector<ValueRef> built_;  // including outputs that a RowNest will store
  Diagnostics diagnostics_;
};

}  // namespace

Result<LoweredKernel> lower(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls,
                            const LowerOptions& options) {
  return Lowerer(graph, storages, groups, computed_calls(graph, calls), options).run();
}

std::vector<NodeId> computed_calls(const Graph& graph, std::span<const NodeId> calls) {
  std::vector<NodeId> computed(calls.begin(), calls.end());
  std::erase_if(computed, [&](NodeId id) { return graph.op(id).is(kView); });
  return computed;
}

bool has_lowering(Op op) { return formula_entry(op).formula != nullptr || nest_entry(op).exists(); }

}  // namespace recut::loop
