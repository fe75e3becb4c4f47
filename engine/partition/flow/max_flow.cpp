#include "engine/partition/flow/max_flow.h"

#include <algorithm>

#include "engine/support/check.h"

namespace recut {
namespace {

using Vertex = FlowNetwork::Vertex;
using Edge = FlowNetwork::Edge;

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

// Dinic's algorithm (1970). Each phase numbers the vertices by breadth-first level from the source,
// then saturates every path that climbs one level per arc (a blocking flow); the phases end when
// the sink is out of reach. A phase costs O(V E), and the sink's level grows with each, so there
// are at most V phases. Arcs lie in one array, grouped by their tail, so that a scan reads memory
// in order. Push-relabel has the better bound, but its flow can't be shown as a list of paths.
class Dinic {
 public:
  // `trace` may be null.
  Dinic(const FlowNetwork& network, std::int64_t unbounded, FlowTrace* trace);

  std::int64_t run(Vertex source, Vertex sink);

  // Vertices that reach the sink by arcs with capacity left. After run() they are the smallest
  // sink side of any minimum cut (Ford and Fulkerson 1962, applied to the reversed network).
  std::vector<bool> reaching(Vertex sink) const;

 private:
  struct Arc {
    Vertex to;
    std::uint32_t reverse;
    std::int64_t left;  // capacity not used yet
  };

  bool find_levels(Vertex source, Vertex sink);
  std::int64_t blocking_flow(Vertex source, Vertex sink);
  bool advance(Vertex from);
  std::int64_t augment();
  void record(std::int64_t amount);

  FlowTrace* const trace_;
  std::vector<FlowPath::Step> step_of_;  // by arc; empty without a trace
  std::vector<std::uint32_t> first_;     // arcs of vertex v: first_[v] … first_[v + 1] - 1
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> level_, next_;  // by vertex
  std::vector<std::uint32_t> path_;          // arcs from the source
  std::vector<Vertex> queue_;
};

Dinic::Dinic(const FlowNetwork& network, std::int64_t unbounded, FlowTrace* trace)
    : trace_(trace),
      step_of_(trace != nullptr ? 2 * network.edges() : 0),
      first_(network.vertices() + 1, 0),
      arcs_(2 * network.edges()),
      level_(network.vertices()),
      next_(network.vertices()) {
  for (Edge e = 0; e < network.edges(); ++e) {
    ++first_[network.from(e) + 1];
    ++first_[network.to(e) + 1];
  }
  for (std::size_t v = 0; v < network.vertices(); ++v) first_[v + 1] += first_[v];
  std::vector<std::uint32_t> next_slot(first_.begin(), first_.end() - 1);
  for (Edge e = 0; e < network.edges(); ++e) {
    const std::uint32_t forward = next_slot[network.from(e)]++;
    const std::uint32_t backward = next_slot[network.to(e)]++;
    const std::int64_t capacity = network.capacity(e);
    arcs_[forward] = {network.to(e), backward,
                      capacity == FlowNetwork::kUnbounded ? unbounded : capacity};
    arcs_[backward] = {network.from(e), forward, 0};
    if (trace_ == nullptr) continue;
    step_of_[forward] = {e, false};
    step_of_[backward] = {e, true};
  }
}

bool Dinic::find_levels(Vertex source, Vertex sink) {
  std::fill(level_.begin(), level_.end(), kUnreached);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Vertex v = queue_[i];
    for (std::uint32_t a = first_[v]; a < first_[v + 1]; ++a) {
      const Arc& arc = arcs_[a];
      if (arc.left == 0 || level_[arc.to] != kUnreached) continue;
      level_[arc.to] = level_[v] + 1;
      queue_.push_back(arc.to);
    }
  }
  return level_[sink] != kUnreached;
}

// Extends the path by one arc to the next level; false at a dead end.
bool Dinic::advance(Vertex from) {
  for (std::uint32_t& a = next_[from]; a < first_[from + 1]; ++a) {
    const Arc& arc = arcs_[a];
    if (arc.left == 0 || level_[arc.to] != level_[from] + 1) continue;
    path_.push_back(a);
    return true;
  }
  return false;
}

// Sends the path's bottleneck, and cuts the path back to its first saturated arc.
std::int64_t Dinic::augment() {
  std::int64_t amount = FlowNetwork::kUnbounded;
  for (const std::uint32_t a : path_) amount = std::min(amount, arcs_[a].left);
  if (trace_ != nullptr) record(amount);
  std::size_t full = path_.size();
  for (std::size_t i = path_.size(); i-- > 0;) {
    Arc& arc = arcs_[path_[i]];
    arc.left -= amount;
    arcs_[arc.reverse].left += amount;
    if (arc.left == 0) full = i;
  }
  path_.resize(full);
  return amount;
}

void Dinic::record(std::int64_t amount) {
  ++trace_->found;
  if (trace_->paths.size() >= trace_->max_paths) return;
  FlowPath path;
  path.amount = amount;
  for (const std::uint32_t a : path_) path.steps.push_back(step_of_[a]);
  trace_->paths.push_back(std::move(path));
}

std::int64_t Dinic::blocking_flow(Vertex source, Vertex sink) {
  std::copy(first_.begin(), first_.end() - 1, next_.begin());
  path_.clear();
  std::int64_t sent = 0;
  while (true) {
    const Vertex v = path_.empty() ? source : arcs_[path_.back()].to;
    if (v == sink) {
      sent += augment();
    } else if (!advance(v)) {
      if (path_.empty()) return sent;
      level_[v] = kUnreached;  // a dead end for the rest of this phase
      path_.pop_back();
    }
  }
}

std::int64_t Dinic::run(Vertex source, Vertex sink) {
  std::int64_t total = 0;
  while (find_levels(source, sink)) total += blocking_flow(source, sink);
  return total;
}

std::vector<bool> Dinic::reaching(Vertex sink) const {
  std::vector<bool> reaches(level_.size(), false);
  reaches[sink] = true;
  std::vector<Vertex> queue{sink};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t a = first_[queue[i]]; a < first_[queue[i] + 1]; ++a) {
      const Arc& arc = arcs_[a];
      if (reaches[arc.to] || arcs_[arc.reverse].left == 0) continue;
      reaches[arc.to] = true;
      queue.push_back(arc.to);
    }
  return reaches;
}

// A path of unbounded edges, found breadth first; empty if none exists.
std::vector<Edge> unbounded_path(const FlowNetwork& network, Vertex source, Vertex sink) {
  std::vector<std::uint32_t> first(network.vertices() + 1, 0);
  for (Edge e = 0; e < network.edges(); ++e) ++first[network.from(e) + 1];
  for (std::size_t v = 0; v < network.vertices(); ++v) first[v + 1] += first[v];
  std::vector<Edge> leaving(network.edges());
  std::vector<std::uint32_t> next_slot(first.begin(), first.end() - 1);
  for (Edge e = 0; e < network.edges(); ++e) leaving[next_slot[network.from(e)]++] = e;

  std::vector<Edge> arrived_by(network.vertices(), kUnreached);
  std::vector<Vertex> queue{source};
  for (std::size_t i = 0; i < queue.size() && arrived_by[sink] == kUnreached; ++i)
    for (std::uint32_t k = first[queue[i]]; k < first[queue[i] + 1]; ++k) {
      const Edge e = leaving[k];
      const Vertex to = network.to(e);
      if (network.capacity(e) != FlowNetwork::kUnbounded || to == source) continue;
      if (arrived_by[to] != kUnreached) continue;
      arrived_by[to] = e;
      queue.push_back(to);
    }
  std::vector<Edge> path;
  if (arrived_by[sink] == kUnreached) return path;
  for (Vertex v = sink; v != source; v = network.from(arrived_by[v])) path.push_back(arrived_by[v]);
  std::reverse(path.begin(), path.end());
  return path;
}

CutOutcome solve(const FlowNetwork& network, Vertex source, Vertex sink, FlowTrace* trace) {
  RECUT_CHECK(source != sink, "source and sink are one vertex");
  std::int64_t bounded = 0;
  for (Edge e = 0; e < network.edges(); ++e) {
    const std::int64_t capacity = network.capacity(e);
    if (capacity == FlowNetwork::kUnbounded) continue;
    RECUT_CHECK(capacity <= FlowNetwork::kMaxTotal - bounded, "capacities add up to too much");
    bounded += capacity;
  }
  if (auto path = unbounded_path(network, source, sink); !path.empty())
    return UnboundedPath{std::move(path)};

  // Some cut has bounded edges only, so no flow is larger than `bounded`: an edge with a capacity
  // of one more is never full, and its reverse flow can't overflow.
  Dinic dinic(network, bounded + 1, trace);
  MinimumCut cut;
  cut.capacity = dinic.run(source, sink);
  cut.sink_side = dinic.reaching(sink);
  for (Edge e = 0; e < network.edges(); ++e)
    if (!cut.sink_side[network.from(e)] && cut.sink_side[network.to(e)]) cut.edges.push_back(e);
  return cut;
}

}  // namespace

FlowNetwork::Edge FlowNetwork::add_edge(Vertex from, Vertex to, std::int64_t capacity) {
  RECUT_CHECK(from < vertices_ && to < vertices_, "an edge leaves the network");
  RECUT_CHECK(capacity >= 0, "a capacity is 0 or more");
  from_.push_back(from);
  to_.push_back(to);
  capacity_.push_back(capacity);
  return static_cast<Edge>(from_.size() - 1);
}

CutOutcome minimum_cut(const FlowNetwork& network, Vertex source, Vertex sink) {
  return solve(network, source, sink, nullptr);
}

CutOutcome minimum_cut(const FlowNetwork& network, Vertex source, Vertex sink, FlowTrace& trace) {
  return solve(network, source, sink, &trace);
}

}  // namespace recut
