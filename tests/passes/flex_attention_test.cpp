// flex_attention and its gradients: the interpreter's values by formulas and central differences, and
// the pass expand_flex_attention by the interpreter's values.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/eval/evaluator.h"
#include "engine/ir/region_call.h"
#include "engine/ir/verifier.h"
#include "engine/passes/region_inlining.h"
#include "engine/passes/runner.h"
#include "tests/input/parse.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// tanh(s + (m - n) / 8) + bias[h], for keys up to the query, and no key of query 1.
constexpr std::string_view kNested = R"(
  region "score" {
    %s = input DTYPE[]
    %b = input i32[]
    %h = input i32[]
    %m = input i32[]
    %n = input i32[]
    %bias = input f32[4]
    %g = index.Tensor(%bias, [%h])
    %d = sub.Tensor(%m, %n)
    %e = mul.Tensor(%d, 0.125)
    %u = add.Tensor(%s, %e)
    %t = tanh(%u)
    %r = add.Tensor(%t, %g)
    results %r
  }
  region "mask" {
    %b = input i32[]
    %h = input i32[]
    %m = input i32[]
    %n = input i32[]
    %open = input bool[3]
    %c = ge.Tensor(%m, %n)
    %o = index.Tensor(%open, [%m])
    %r = logical_and(%c, %o)
    results %r
  })";

constexpr std::string_view kJoint = R"(
  region "joint" {
    %s = input DTYPE[]
    %b = input i32[]
    %h = input i32[]
    %m = input i32[]
    %n = input i32[]
    %dr = input DTYPE[]
    %bias = input f32[4]
    %d = sub.Tensor(%m, %n)
    %e = mul.Tensor(%d, 0.125)
    %u = add.Tensor(%s, %e)
    %t = tanh(%u)
    %q = mul.Tensor(%t, %t)
    %o = rsub.Scalar(%q, 1)
    %ds = mul.Tensor(%dr, %o)
    %z = external flex_lib.zeros_and_scatter.default([4], [%h], %dr) : DTYPE[4]
    results %ds, none, none, none, none, %z
  })";

std::string with_dtype(std::string text, std::string_view dtype) {
  for (std::size_t at; (at = text.find("DTYPE")) != std::string::npos;) text.replace(at, 5, dtype);
  return text;
}

std::string inputs_text(int batches) {
  return fmt::format(R"(
  %q = input DTYPE[2, 4, 3, 5]
  %k = input DTYPE[{0}, 2, 4, 5]
  %v = input DTYPE[{0}, 2, 4, 6]
  %bias = input f32[4]
  %row = arange(3)
  %open = ne.Scalar(%row, 1)
  %f = external torch.ops.higher_order.flex_attention(%q, %k, %v, "score", [1, none, 128, "mask"], 0.5, [["BACKEND", "AUTO"]], [%bias], [%open], draw=0) : (DTYPE[2, 4, 3, 6], f32[2, 4, 3], f32[2, 4, 3])
  %o = getitem(%f, 0)
  %l = getitem(%f, 1)
)",
                     batches);
}

Graph forward_graph(std::string_view dtype, int batches) {
  return parse(with_dtype("graph \"g\" {" + inputs_text(batches) +
                              "  %x = getitem(%f, 2)\n  results %o, %l, %x" + std::string(kNested) +
                              "\n}",
                          dtype));
}

// The result and finite parts of logsumexp, and the gradients of both.
Graph backward_graph(std::string_view dtype, int batches) {
  const std::string text = fmt::format(R"(graph "g" {{{0}
  %do = input DTYPE[2, 4, 3, 6]
  %dl = input f32[2, 4, 3]
  %hidden = eq.Scalar(%l, -inf)
  %zero = full([], 0.0)
  %lf = where.self(%hidden, %zero, %l)
  %dlf = where.self(%hidden, %zero, %dl)
  %B = external torch.ops.higher_order.flex_attention_backward(%q, %k, %v, %o, %l, %do, %dlf, "score", "joint", [1, none, 128, "mask"], 0.5, [["BACKEND", "AUTO"]], [%bias], [%open], draw=1) : (DTYPE[2, 4, 3, 5], DTYPE[{1}, 2, 4, 5], DTYPE[{1}, 2, 4, 6], f32[4])
  %dq = getitem(%B, 0)
  %dk = getitem(%B, 1)
  %dv = getitem(%B, 2)
  %dbias = getitem(%B, 3)
  results %o, %lf, %dq, %dk, %dv, %dbias{2}{3}
}})",
                                       inputs_text(batches), batches, kNested, kJoint);
  return parse(with_dtype(text, dtype));
}

std::vector<Reals> flex_values(const Graph& graph, const Inputs& inputs) {
  const auto evaluation = evaluate(graph, inputs);
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  std::vector<Reals> values;
  for (const Tensor& output : evaluation->outputs) values.push_back(unpack<double>(output));
  return values;
}

TEST_CASE("flex_attention: values are those of the formula", "[passes]") {
  const Graph graph = forward_graph("f64", 1);
  const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
  const auto values = flex_values(graph, inputs);
  const auto input = [&](std::string_view name) {
    return unpack<double>(inputs.at(graph.find(name)));
  };
  const Reals q = input("q"), k = input("k"), v = input("v"), bias = input("bias");
  for (std::int64_t row = 0; row < 24; ++row) {
    const std::int64_t m = row % 3, h = row / 3 % 4;
    double sum = 0, most = -INFINITY, out[6] = {};
    for (std::int64_t n = 0; n <= m && m != 1; ++n) {
      double score = 0;
      for (int d = 0; d < 5; ++d) score += q[row * 5 + d] * k[(h / 2 * 4 + n) * 5 + d];
      score = std::tanh(0.5 * score + static_cast<double>(m - n) / 8) + bias[h];
      sum += std::exp(score);
      most = std::max(most, score);
      for (int d = 0; d < 6; ++d) out[d] += std::exp(score) * v[(h / 2 * 4 + n) * 6 + d];
    }
    CAPTURE(row);
    for (int d = 0; d < 6; ++d)
      CHECK(std::abs(values[0][row * 6 + d] - (m == 1 ? 0 : out[d] / sum)) < 1e-6);
    if (m == 1) {
      CHECK(values[1][row] == -INFINITY);
      CHECK(values[2][row] == -INFINITY);
    } else {
      CHECK(std::abs(values[1][row] - std::log2(sum)) < 1e-5);
      CHECK(std::abs(values[2][row] - most / std::log(2.0)) < 1e-5);
    }
  }
}

// sum(o * d_o) + sum(ln 2 * l * d_l): the gradients of logsumexp are those of its natural logarithm
// times ln 2, as l is in units of log 2.
double loss(const std::vector<Reals>& values, const Reals& d_o, const Reals& d_l) {
  double sum = 0;
  for (std::int64_t i = 0; i < d_o.count(); ++i) sum += values[0][i] * d_o[i];
  for (std::int64_t i = 0; i < d_l.count(); ++i) sum += values[1][i] * d_l[i];
  return sum;
}

TEST_CASE("flex_attention: gradients are those of central differences", "[passes]") {
  for (const int batches : {1, 2}) {
    const Graph graph = backward_graph("f64", batches);
    const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
    const auto gradients = flex_values(graph, inputs);
    const Reals d_o = unpack<double>(inputs.at(graph.find("do"))),
                d_l = unpack<double>(inputs.at(graph.find("dl")));
    std::size_t output = 2;
    for (const char* name : {"q", "k", "v", "bias"}) {
      const NodeId id = graph.find(name);
      const Reals at = unpack<double>(inputs.at(id));
      for (std::int64_t i = 0; i < at.count(); i += 3) {
        const double step = 0x1p-7;
        double sides[2];
        for (const int side : {0, 1}) {
          Inputs moved = inputs;
          Reals there = at;
          there[i] += side == 0 ? step : -step;
          moved[id] = allocate(graph.type(id), nullptr);
          pack(there, moved[id]);
          sides[side] = loss(flex_values(graph, moved), d_o, d_l);
        }
        CAPTURE(batches, name, i);
        CHECK(std::abs((sides[0] - sides[1]) / (2 * step) - gradients[output][i]) < 2e-3);
      }
      ++output;
    }
  }
}

void check_expanded(const Graph& graph, double tolerance) {
  REQUIRE(verify(graph).empty());
  const auto passed = run_passes(graph, split_pass_names("expand_flex_attention"));
  if (!passed) FAIL(format(passed.diagnostics()));
  REQUIRE_FALSE(passed->failure);
  for (const NodeId id : passed->graph().order()) CHECK_FALSE(has_regions(passed->graph(), id));
  const Inputs inputs = inputs_for(graph, 2, Values::ordinary);
  const auto before = flex_values(graph, inputs), after = flex_values(passed->graph(), inputs);
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::int64_t e = 0; e < before[i].count(); ++e) {
      CAPTURE(i, e);
      if (std::isinf(before[i][e]))
        CHECK(before[i][e] == after[i][e]);
      else
        CHECK(std::abs(before[i][e] - after[i][e]) < tolerance);
    }
}

TEST_CASE("flex_attention: the expanded calls have the values of the whole", "[passes]") {
  for (const int batches : {1, 2}) {
    check_expanded(forward_graph("f32", batches), 1e-5);
    check_expanded(backward_graph("f32", batches), 1e-4);
    check_expanded(forward_graph("f64", batches), 1e-6);
    check_expanded(forward_graph("bf16", batches), 0.06);
    check_expanded(backward_graph("bf16", batches), 0.3);
  }
}

TEST_CASE("flex_attention: a call that can't be expanded stays, and says why", "[passes]") {
  const auto reason = [](std::string_view old, std::string_view now) {
    std::string text = with_dtype(
        "graph \"g\" {" + inputs_text(1) + "  results %o" + std::string(kNested) + "\n}", "f32");
    const std::size_t at = text.find(old);
    REQUIRE(at != std::string::npos);
    const auto graph = parse_graph_text(text.replace(at, old.size(), now), "t");
    if (!graph) return graph.diagnostics().front().message;
    return why_not_inlined(*graph, graph->find("f")).value_or("none");
  };
  CHECK(reason("%t = tanh(%u)", "%t = rand_like(%u)") ==
        "nested graph 'score': node 't': it draws random numbers");
  CHECK(
      reason("%t = tanh(%u)", "%w = unsqueeze(%u, 0)\n    %t = sum(%w)") ==
      "node 'w' of the nested graph 'score': Recut can't apply 'unsqueeze' to all scores at once");
  CHECK(reason("input f32[2, 4, 3, 5]", "input f32[2, 3, 3, 5]")
            .find("query, key and value are [2, 3, 3, 5], [1, 2, 4, 5] and [1, 2, 4, 6]") !=
        std::string::npos);
  CHECK(reason("%open = input bool[3]", "%open = input bool[4]")
            .find("input 'open' of nested graph 'mask' is bool[4], expected bool[3]") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test
