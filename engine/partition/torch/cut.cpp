#include "engine/partition/torch/cut.h"

#include <algorithm>
#include <cmath>

#include "engine/partition/flow/max_flow.h"
#include "engine/partition/torch/bans.h"

// Builds PyTorch's network and reads the cut back:
//
//   relu -> mul, backward reads mul    =>    source -> relu.in -(w)-> relu.out -> mul.in -(w)-> …
//
// It differs from solve_min_cut in one point that doesn't change the cut: everything that needs a
// tangent is merged into the sink, where PyTorch adds an unbounded edge to it.

namespace recut::torch {
namespace {

using Position = Analysis::Position;
using Vertex = FlowNetwork::Vertex;

class CutNetwork {
 public:
  CutNetwork(const Analysis& analysis, const std::vector<Ban>& bans)
      : analysis_(analysis), network_(2 * analysis.size() + 2) {
    find_scale();
    for (Position p = 0; p < analysis.size(); ++p)
      if (!analysis.classes().tangent_closure[p]) add(p, bans[p]);
  }

  CutOutcome solve() const { return minimum_cut(network_, source(), sink()); }
  CutOutcome solve(FlowTrace& trace) const {
    return minimum_cut(network_, source(), sink(), trace);
  }

  NodeId saved_by(FlowNetwork::Edge edge) const {
    RECUT_CHECK(network_.capacity(edge) != FlowNetwork::kUnbounded, "an unbounded edge was cut");
    return analysis_.node(network_.from(edge) / 2);
  }

  std::vector<TorchFlowNode> nodes(const std::vector<Ban>& bans) const {
    std::vector<TorchFlowNode> nodes;
    for (Position p = 0; p < analysis_.size(); ++p) {
      if (analysis_.classes().tangent_closure[p]) continue;
      const auto& readers = analysis_.users(p);
      const bool needed_in_backward =
          std::any_of(readers.begin(), readers.end(),
                      [&](Position user) { return analysis_.classes().tangent_closure[user]; });
      nodes.push_back({analysis_.node(p), one_tensor(p) ? capacity(p) : -1,
                       needed_in_backward || analysis_.classes().backward[p],
                       bans[p] == Ban::none ? std::string_view() : message(bans[p])});
    }
    return nodes;
  }

  // An in -> out edge is the node itself; all other edges only connect nodes.
  TorchFlowPath path_of(const FlowPath& path) const {
    TorchFlowPath made;
    made.amount = path.amount;
    for (const FlowPath::Step step : path.steps) {
      const Vertex from = network_.from(step.edge), to = network_.to(step.edge);
      const bool inside = from + 1 == to && from % 2 == 0 && to < source();
      if (!inside && (!step.back || from >= source())) continue;
      const NodeId node = analysis_.node(from / 2);
      if (made.stops.empty() || made.stops.back().node != node) made.stops.push_back({node});
      if (inside) (step.back ? made.stops.back().returned : made.stops.back().through) = true;
    }
    return made;
  }

  // The recomputed nodes: both vertices on the sink's side, and not part of backward itself.
  std::vector<NodeId> recomputed(const std::vector<bool>& sink_side) const {
    std::vector<NodeId> nodes;
    for (Position p = 0; p < analysis_.size(); ++p)
      if (!analysis_.classes().tangent_closure[p] && sink_side[in(p)] && sink_side[out(p)])
        nodes.push_back(analysis_.node(p));
    return nodes;
  }

  std::vector<NodeId> nodes_on(const UnboundedPath& path) const {
    std::vector<NodeId> nodes;
    for (const FlowNetwork::Edge edge : path.edges) {
      const Vertex to = network_.to(edge);
      if (to == sink()) break;
      const NodeId id = analysis_.node(to / 2);
      if (nodes.empty() || nodes.back() != id) nodes.push_back(id);
    }
    return nodes;
  }

 private:
  Vertex source() const { return static_cast<Vertex>(2 * analysis_.size()); }
  Vertex sink() const { return source() + 1; }

  // A node that needs a tangent runs in backward: it merges into the sink and has no vertices.
  Vertex in(Position p) const {
    return analysis_.classes().tangent_closure[p] ? sink() : static_cast<Vertex>(2 * p);
  }
  Vertex out(Position p) const { return static_cast<Vertex>(2 * p + 1); }

  void add(Position p, Ban ban) {
    constexpr std::int64_t unbounded = FlowNetwork::kUnbounded;
    if (analysis_.classes().backward[p]) network_.add_edge(out(p), sink(), unbounded);
    if (ban != Ban::none) network_.add_edge(source(), in(p), unbounded);
    network_.add_edge(in(p), out(p), one_tensor(p) ? capacity(p) : unbounded);
    for (const Position user : analysis_.users(p)) network_.add_edge(out(p), in(user), unbounded);
  }

  // A call with several outputs can't be saved; its outputs can.
  bool one_tensor(Position p) const {
    return !analysis_.graph().op(analysis_.node(p)).multiple_outputs();
  }

  // Weights are exact, unless their sum could overflow: then all of them lose the same low bits.
  void find_scale() {
    double total = 0;
    for (Position p = 0; p < analysis_.size(); ++p) total += analysis_.node_weight(p);
    while (std::ldexp(total, -scale_) > std::ldexp(1.0, 60)) ++scale_;
  }
  std::int64_t capacity(Position p) const {
    return static_cast<std::int64_t>(std::ldexp(analysis_.node_weight(p), -scale_));
  }

  const Analysis& analysis_;
  FlowNetwork network_;
  int scale_ = 0;
};

}  // namespace

std::variant<Cut, InfiniteCut> solve_cut(const Analysis& analysis, const CutOptions& options,
                                         const std::vector<bool>& allowed) {
  Cut cut;
  cut.bans = find_bans(analysis, options, allowed);
  const CutNetwork network(analysis, cut.bans);
  const CutOutcome outcome = network.solve();
  if (const auto* path = std::get_if<UnboundedPath>(&outcome))
    return InfiniteCut{network.nodes_on(*path)};
  for (const FlowNetwork::Edge edge : std::get<MinimumCut>(outcome).edges)
    cut.saved.push_back(network.saved_by(edge));
  return cut;
}

std::variant<TorchFlow, InfiniteCut> trace_cut(const Analysis& analysis, const CutOptions& options,
                                               std::size_t max_paths) {
  const std::vector<Ban> bans = find_bans(analysis, options, {});
  const CutNetwork network(analysis, bans);
  FlowTrace trace;
  trace.max_paths = max_paths;
  const CutOutcome outcome = network.solve(trace);
  if (const auto* path = std::get_if<UnboundedPath>(&outcome))
    return InfiniteCut{network.nodes_on(*path)};
  const MinimumCut& cut = std::get<MinimumCut>(outcome);
  TorchFlow flow;
  flow.nodes = network.nodes(bans);
  for (const FlowPath& path : trace.paths) flow.paths.push_back(network.path_of(path));
  flow.found = trace.found;
  flow.capacity = cut.capacity;
  for (const FlowNetwork::Edge edge : cut.edges) flow.saved.push_back(network.saved_by(edge));
  flow.recomputed = network.recomputed(cut.sink_side);
  return flow;
}

}  // namespace recut::torch
