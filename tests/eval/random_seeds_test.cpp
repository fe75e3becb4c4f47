// Every distribution that the pass random_seeds rewrites, by bounds and moments.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "engine/input/text.h"
#include "engine/passes/runner.h"
#include "tests/eval/run_text.h"

namespace recut::test {
namespace {

constexpr std::size_t kDrawn = 20000;

struct Distribution {
  std::string call;  // of x, which is a third everywhere
  double mean, deviation, least, most;
};

Values seeded_numbers(const std::string& call) {
  const auto graph = parse_graph_text(
      "graph \"drawn\" {\n  %x = input f32[20000]\n  %h = input f16[20000]\n  %y = " + call +
          "\n  results %y\n}",
      "test");
  INFO((graph ? std::string() : format(graph.diagnostics())));
  REQUIRE(graph.ok());
  const std::vector<std::string> names = {"random_seeds"};
  const auto report = run_passes(*graph, names);
  REQUIRE(report.ok());
  const Graph& seeded = report->graph();
  CHECK(seeded.type(seeded.results[0]) == graph->type(graph->results[0]));
  for (const NodeId id : seeded.order())
    if (seeded.op(id).is(kImpure)) CHECK(seeded.op(id).packet == "prims.inductor_seeds");
  const Values thirds(kDrawn, 1.0 / 3);
  Inputs inputs;
  for (const NodeId id : seeded.inputs()) inputs[id] = input_tensor(seeded.type(id), &thirds);
  const auto evaluation = evaluate(seeded, inputs);
  REQUIRE(evaluation.ok());
  return values_of(evaluation->outputs[0]);
}

TEST_CASE("random_seeds: distributions keep their bounds and moments", "[eval][passes]") {
  const double third = 1.0 / 3, any = HUGE_VAL;
  const Distribution all[] = {
      {"rand([20000])", 0.5, std::sqrt(1.0 / 12), 0, 1 - 0x1p-24},
      {"rand([20000], dtype=f16)", 0.5, std::sqrt(1.0 / 12), 0, 1 - 0x1p-11},
      {"rand([20000], dtype=bf16)", 0.5, std::sqrt(1.0 / 12), 0, 1 - 0x1p-8},
      {"rand_like(%x, dtype=f64)", 0.5, std::sqrt(1.0 / 12), 0, 1 - 0x1p-53},
      {"randn([20000])", 0, 1, -any, any},
      {"randn_like(%h)", 0, 1, -any, any},
      {"randint.low(-3, 9, [20000])", 2.5, std::sqrt(143.0 / 12), -3, 8},
      {"randint(7, [20000], dtype=f32)", 3, 2, 0, 6},
      {"bernoulli(%x)", third, std::sqrt(2.0 / 9), 0, 1},
      {"bernoulli.p(%h, 0.25)", 0.25, std::sqrt(3.0 / 16), 0, 1},
      {"uniform(%x, -1.0, 2.0)", 0.5, 3 * std::sqrt(1.0 / 12), -1, 2},
      {"normal_functional(%h, 1.0, 2.0)", 1, 2, -any, any},
      {"normal.Tensor_float(%x, 2.0)", third, 2, -any, any},
      {"normal.float_Tensor(2.0, %x)", 2, third, -any, any},
      {"normal.Tensor_Tensor(%x, %x)", third, third, -any, any},
      {"normal.float_float(1.0, 3.0, [20000])", 1, 3, -any, any},
      {"exponential(%x, 2.0)", 0.5, 0.5, 0, any},
      {"geometric(%x, 0.25)", 4, std::sqrt(12.0), 1, any},
      {"log_normal(%x, 0.0, 0.5)", std::exp(0.125), 0.604, 0, any},
  };
  for (const Distribution& one : all) {
    INFO(one.call);
    const Values values = seeded_numbers(one.call);
    REQUIRE(values.size() == kDrawn);
    double sum = 0, squares = 0;
    for (const double value : values) {
      sum += value;
      squares += (value - one.mean) * (value - one.mean);
    }
    CHECK(std::abs(sum / kDrawn - one.mean) < 4 * one.deviation / std::sqrt(kDrawn) + 2e-3);
    CHECK(std::abs(std::sqrt(squares / kDrawn) / one.deviation - 1) < 0.05);
    CHECK(*std::min_element(values.begin(), values.end()) >= one.least);
    CHECK(*std::max_element(values.begin(), values.end()) <= one.most);
  }
}

TEST_CASE("random_seeds: randperm permutes, and the median of cauchy is its own",
          "[eval][passes]") {
  Values permutation = seeded_numbers("randperm(1000)");
  Values expected(1000);
  std::iota(expected.begin(), expected.end(), 0.0);
  CHECK(permutation != expected);
  std::sort(permutation.begin(), permutation.end());
  CHECK(permutation == expected);
  Values heavy = seeded_numbers("cauchy(%x, 3.0, 2.0)");
  std::sort(heavy.begin(), heavy.end());
  CHECK(std::abs(heavy[kDrawn / 2] - 3) < 0.1);
  CHECK(std::abs(heavy[kDrawn / 4] - 1) < 0.15);
}

}  // namespace
}  // namespace recut::test
