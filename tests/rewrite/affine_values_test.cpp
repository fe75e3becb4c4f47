// Affine value analysis: known values agree with the interpreter, and the expected values are
// known.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "engine/eval/evaluator.h"
#include "engine/rewrite/splat_values.h"
#include "tests/rewrite/apply.h"

namespace recut::test {
namespace {

// "1 + [0, 2]": start and steps; "?" if the value is not affine.
std::string text(const AffineValue* p) {
  return p == nullptr ? "?" : fmt::format("{} + [{}]", p->start, fmt::join(p->steps, ", "));
}

std::int64_t value_at(const AffineValue& p, const Shape& shape, std::int64_t element, DType dtype) {
  std::int64_t value = p.start;
  for (std::size_t d = shape.size(); d-- > 0;) {
    value += p.steps[d] * (element % shape[d]);
    element /= shape[d];
  }
  return dtype == DType::boolean ? (value >= 0 ? 1 : 0) : value;
}

void check_value(const Graph& graph, NodeId id, const AffineValue& p, const Tensor& found) {
  const TensorType& type = graph.type(id);
  const Integers values = unpack<std::int64_t>(found);
  REQUIRE(p.steps.size() == type.shape.size());
  for (std::int64_t i = 0; i < values.count(); ++i)
    CHECK(values[i] == value_at(p, type.shape, i, type.dtype));
}

// Of each result of the lines, and all that is known compared with the interpreter.
std::vector<std::string> known_of(const std::string& lines) {
  Graph graph = graph_of(lines);
  INFO(print(graph));
  const SplatAnalysis values(graph);
  std::vector<std::string> known;
  for (const NodeId id : graph.results) known.push_back(text(values.affine_value_of(id)));
  graph.results.clear();
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput) && values.affine_value_of(id)) graph.results.push_back(id);
  const auto found = evaluate(graph, {});
  if (!found) FAIL(format(found.diagnostics()));
  for (std::size_t i = 0; i < graph.results.size(); ++i) {
    const NodeId id = graph.results[i];
    INFO(graph.node_name(id));
    check_value(graph, id, *values.affine_value_of(id), found->outputs[i]);
  }
  return known;
}

using Known = std::vector<std::string>;

TEST_CASE("affine values: created and moved values are known", "[rewrite]") {
  CHECK(known_of(R"(
  %a = prims.iota(6, start=2, step=3, dtype=i64, device="cpu", requires_grad=false)
  %b = arange(4)
  %c = view(%a, [2, 3])
  %d = view(%a, [1, 6, 1])
  %e = expand(%d, [2, 6, 5])
  %f = permute(%e, [2, 1, 0])
  %g = slice.Tensor(%a, 0, -4, 6, 2)
  %h = unsqueeze(%b, 0)
  %i = squeeze(%h)
  %j = prims.convert_element_type(%b, i32)
  %k = prims.convert_element_type(%b, f32)
  results %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k)") ==
        Known{"2 + [3]", "0 + [1]", "?", "2 + [0, 3, 0]", "2 + [0, 3, 0]", "2 + [0, 3, 0]",
              "8 + [6]", "0 + [0, 1]", "0 + [1]", "0 + [1]", "?"});
}

TEST_CASE("affine values: sums, concatenations and splats", "[rewrite]") {
  CHECK(known_of(R"(
  %a = arange(4)
  %rows = view(%a, [4, 1])
  %sum = add.Tensor(%a, %rows)
  %less = sub.Tensor(%sum, 3)
  %before = slice.Tensor(%less, 1, 0, 1)
  %one = sub.Tensor(%before, 1)
  %joined = cat([%one, %less], 1)
  %torn = cat([%less, %less], 1)
  %next = slice.Tensor(%joined, 1, 1, 5)
  %last = slice.Tensor(%joined, 1, 0, 4)
  %apart = sub.Tensor(%next, %last)
  %breaks = ne.Scalar(%apart, 1)
  %number = cumsum(%breaks, 1)
  %ones = full([3], 1, dtype=i64)
  %counted = cumsum(%ones, 0)
  %picked = index.Tensor(%number, [%rows, %a])
  results %sum, %less, %joined, %torn, %apart, %breaks, %number, %counted, %picked)") ==
        Known{"0 + [1, 1]", "-3 + [1, 1]", "-4 + [1, 1]", "?", "1 + [0, 0]", "-1 + [0, 0]",
              "0 + [0, 0]", "1 + [1]", "0 + [0, 0]"});
}

// Nothing is known of a call that the analysis rejects.
TEST_CASE("affine values: indexing out of range is unknown", "[rewrite]") {
  const Graph graph = graph_of(R"(
  %a = arange(4)
  %ones = full([3], 1, dtype=i64)
  %y = index.Tensor(%ones, [%a])
  results %y)");
  CHECK(SplatAnalysis(graph).affine_value_of(graph.results.front()) == nullptr);
}

TEST_CASE("affine values: comparisons and their combinations", "[rewrite]") {
  CHECK(known_of(R"(
  %a = arange(4)
  %rows = view(%a, [4, 1])
  %le = le.Tensor(%a, %rows)
  %lt = lt.Tensor(%a, %rows)
  %ge = ge.Tensor(%a, %rows)
  %gt = gt.Scalar(%a, 1)
  %all = ge.Scalar(%a, 0)
  %none = lt.Scalar(%a, 0)
  %eq = eq.Tensor(%a, %rows)
  %far = add.Tensor(%rows, 7)
  %apart = eq.Tensor(%a, %far)
  %not = logical_not(%le)
  %and = bitwise_and.Tensor(%all, %le)
  %both = bitwise_and.Tensor(%le, %gt)
  %true = full([4, 4], true, dtype=bool)
  %lower = tril(%true, 1)
  %upper = triu(%true, 1)
  results %le, %lt, %ge, %gt, %all, %none, %eq, %apart, %not, %and, %both, %lower, %upper)") ==
        Known{"0 + [1, -1]", "-1 + [1, -1]", "0 + [-1, 1]", "-2 + [1]", "0 + [0]", "-1 + [0]", "?",
              "-1 + [0, 0]", "-1 + [-1, 1]", "0 + [1, -1]", "?", "1 + [1, -1]", "-1 + [-1, 1]"});
}

TEST_CASE("affine values: a value that wraps around is unknown", "[rewrite]") {
  CHECK(known_of(R"(
  %a = arange.start_step(100, 104, 1, dtype=i8)
  %b = add.Tensor(%a, 100)
  %c = prims.iota(3, start=9223372036854775806, step=1, dtype=i64, device="cpu", requires_grad=false)
  %d = slice.Tensor(%a, 0, 0, 1, 9223372036854775807)
  results %a, %b, %c, %d)") == Known{"100 + [1]", "?", "?", "100 + [0]"});
}

}  // namespace
}  // namespace recut::test
