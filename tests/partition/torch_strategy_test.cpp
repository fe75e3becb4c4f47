// Behaviours of PyTorch's partitioner that its own tests fix (test_ac.py, MemoryBudgetTest;
// test_aotdispatch.py, TestPartitioning), on the same functions written as joint graphs.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/ir/data_flow.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/partition/torch/flops.h"
#include "tests/partition/graphs.h"

namespace recut {
namespace {

using Names = std::vector<std::string>;

// Sizes in units of 512: a float matrix of 1 x 1 units has one mebibyte, a product of 1 x 1 x 1
// units is one unit of work.
constexpr int kUnit = 512;
constexpr double kUnitFlops = 2.0 * kUnit * kUnit * kUnit;

std::string matrix(int rows, int columns) {
  return fmt::format("f32[{}, {}]", rows * kUnit, columns * kUnit);
}

struct Figures {
  double saved = 0;       // mebibytes
  double work_again = 0;  // units of matrix products that run twice
};

Figures plan_figures(const Graph& graph, double budget) {
  const auto outcome = make_plan(graph, {"torch", SavedFraction{budget}});
  REQUIRE(outcome.ok());
  const auto result = replay(graph, outcome->plan);
  REQUIRE(result.ok());
  Figures figures{static_cast<double>(result->saved_bytes) / (1 << 20), 0};
  for (const NodeId id : result->recomputed) {
    const double flops = torch::counted_flops(graph, id);
    if (flops > 1) figures.work_again += flops / kUnitFlops;
  }
  return figures;
}

Names saved_names(const Graph& graph, const PlanRequest& request) {
  const auto outcome = make_plan(graph, request);
  REQUIRE(outcome.ok());
  REQUIRE(replay(graph, outcome->plan).ok());
  return names(graph, outcome->plan.saved);
}

// x = cos(x), then x = cos(x @ w) five times.
Graph even_chain() {
  std::string text = "graph \"chain\" {\n%x = parameter " + matrix(1, 1) + "\n";
  for (int i = 1; i <= 5; ++i) text += fmt::format("%w{} = parameter {}\n", i, matrix(1, 1));
  text += "%t = tangent " + matrix(1, 1) + "\n%z0 = cos(%x)\n";
  for (int i = 1; i <= 5; ++i)
    text += fmt::format("%y{0} = mm(%z{1}, %w{0})\n%z{0} = cos(%y{0})\n", i, i - 1);
  std::string above = "t", gradients;
  for (int i = 5; i >= 1; --i) {
    text += fmt::format("%s{0} = sin(%y{0})\n%n{0} = neg(%s{0})\n%d{0} = mul.Tensor(%{1}, %n{0})\n",
                        i, above);
    text += fmt::format("%zt{0} = permute(%z{0}, [1, 0])\n%gw{1} = mm(%zt{0}, %d{1})\n", i - 1, i);
    text += fmt::format("%wt{0} = permute(%w{0}, [1, 0])\n%g{0} = mm(%d{0}, %wt{0})\n", i);
    above = fmt::format("g{}", i);
    gradients = fmt::format(", %gw{}", i) + gradients;
  }
  text += "%s0 = sin(%x)\n%n0 = neg(%s0)\n%gx = mul.Tensor(%g1, %n0)\n";
  return parse(text + "results %z5\ngradients %gx" + gradients + "\n}");
}

struct Product {
  int x_rows, inner, columns;
};

// The sum of sum(cos(x @ w)) over pairs of matrices.
Graph products(const std::vector<Product>& pairs) {
  std::string text = "graph \"products\" {\n", forward, backward, gradients, total;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [rows, inner, columns] = pairs[i];
    text += fmt::format("%x{0} = parameter {1}\n%w{0} = parameter {2}\n", i, matrix(rows, inner),
                        matrix(inner, columns));
    forward += fmt::format("%y{0} = mm(%x{0}, %w{0})\n%z{0} = cos(%y{0})\n%r{0} = sum(%z{0})\n", i);
    if (i > 0) forward += fmt::format("%total{0} = add.Tensor({1}, %r{0})\n", i, total);
    total = i > 0 ? fmt::format("%total{}", i) : "%r0";
    backward += fmt::format("%e{0} = expand(%t, [{1}, {2}])\n", i, rows * kUnit, columns * kUnit);
    backward += fmt::format(
        "%s{0} = sin(%y{0})\n%n{0} = neg(%s{0})\n%d{0} = mul.Tensor(%e{0}, %n{0})\n"
        "%xt{0} = permute(%x{0}, [1, 0])\n%gw{0} = mm(%xt{0}, %d{0})\n"
        "%wt{0} = permute(%w{0}, [1, 0])\n%gx{0} = mm(%d{0}, %wt{0})\n",
        i);
    gradients += fmt::format("{}%gx{}, %gw{}", i > 0 ? ", " : "", i, i);
  }
  return parse(text + "%t = tangent f32[]\n" + forward + backward + "results " + total +
               "\ngradients " + gradients + "\n}");
}

TEST_CASE("torch: what is cheap is computed again at once", "[partition]") {
  const Graph graph = parse(R"(graph "cheap" {
    %x = parameter f32[512, 512]
    %w = parameter f32[512, 512]
    %t = tangent f32[512, 512]
    %c = cos(%x)
    %y = mm(%c, %w)
    %ct = permute(%c, [1, 0])
    %gw = mm(%ct, %t)
    %wt = permute(%w, [1, 0])
    %gc = mm(%t, %wt)
    %s = sin(%x)
    %n = neg(%s)
    %gx = mul.Tensor(%gc, %n)
    results %y
    gradients %gx, %gw
  })");
  CHECK(plan_figures(graph, 1.0).saved == 1.0);
  CHECK(plan_figures(graph, 0.5).saved == 0.0);
  CHECK(plan_figures(graph, 0.5).work_again == 0);
}

TEST_CASE("torch: an even chain of products is saved one by one", "[partition]") {
  const Graph graph = even_chain();
  for (int tenths = 0; tenths <= 10; ++tenths) {
    INFO("budget " << tenths << " tenths");
    const Figures figures = plan_figures(graph, tenths / 10.0);
    CHECK(figures.saved == (tenths <= 5 ? tenths : tenths < 10 ? 5 : 10));
    CHECK(figures.work_again == std::max(5 - tenths, 0));
  }
}

TEST_CASE("torch: an uneven set of products fills the budget exactly", "[partition]") {
  struct Weights {
    std::vector<int> columns;
    std::vector<int> reached;
  };
  const Weights cases[] = {{{11, 3, 4, 2}, {18, 17, 16, 15, 14, 13, 11, 7, 6, 5}},
                           {{3, 5, 11, 17, 14}, {42, 30, 19, 8, 3}}};
  for (const auto& [columns, reached] : cases) {
    std::vector<Product> pairs;
    int total = 0;
    for (const int n : columns) {
      pairs.push_back({1, 1, n});
      total += n;
    }
    const Graph graph = products(pairs);
    CHECK(plan_figures(graph, 1.0).saved == total);
    for (const int goal : reached) {
      INFO("goal " << goal);
      CHECK(plan_figures(graph, static_cast<double>(goal) / total).saved == goal);
    }
  }
}

TEST_CASE("torch: of products the cheaper for its bytes is computed again", "[partition]") {
  const Graph two = products({{1, 1, 4}, {2, 2, 2}});
  CHECK(plan_figures(two, 1.0).saved == 8);
  CHECK(plan_figures(two, 0.5).saved == 4);
  CHECK(plan_figures(two, 0.5).work_again == 4);

  const Graph three = products({{4, 4, 4}, {6, 6, 2}, {2, 2, 6}});
  CHECK(plan_figures(three, 1.0).saved == 40);
  CHECK(plan_figures(three, 28.0 / 40).saved == 28);
  CHECK(plan_figures(three, 28.0 / 40).work_again == 24);
  CHECK(plan_figures(three, 16.0 / 40).saved == 12);
  CHECK(plan_figures(three, 16.0 / 40).work_again == 88);
}

TEST_CASE("torch: a chain of cheap operators saves its input alone", "[partition]") {
  const Graph graph = parse(R"(graph "cos3" {
    %x = input f32[3, 3]
    %t = tangent f32[3, 3]
    %a = cos(%x)
    %b = cos(%a)
    %c = cos(%b)
    %sb = sin(%b)
    %gb = mul.Tensor(%t, %sb)
    %sa = sin(%a)
    %ga = mul.Tensor(%gb, %sa)
    %sx = sin(%x)
    %gx = mul.Tensor(%ga, %sx)
    results %c
    gradients %gx
  })");
  CHECK(saved_names(graph, {"torch", NoBudget{}}).empty());
  CHECK(saved_names(graph, {"default", NoBudget{}}) == Names{"a", "b"});
}

TEST_CASE("torch: the sum of four inputs is saved instead of the four", "[partition]") {
  const char* text = R"(graph "sum4" {
    %a = KIND f32[3, 3]
    %b = KIND f32[3, 3]
    %c = KIND f32[3, 3]
    %d = KIND f32[3, 3]
    %t = tangent f32[3, 3]
    %ab = add.Tensor(%a, %b)
    %abc = add.Tensor(%ab, %c)
    %sum = add.Tensor(%abc, %d)
    %cos = cos(%sum)
    %y = cos(%cos)
    %s = sin(%cos)
    %g = mul.Tensor(%t, %s)
    %s2 = sin(%sum)
    %g2 = mul.Tensor(%g, %s2)
    results %y
    gradients %g2, %g2, %g2, %g2
  })";
  const auto of_kind = [&](const std::string& kind) {
    std::string all = text;
    for (std::size_t at; (at = all.find("KIND")) != std::string::npos;) all.replace(at, 4, kind);
    return parse(all);
  };
  CHECK(saved_names(of_kind("input"), {"torch", NoBudget{}}) == Names{"sum"});
  // Parameters are in memory anyway: it is cheaper to add them again.
  CHECK(saved_names(of_kind("parameter"), {"torch", NoBudget{}}).empty());
}

TEST_CASE("torch: random draws are saved, whatever the budget", "[partition]") {
  const Graph graph = parse(R"(graph "dropout" {
    %x = parameter f32[8]
    %t = tangent f32[8]
    %r = rand([8])
    %keep = gt.Scalar(%r, 0.5)
    %y = mul.Tensor(%x, %keep)
    %g = mul.Tensor(%t, %keep)
    results %y
    gradients %g
  })");
  CHECK(saved_names(graph, {"torch", SavedFraction{0}}) == Names{"r"});
  CHECK(saved_names(graph, {"default", NoBudget{}}) == Names{"keep"});
}

TEST_CASE("strategies: graphs with nothing to divide", "[partition]") {
  const Graph single = parse("graph \"g\" {\n%x = input f32[2]\n%y = exp(%x)\nresults %y\n}");
  const Graph empty = parse("graph \"g\" {\n%x = input f32[2]\n}");
  const Graph only_backward = parse(
      "graph \"g\" {\n%x = parameter f32[2]\n%t = tangent f32[2]\n%g = mul.Tensor(%t, %x)\n"
      "results %x\ngradients %g\n}");
  const Graph without_tangent =
      parse("graph \"g\" {\n%x = parameter f32[2]\n%g = exp(%x)\nresults %x\ngradients %g\n}");
  for (const Strategy& strategy : all_strategies()) {
    INFO(strategy.name);
    const PlanRequest request{std::string(strategy.name), NoBudget{}};
    for (const Graph* graph : {&single, &empty, &only_backward, &without_tangent}) {
      const auto outcome = make_plan(*graph, request);
      REQUIRE(outcome.ok() == (strategy.name != "torch" || is_joint(*graph)));
      if (outcome.ok()) REQUIRE(replay(*graph, outcome->plan).ok());
    }
    CHECK(make_plan(only_backward, request)->plan.backward.size() == 1);
    if (strategy.name == "torch") continue;
    CHECK(make_plan(single, request)->plan.forward.size() == 1);
    CHECK(make_plan(single, request)->plan.backward.empty());
  }
}

TEST_CASE("strategies: budgets of the wrong kind are refused in words", "[partition]") {
  const Graph graph = parse(
      "graph \"g\" {\n%x = parameter f32[2]\n%t = tangent f32[2]\n%y = exp(%x)\n"
      "%g = mul.Tensor(%t, %y)\nresults %y\ngradients %g\n}");
  const auto fault = [&](const char* strategy, Budget budget) {
    const auto outcome = make_plan(graph, {strategy, budget});
    return outcome.ok() ? std::string() : outcome.diagnostics().front().message;
  };
  CHECK(
      fault("best", NoBudget{}).find("no strategy 'best', expected one of: peak, default, torch") !=
      std::string::npos);
  CHECK(fault("default", SavedFraction{0.5}).find("takes no budget") != std::string::npos);
  CHECK(fault("default", PeakBytes{5}).find("takes no budget") != std::string::npos);
  CHECK(fault("torch", PeakBytes{5}).find("a fraction of saved bytes") != std::string::npos);
  CHECK(fault("torch", SavedFraction{1.5}).find("found 1.5") != std::string::npos);
  CHECK(fault("torch", SavedFraction{-0.1}).find("found -0.1") != std::string::npos);
  CHECK_FALSE(fault("torch", SavedFraction{std::nan("")}).empty());
}

}  // namespace
}  // namespace recut
