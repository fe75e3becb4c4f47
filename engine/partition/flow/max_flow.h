// Maximum flow and minimum cut in a network of numbered vertices, by Dinic's algorithm (1970):
// O(V² E) at worst, far less on the sparse networks of the planners. Nothing here knows a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

namespace recut {

// Capacities are exact integers. An unbounded edge is never cut; it is a kind of its own, not a
// large number, so that it can't be mistaken for one.
class FlowNetwork {
 public:
  using Vertex = std::uint32_t;
  using Edge = std::uint32_t;  // in order of addition

  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  // The bounded capacities of a network add up to no more than this.
  static constexpr std::int64_t kMaxTotal = std::int64_t{1} << 61;

  explicit FlowNetwork(std::size_t vertices) : vertices_(vertices) {}

  // Parallel edges add up. A capacity is 0 or more.
  Edge add_edge(Vertex from, Vertex to, std::int64_t capacity);

  std::size_t vertices() const { return vertices_; }
  std::size_t edges() const { return from_.size(); }
  Vertex from(Edge edge) const { return from_[edge]; }
  Vertex to(Edge edge) const { return to_[edge]; }
  std::int64_t capacity(Edge edge) const { return capacity_[edge]; }

 private:
  std::size_t vertices_;
  std::vector<Vertex> from_, to_;
  std::vector<std::int64_t> capacity_;
};

// The minimum cut nearest the sink: its sink side is a subset of every other minimum cut's.
struct MinimumCut {
  std::int64_t capacity = 0;
  std::vector<bool> sink_side;           // by vertex
  std::vector<FlowNetwork::Edge> edges;  // from the source's side to the sink's, ascending
};

// No cut has a bounded capacity: a path of unbounded edges leads from the source to the sink.
struct UnboundedPath {
  std::vector<FlowNetwork::Edge> edges;
};

using CutOutcome = std::variant<MinimumCut, UnboundedPath>;
CutOutcome minimum_cut(const FlowNetwork& network, FlowNetwork::Vertex source,
                       FlowNetwork::Vertex sink);

// The augmenting paths, in the order in which they were found. A path may follow an edge backwards,
// which cancels flow of an earlier path there.
struct FlowPath {
  struct Step {
    FlowNetwork::Edge edge = 0;
    bool back = false;
  };
  std::vector<Step> steps;  // from the source to the sink
  std::int64_t amount = 0;
};
struct FlowTrace {
  std::size_t max_paths = 64;   // how many paths are kept at most; set before the call
  std::vector<FlowPath> paths;  // the first ones
  std::size_t found = 0;        // how many there are in all
  bool complete() const { return paths.size() == found; }
};

// The same, and records the augmenting paths: none where no cut is bounded.
CutOutcome minimum_cut(const FlowNetwork& network, FlowNetwork::Vertex source,
                       FlowNetwork::Vertex sink, FlowTrace& trace);

}  // namespace recut
