#include "engine/partition/torch/cut.h"

#include <cmath>

#include "engine/partition/flow/max_flow.h"
#include "engine/partition/torch/bans.h"

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

  NodeId saved_by(FlowNetwork::Edge edge) const {
    RECUT_CHECK(network_.capacity(edge) != FlowNetwork::kUnbounded, "an unbounded edge was cut");
    return analysis_.node(network_.from(edge) / 2);
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

  // What needs a tangent runs in backward: it is the sink itself, and needs no vertices.
  Vertex in(Position p) const {
    return analysis_.classes().tangent_closure[p] ? sink() : static_cast<Vertex>(2 * p);
  }
  Vertex out(Position p) const { return static_cast<Vertex>(2 * p + 1); }

  void add(Position p, Ban ban) {
    constexpr std::int64_t unbounded = FlowNetwork::kUnbounded;
    if (analysis_.classes().backward[p]) network_.add_edge(out(p), sink(), unbounded);
    if (ban != Ban::none) network_.add_edge(source(), in(p), unbounded);
    // A call with several outputs can't be saved itself, only its outputs.
    const bool one_tensor = !analysis_.graph().op(analysis_.node(p)).multiple_outputs();
    network_.add_edge(in(p), out(p), one_tensor ? capacity(p) : unbounded);
    for (const Position user : analysis_.users(p)) network_.add_edge(out(p), in(user), unbounded);
  }

  // Prices are exact but for graphs so large that they would overflow; those lose low bits alike.
  void find_scale() {
    double total = 0;
    for (Position p = 0; p < analysis_.size(); ++p) total += analysis_.saving_price(p);
    while (std::ldexp(total, -scale_) > std::ldexp(1.0, 60)) ++scale_;
  }
  std::int64_t capacity(Position p) const {
    return static_cast<std::int64_t>(std::ldexp(analysis_.saving_price(p), -scale_));
  }

  const Analysis& analysis_;
  FlowNetwork network_;
  int scale_ = 0;
};

}  // namespace

std::variant<Cut, Impossible> solve_cut(const Analysis& analysis, const CutOptions& options,
                                        const std::vector<bool>& allowed) {
  Cut cut;
  cut.bans = find_bans(analysis, options, allowed);
  const CutNetwork network(analysis, cut.bans);
  const CutOutcome outcome = network.solve();
  if (const auto* path = std::get_if<UnboundedPath>(&outcome))
    return Impossible{network.nodes_on(*path)};
  for (const FlowNetwork::Edge edge : std::get<MinimumCut>(outcome).edges)
    cut.saved.push_back(network.saved_by(edge));
  return cut;
}

}  // namespace recut::torch
