// Computes complex numbers as real and imaginary parts, which compiled code can.
//
//   %z = view_as_complex(%x)               %a = select.int(%x, -1, 0)
//   %y = mul.Tensor(%z, %w)          =>    %b = select.int(%x, -1, 1)
//   %r = view_as_real(%y)                  %y_re = sub.Tensor(mul(%a, %w_re), mul(%b, %w_im))
//                                          %y_im = add.Tensor(mul(%a, %w_im), mul(%b, %w_re))
//                                          %r = where.self([true, false], %y_re, %y_im)
//
// Needs nothing. Establishes: complex numbers are read by view_as_real alone, and made by complex
// alone, as outputs of the graph, whose memory stays as it is; but for operators without a rule
// (complex/call_parts.h), which keep complex operands and outputs. Code generation refuses those by
// their names. Not bit-exact: each part is rounded where the interpreter rounds a whole number. A
// real factor multiplies parts, so that infinities don't become NaN as 0 times infinity would.
//
// Two tensors, not one with a dimension of 2: element-wise calls of parts fuse as those of real
// numbers do, calls that move elements keep their arguments, a factor without an imaginary part
// costs nothing for it, and matrix products need no copies. view_as_complex is free in both forms.
// view_as_real of computed parts selects one for each element: it fuses with the calls that make
// them (rotary embeddings run as one kernel), at the price of computing both twice.
#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/data_flow.h"
#include "engine/passes/complex/splitter.h"
#include "engine/passes/pass.h"

namespace recut::passes {
namespace {

// The splitter's graph without its dead nodes, each new one under its name. The order is that of
// the old nodes and of operands: C++ compilers order the calls of rules in ways of their own.
class Namer {
 public:
  Namer(const Graph& from, const complex_parts::Splitter& splitter)
      : from_(from),
        splitter_(splitter),
        live_(live_nodes(splitter.graph())),
        to_(from.empty_like()) {}

  Graph run() {
    const Graph& split = splitter_.graph();
    for (const NodeId old : from_.order())
      for (const NodeId id : splitter_.successors(old))
        if (from_.contains(id) || live_[split.position(id)]) visit(id);
    to_.results = split.results;
    to_.gradients = split.gradients;
    for (const auto& [alias, id] : from_.aliases())
      if (to_.contains(id)) to_.add_alias(alias, id);
    return std::move(to_);
  }

 private:
  void visit(NodeId id) {
    if (to_.contains(id)) return;
    for (const NodeId operand : splitter_.graph()[id].operands) visit(operand);
    place(id);
  }

  void place(NodeId id) {
    if (from_.contains(id)) return void(to_.carry(from_, id));
    const NodeId old = splitter_.made_for(id);
    if (!old.valid()) return void(to_.carry(splitter_.graph(), id));
    const Node& node = splitter_.graph()[id];
    Origin origin = from_.origin(old);
    const std::string name = splitter_.name(id);
    origin.name = unused(name.empty() ? std::string(operator_of(node.op).packet) : name);
    to_.append(node.op, node.arguments, node.outputs, std::move(origin));
  }

  // Names of the old graph stay free for the nodes that have them.
  std::string unused(const std::string& base) {
    std::string name = base;
    const auto is_taken = [&] {
      const NodeId old = from_.find(name);
      return to_.find(name).valid() || (old.valid() && splitter_.graph().contains(old));
    };
    for (int& count = counts_[base]; is_taken();) name = fmt::format("{}_{}", base, ++count);
    return name;
  }

  const Graph& from_;
  const complex_parts::Splitter& splitter_;
  const std::vector<bool> live_;  // by position in the splitter's graph
  Graph to_;
  std::unordered_map<std::string, int> counts_;
};

std::vector<Change> changes_of(const Graph& from, const complex_parts::Splitter& splitter,
                               const Graph& to) {
  const auto before = std::make_shared<const Graph>(from);
  const auto after = std::make_shared<const Graph>(to);
  std::vector<Change> changes;
  for (const auto& [old, by] : splitter.replaced()) {
    std::vector<ChangeDescription::Part> shown;
    std::vector<NodeId> left;
    for (const NodeId id : by) {
      if (!to.contains(id)) continue;
      left.push_back(id);
      shown.push_back({id, !from.contains(id)});
    }
    changes.push_back({"parts of complex numbers", old, left,
                       ChangeDescription(before, {old}, left.empty() ? nullptr : after, shown)});
  }
  return changes;
}

}  // namespace

PassResult complex_parts(const Graph& graph) {
  const auto order = graph.order();
  if (std::none_of(order.begin(), order.end(),
                   [&](NodeId id) { return recut::complex_parts::touches_complex(graph, id); }))
    return {graph, false, {}};
  recut::complex_parts::Splitter splitter(graph);
  splitter.run();
  Graph to = Namer(graph, splitter).run();
  if (same_graph(graph, to)) return {graph, false, {}};
  std::vector<Change> changes = changes_of(graph, splitter, to);
  return {std::move(to), true, std::move(changes)};
}

}  // namespace recut::passes
