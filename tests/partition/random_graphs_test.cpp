// Properties of every plan of every strategy, on random joint graphs.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/verifier.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/support/hash.h"

namespace recut {
namespace {

// Square matrices of one size, so that any operator takes any value.
class RandomJointGraph {
 public:
  explicit RandomJointGraph(std::uint64_t seed) : state_(seed) {
    const auto type = make_type(DType::f32, {4, 4});
    for (std::uint64_t i = 0, n = 1 + draw(3); i < n; ++i)
      values_.push_back(graph_.add_input(draw(2) ? InputKind::parameter : InputKind::input, type,
                                         {"p" + std::to_string(i), {}, -1}));
    const std::size_t primals = values_.size();
    grow(2 + draw(20));
    for (std::uint64_t i = 0, n = 1 + draw(2); i < n; ++i) graph_.results.push_back(any());
    for (std::uint64_t i = 0, n = draw(3); i < n; ++i)
      values_.push_back(
          graph_.add_input(InputKind::tangent, type, {"t" + std::to_string(i), {}, -1}));
    grow(2 + draw(30));
    if (draw(8) == 0) return;
    for (std::size_t i = 0; i < primals; ++i)
      graph_.gradients.push_back(draw(4) == 0 ? NodeId() : any());
  }

  const Graph& graph() const { return graph_; }

 private:
  std::uint64_t draw(std::uint64_t below) { return (state_ = hash_mix(state_, 1)) % below; }

  // Mostly something recent, so that graphs grow long.
  NodeId any() {
    const std::size_t n = values_.size();
    return draw(2) ? values_[draw(n)] : values_[n - 1 - draw(std::min<std::size_t>(n, 4))];
  }

  NodeId make(Op op, std::vector<Argument> arguments) {
    auto node = graph_.make(op, std::move(arguments));
    REQUIRE(node.ok());
    return *node;
  }

  void grow(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) values_.push_back(call());
  }

  NodeId call() {
    switch (draw(8)) {
      case 0:
        return make(Op::mm, {any(), any()});
      case 1:
        return make(Op::permute, {any(), ArgumentList{1, 0}});
      case 2: {
        const NodeId both = make(Op::sort, {any()});
        return make(Op::getitem, {both, 0});
      }
      case 3:
        return make(Op::rand, {ArgumentList{4, 4}, DType::f32, Absent{}, Absent{}, Absent{},
                               static_cast<std::int64_t>(++draws_)});
      case 4:
        return make(Op::exp, {any()});
      case 5:
        return make(Op::relu, {any()});
      default:
        return make(draw(2) ? Op::add_Tensor : Op::mul_Tensor, {any(), any()});
    }
  }

  std::uint64_t state_;
  Graph graph_;
  std::vector<NodeId> values_;
  int draws_ = 0;
};

const PlanRequest kRequests[] = {{"default", NoBudget{}},       {"torch", NoBudget{}},
                                 {"torch", SavedFraction{0.8}}, {"torch", SavedFraction{0.5}},
                                 {"torch", SavedFraction{0.2}}, {"torch", SavedFraction{0.01}},
                                 {"torch", SavedFraction{0}}};

TEST_CASE("every plan of every strategy replays, and runs what default runs", "[partition]") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const RandomJointGraph random(seed);
    const Graph& graph = random.graph();
    for (const PlanRequest& request : kRequests) {
      INFO("seed " << seed << ", strategy " << request.strategy << ", request "
                   << &request - kRequests);
      const auto outcome = make_plan(graph, request);
      REQUIRE(outcome.ok() == (request.strategy != "torch" || is_joint(graph)));
      if (!outcome) continue;
      const auto result = replay(graph, outcome->plan);
      INFO((result ? std::string() : format(result.diagnostics())));
      REQUIRE(result.ok());
      // Nothing runs twice within one pass.
      std::vector<NodeId> backward = outcome->plan.backward;
      std::sort(backward.begin(), backward.end());
      REQUIRE(std::adjacent_find(backward.begin(), backward.end()) == backward.end());
      REQUIRE(result->peak_bytes <= static_cast<std::int64_t>(result->steps.size()) * 64 * 3);
    }
  }
}

TEST_CASE("peak: plans in the fused model hold what they say", "[partition]") {
  std::int32_t kernels = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomJointGraph random(seed);
    const Graph& graph = random.graph();
    const StorageModel storages(graph);
    PlanRequest request{"peak", PeakBytes{6 * 64}};
    request.limits.effort = 0.05;
    request.groups = fuse_pointwise(graph, storages);
    kernels += request.groups.size();
    INFO("seed " << seed);
    const auto outcome = make_plan(graph, request);
    REQUIRE(outcome.ok());
    const auto result = replay(graph, storages, outcome->plan, {}, request.groups);
    INFO((result ? std::string() : format(result.diagnostics())));
    REQUIRE(result.ok());
    REQUIRE(outcome->proof);
    REQUIRE(outcome->proof->holds == (result->peak_bytes <= 6 * 64));
    if (!outcome->proof->holds) REQUIRE(outcome->proof->min_peak_bytes == result->peak_bytes);
    REQUIRE(outcome->proof->peak_bound_bytes <= result->peak_bytes);
    REQUIRE(replay(graph, outcome->plan).ok());
  }
  CHECK(kernels > 100);
}

TEST_CASE("torch: without a budget is budget 1", "[partition]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomJointGraph random(seed);
    if (!is_joint(random.graph())) continue;
    const auto none = make_plan(random.graph(), {"torch", NoBudget{}});
    const auto one = make_plan(random.graph(), {"torch", SavedFraction{1}});
    REQUIRE(none.ok());
    REQUIRE(none->plan.saved == one->plan.saved);
    REQUIRE(none->plan.backward == one->plan.backward);
  }
}

}  // namespace
}  // namespace recut
