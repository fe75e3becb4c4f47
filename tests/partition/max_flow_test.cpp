// Minimum cuts against every cut of small random networks.
#include "engine/partition/flow/max_flow.h"

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
