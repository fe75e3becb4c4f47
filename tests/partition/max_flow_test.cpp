// Minimum cuts against every cut of small random networks.
#include "engine/partition/flow/max_flow.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "engine/support/hash.h"

namespace recut {
namespace {

constexpr FlowNetwork::Vertex kSource = 0, kSink = 1;

// All cuts by counting: the least capacity, and what is on the sink's side in all least cuts.
struct BruteForce {
  std::optional<std::int64_t> capacity;  // none: every cut severs an unbounded edge
  std::uint32_t always_at_sink = 0;      // by vertex
};

std::optional<std::int64_t> cut_capacity(const FlowNetwork& network, std::uint32_t at_sink) {
  std::int64_t capacity = 0;
  for (FlowNetwork::Edge e = 0; e < network.edges(); ++e) {
    if ((at_sink >> network.from(e) & 1) || !(at_sink >> network.to(e) & 1)) continue;
    if (network.capacity(e) == FlowNetwork::kUnbounded) return std::nullopt;
    capacity += network.capacity(e);
  }
  return capacity;
}

BruteForce try_every_cut(const FlowNetwork& network) {
  BruteForce best;
  for (std::uint32_t at_sink = 0; at_sink < 1u << network.vertices(); ++at_sink) {
    if ((at_sink >> kSource & 1) || !(at_sink >> kSink & 1)) continue;
    const auto capacity = cut_capacity(network, at_sink);
    if (!capacity) continue;
    if (!best.capacity || *capacity < *best.capacity) best = {capacity, at_sink};
    if (*capacity == *best.capacity) best.always_at_sink &= at_sink;
  }
  return best;
}

FlowNetwork random_network(std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto draw = [&](std::uint64_t below) { return (state = hash_mix(state, 1)) % below; };
  FlowNetwork network(4 + draw(6));
  const std::uint64_t edges = 3 + draw(20);
  for (std::uint64_t e = 0; e < edges; ++e) {
    const auto from = static_cast<FlowNetwork::Vertex>(draw(network.vertices()));
    const auto to = static_cast<FlowNetwork::Vertex>(draw(network.vertices()));
    // Few capacities, so that many cuts tie.
    network.add_edge(from, to,
                     draw(4) == 0 ? FlowNetwork::kUnbounded : static_cast<std::int64_t>(draw(4)));
  }
  return network;
}

TEST_CASE("minimum cuts of random networks are the least, and nearest the sink") {
  int bounded = 0, unbounded = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    const FlowNetwork network = random_network(seed);
    const BruteForce expected = try_every_cut(network);
    const CutOutcome found = minimum_cut(network, kSource, kSink);
    if (!expected.capacity) {
      REQUIRE(std::holds_alternative<UnboundedPath>(found));
      ++unbounded;
      continue;
    }
    REQUIRE(std::holds_alternative<MinimumCut>(found));
    const auto& cut = std::get<MinimumCut>(found);
    REQUIRE(cut.capacity == *expected.capacity);
    std::int64_t severed = 0;
    for (const FlowNetwork::Edge e : cut.edges) severed += network.capacity(e);
    REQUIRE(severed == cut.capacity);
    for (FlowNetwork::Vertex v = 0; v < network.vertices(); ++v)
      REQUIRE(cut.sink_side[v] == static_cast<bool>(expected.always_at_sink >> v & 1));
    ++bounded;
  }
  // Both kinds have been tried in earnest.
  CHECK(bounded > 500);
  CHECK(unbounded > 50);
}

// Sends the path's amount along it: no edge takes more than it can, or gives back more than it has.
void send(const FlowNetwork& network, const FlowPath& path, std::vector<std::int64_t>& load) {
  FlowNetwork::Vertex at = kSource;
  for (const FlowPath::Step step : path.steps) {
    const auto from = network.from(step.edge), to = network.to(step.edge);
    REQUIRE(at == (step.back ? to : from));
    at = step.back ? from : to;
    load[step.edge] += step.back ? -path.amount : path.amount;
    REQUIRE(load[step.edge] >= 0);
    REQUIRE(load[step.edge] <= network.capacity(step.edge));
  }
  REQUIRE(at == kSink);
}

TEST_CASE("the paths of a trace add up to the minimum cut, and fill it") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    const FlowNetwork network = random_network(seed);
    FlowTrace trace;
    const CutOutcome found = minimum_cut(network, kSource, kSink, trace);
    if (std::holds_alternative<UnboundedPath>(found)) {
      REQUIRE(trace.paths.empty());
      continue;
    }
    const auto& cut = std::get<MinimumCut>(found);
    REQUIRE(trace.complete());
    std::vector<std::int64_t> load(network.edges(), 0);
    std::int64_t sent = 0;
    for (const FlowPath& path : trace.paths) {
      REQUIRE(path.amount > 0);
      send(network, path, load);
      sent += path.amount;
    }
    REQUIRE(sent == cut.capacity);
    for (const FlowNetwork::Edge e : cut.edges) REQUIRE(load[e] == network.capacity(e));
  }
}

TEST_CASE("a path may take back what an earlier one sent") {
  constexpr FlowNetwork::Vertex a = 2, b = 3, c = 4, d = 5, e = 6, f = 7;
  FlowNetwork network(8);
  network.add_edge(kSource, a, 1);
  const auto middle = network.add_edge(a, d, 1);  // the shortest path goes this way
  network.add_edge(d, kSink, 1);
  for (const auto& [from, to] : {std::pair(kSource, b), std::pair(b, c), std::pair(c, d),
                                 std::pair(a, e), std::pair(e, f), std::pair(f, kSink)})
    network.add_edge(from, to, 1);
  FlowTrace trace;
  const auto cut = std::get<MinimumCut>(minimum_cut(network, kSource, kSink, trace));
  CHECK(cut.capacity == 2);
  REQUIRE(trace.paths.size() == 2);
  std::vector<std::int64_t> load(network.edges(), 0);
  for (const FlowPath& path : trace.paths) send(network, path, load);
  CHECK(load[middle] == 0);
  const auto& second = trace.paths[1].steps;
  CHECK(std::any_of(second.begin(), second.end(),
                    [&](const auto& step) { return step.back && step.edge == middle; }));
}

TEST_CASE("an unbounded network is answered by a path of unbounded edges") {
  FlowNetwork network(5);
  network.add_edge(0, 2, FlowNetwork::kUnbounded);
  network.add_edge(2, 1, 7);
  const auto middle = network.add_edge(2, 3, FlowNetwork::kUnbounded);
  const auto last = network.add_edge(3, 1, FlowNetwork::kUnbounded);
  network.add_edge(0, 4, 3);
  const CutOutcome found = minimum_cut(network, 0, 1);
  REQUIRE(std::holds_alternative<UnboundedPath>(found));
  CHECK(std::get<UnboundedPath>(found).edges == std::vector<FlowNetwork::Edge>{0, middle, last});
}

TEST_CASE("of equal cuts in a chain the last is taken") {
  FlowNetwork network(4);
  network.add_edge(0, 2, 5);
  network.add_edge(2, 3, 5);
  const auto last = network.add_edge(3, 1, 5);
  const auto cut = std::get<MinimumCut>(minimum_cut(network, 0, 1));
  CHECK(cut.capacity == 5);
  CHECK(cut.edges == std::vector<FlowNetwork::Edge>{last});
}

TEST_CASE("a sink out of reach costs nothing to cut off") {
  FlowNetwork network(3);
  network.add_edge(0, 2, FlowNetwork::kUnbounded);
  const auto cut = std::get<MinimumCut>(minimum_cut(network, 0, 1));
  CHECK(cut.capacity == 0);
  CHECK(cut.edges.empty());
}

}  // namespace
}  // namespace recut
