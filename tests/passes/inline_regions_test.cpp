// The pass inline_regions keeps the values of nested graphs, and says why others stay.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/ir/region_call.h"
#include "engine/ir/verifier.h"
#include "engine/passes/region_inlining.h"
#include "engine/passes/runner.h"
#include "tests/input/parse.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

Graph graph_of(const std::string& lines) { return parse("graph \"g\" {\n" + lines + "\n}"); }

Graph inlined(const Graph& graph) {
  const auto passed = run_passes(graph, split_pass_names("inline_regions"));
  if (!passed) FAIL(format(passed.diagnostics()));
  REQUIRE_FALSE(passed->failure);
  return passed->graph();
}

int region_calls(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.order()) count += has_regions(graph, id);
  return count;
}

// All calls are inlined, and values stay.
void check_inlined(const std::string& lines) {
  CAPTURE(lines);
  const Graph graph = graph_of(lines);
  REQUIRE(region_calls(graph) > 0);
  const Graph whole = inlined(graph);
  CHECK(region_calls(whole) == 0);
  CHECK(verify(whole, graph).empty());
  const Inputs values = inputs_for(graph, 1, Values::ordinary);
  const auto before = evaluate(graph, values), after = evaluate(whole, values);
  if (!before) FAIL(format(before.diagnostics()));
  if (!after) FAIL(format(after.diagnostics()));
  CHECK(outputs_difference(before->outputs, after->outputs) == "");
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    CHECK(whole.type(whole.results[i]) == graph.type(graph.results[i]));
}

// The reason that the only call stays.
std::string reason(const std::string& lines) {
  const Graph graph = graph_of(lines);
  CHECK(region_calls(inlined(graph)) == region_calls(graph));
  for (const NodeId id : graph.order())
    if (has_regions(graph, id)) return why_not_inlined(graph, id).value_or("none");
  return "no call";
}

TEST_CASE("inline_regions: a scan, a map and a prefix scan become their trips", "[passes]") {
  check_inlined(R"(
  %c = input f32[2]
  %x = input f32[3, 2]
  %w = input f32[2]
  %s = external torch.ops.higher_order.scan("step", [%c], [%x], [%w]) : (f32[2], f32[3, 2], f32[3])
  %last = getitem(%s, 0)
  %each = getitem(%s, 1)
  %sums = getitem(%s, 2)
  results %last, %each, %sums
  region "step" {
    %a = input f32[2]
    %b = input f32[2]
    %v = input f32[2]
    %m = mul.Tensor(%a, %v)
    %n = add.Tensor(%m, %b)
    %q = sum(%n)
    results %n, %n, %q
  })");
  check_inlined(R"(
  %x = input f32[3, 2]
  %w = input f32[2]
  %t = permute(%x, [1, 0])
  %m = external torch.ops.higher_order.map_impl("row", [%t, %t], [%w]) : (f32[2, 3])
  %mm = getitem(%m, 0)
  results %mm
  region "row" {
    %a = input f32[3]
    %b = input f32[3]
    %v = input f32[2]
    %s = sum(%v)
    %m = mul.Tensor(%a, %s)
    %n = add.Tensor(%m, %b)
    results %n
  })");
  check_inlined(R"(
  %x = input f32[3, 2]
  %p = external torch.ops.higher_order.associative_scan("add", [%x], []) : (f32[3, 2])
  %pp = getitem(%p, 0)
  results %pp
  region "add" {
    %a = input f32[2]
    %b = input f32[2]
    %r = add.Tensor(%a, %b)
    results %r
  })");
}

constexpr std::string_view kTestAndBody = R"(
  region "test" {
    %j = input i64[]
    %a = input f32[2]
    %g = input f32[2]
    %b = lt.Scalar(%j, 4)
    results %b
  }
  region "body" {
    %j = input i64[]
    %a = input f32[2]
    %g = input f32[2]
    %k = add.Tensor(%j, 1)
    %m = mul.Tensor(%a, %g)
    results %k, %m
  }
)";

std::string loop(std::string_view begin, std::string_view call, std::string_view types) {
  return fmt::format(R"(
  %c = input f32[2]
  %w = input f32[2]
  %i = {}
  %l = external torch.ops.higher_order.{}("test", "body", [%i, %c], [%w]) : ({})
  %n = getitem(%l, 0)
  %y = getitem(%l, 1)
  results %n, %y{})",
                     begin, call, types, kTestAndBody);
}

TEST_CASE("inline_regions: a while_loop with a known counter becomes its trips", "[passes]") {
  for (const char* begin :
       {"full([], 0, dtype=i64)", "full([], 3, dtype=i64)", "full([], 9, dtype=i64)"})
    check_inlined(loop(begin, "while_loop", "i64[], f32[2]"));
  check_inlined(loop("full([], 1, dtype=i64)", "while_loop_stack_output", "i64[3], f32[3, 2]"));
  check_inlined(loop("full([], 9, dtype=i64)", "while_loop_stack_output", "i64[1], f32[1, 2]"));
  CHECK(reason(loop("input i64[]", "while_loop", "i64[], f32[2]")) ==
        "its number of trips depends on data: the condition 'test' reads 'j'");
  CHECK(reason(loop("full([], -99999, dtype=i64)", "while_loop", "i64[], f32[2]")) ==
        "it runs more than 3276 trips, the most that Recut unrolls of it");
}

TEST_CASE("inline_regions: a loop of too many trips stays, and its length is named", "[passes]") {
  CHECK(reason(R"(
  %x = input f32[9000, 2]
  %m = external torch.ops.higher_order.map_impl("row", [%x], []) : (f32[9000, 2])
  %y = getitem(%m, 0)
  results %y
  region "row" {
    %a = input f32[2]
    %r = sin(%a)
    results %r
  })") == "its 9000 trips would become 18000 calls, and Recut unrolls at most 16384");
  check_inlined(R"(
  %x = input f32[0, 2]
  %m = external torch.ops.higher_order.map_impl("row", [%x], []) : (f32[0, 2])
  %y = getitem(%m, 0)
  results %y
  region "row" {
    %a = input f32[2]
    %r = sin(%a)
    results %r
  })");
}

std::string condition(std::string_view predicate, std::string_view yes) {
  return fmt::format(R"(
  %p = {}
  %x = input f32[3, 4]
  %i = input i64[3, 4]
  %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x, %i]) : (f32[3, 4])
  %y = getitem(%c, 0)
  results %y
  region "yes" {{
    %a = input f32[3, 4]
    %b = input i64[3, 4]
    {}
    results %r
  }}
  region "no" {{
    %a = input f32[3, 4]
    %b = input i64[3, 4]
    %m = external torch.ops.higher_order.map_impl("row", [%a], []) : (f32[3, 4])
    %r = getitem(%m, 0)
    results %r
    region "row" {{
      %v = input f32[4]
      %n = neg(%v)
      results %n
    }}
  }})",
                     predicate, yes);
}

TEST_CASE("inline_regions: a condition computes both branches, if neither may fail", "[passes]") {
  for (const char* predicate : {"input bool[]", "input f32[1]", "input i64[1, 1]",
                                "full([], 1, dtype=bool)", "full([1], 0.0)"})
    check_inlined(condition(predicate, "%r = sin(%a)"));
  const std::string reads = "%r = gather(%a, 1, %b)";
  CHECK(reason(condition("input bool[]", reads)) ==
        "node 'r' of the nested graph 'yes' may fail where the branch isn't taken");
  check_inlined(condition("full([], 0, dtype=bool)", reads));
  CHECK(reason(condition("input bool[]", "%d = floor_divide(%b, %b)\n    %r = add.Tensor(%a, %d)"))
            .starts_with("node 'd' of the nested graph 'yes' may fail"));
  check_inlined(condition("input bool[]", "%d = floor_divide(%b, 3)\n    %r = add.Tensor(%a, %d)"));
  CHECK(reason(condition("input bool[]", "%r = external mine.op.default(%a) : f32[3, 4]")) ==
        "node 'r' of the nested graph 'yes' calls 'mine.op', which Recut doesn't know");
}

// As a write in place leaves it whose tensor isn't read any more: index 3 isn't there.
TEST_CASE("inline_regions: a call that no result of a branch needs doesn't hold it", "[passes]") {
  check_inlined(R"(  %p = input bool[]
  %x = input f32[3]
  %y = external torch.ops.higher_order.cond(%p, "yes", "no", [%x]) : (f32[3])
  %r = getitem(%y, 0) : f32[3]
  results %r
  region "yes" {
    %a = input f32[3]
    %at = full([1], 3, dtype=i64) : i64[1]
    %part = slice.Tensor(%a, 0, 0, 1) : f32[1]
    %put = index_put(%a, [%at], %part) : f32[3]
    %b = sin(%a) : f32[3]
    results %b
  }
  region "no" {
    %a = input f32[3]
    %b = cos(%a) : f32[3]
    results %b
  })");
}

TEST_CASE("inline_regions: a branch may draw random numbers, unless a draw may fail", "[passes]") {
  for (const char* draws :
       {"%r = rand_like(%a)", "%d = native_dropout(%a, 0.5, true)\n    %r = getitem(%d, 0)",
        "%r = bernoulli.p(%a, 0.5)", "%r = geometric(%a, 0.5)",
        "%r = randint_like(%a, 9, dtype=f32)"})
    for (const char* predicate : {"input bool[]", "full([], 1, dtype=bool)"})
      check_inlined(condition(predicate, draws));
  for (const char* draws : {"%r = bernoulli(%a)", "%r = bernoulli.p(%a, 1.5)",
                            "%r = geometric(%a, 1.0)", "%r = randint_like(%a, 0, dtype=f32)"}) {
    CAPTURE(draws);
    CHECK(reason(condition("input bool[]", draws)) ==
          "node 'r' of the nested graph 'yes' may fail where the branch isn't taken");
  }
}

// Calls of one nested graph, trips of a loop and nested calls draw numbers of their own, which are
// the same whether they are inlined or not.
constexpr const char* kDraws = R"(
  %x = input f32[3, 2]
  %a = external torch.ops.higher_order.invoke_subgraph("twice", "id", %x) : (f32[3, 2], f32[3, 2])
  %a0 = getitem(%a, 0)
  %a1 = getitem(%a, 1)
  %b = external torch.ops.higher_order.invoke_subgraph("twice", "id", %x) : (f32[3, 2], f32[3, 2])
  %b0 = getitem(%b, 0)
  %b1 = getitem(%b, 1)
  %s = external torch.ops.higher_order.scan("step", [%x], [%x], []) : (f32[3, 2], f32[3, 2])
  %last = getitem(%s, 0)
  %each = getitem(%s, 1)
  %i = full([], 0, dtype=i64)
  %l = external torch.ops.higher_order.while_loop_stack_output("test", "body", [%i, %x], []) : (i64[2], f32[2, 3, 2])
  %trips = getitem(%l, 1)
  %p = external torch.ops.higher_order.associative_scan("sum", [%x], []) : (f32[3, 2])
  %sums = getitem(%p, 0)
  results %a0, %a1, %b0, %b1, %each, %trips, %last, %sums
  region "twice" {
    %v = input f32[3, 2]
    %c = external torch.ops.higher_order.invoke_subgraph("once", "id", %v) : (f32[3, 2])
    %r = getitem(%c, 0)
    %d = external torch.ops.higher_order.invoke_subgraph("once", "id", %v) : (f32[3, 2])
    %q = getitem(%d, 0)
    results %r, %q
    region "once" {
      %w = input f32[3, 2]
      %u = rand_like(%w)
      results %u
    }
  }
  region "step" {
    %c = input f32[3, 2]
    %v = input f32[2]
    %u = rand([2])
    %n = add.Tensor(%c, %u)
    results %n, %u
  }
  region "test" {
    %j = input i64[]
    %c = input f32[3, 2]
    %u = rand([3, 2])
    %r = lt.Scalar(%j, 2)
    results %r
  }
  region "body" {
    %j = input i64[]
    %c = input f32[3, 2]
    %u = rand([3, 2])
    %k = add.Tensor(%j, 1)
    results %k, %u
  }
  region "sum" {
    %c = input f32[2]
    %v = input f32[2]
    %u = rand([2])
    %m = add.Tensor(%c, %v)
    %n = add.Tensor(%m, %u)
    results %n
  })";

TEST_CASE("inline_regions: each run of a nested graph draws numbers of its own", "[passes]") {
  check_inlined(kDraws);
  const Graph whole = inlined(graph_of(kDraws));
  const auto values = evaluate(whole, inputs_for(whole, 1, Values::ordinary));
  if (!values) FAIL(format(values.diagnostics()));
  std::set<double> drawn;
  std::size_t count = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const Reals reals = unpack<double>(values->outputs[i]);
    count += reals.data.size();
    drawn.insert(reals.data.begin(), reals.data.end());
  }
  CHECK(count == 4 * 6 + 6 + 12);
  CHECK(drawn.size() == count);
}

TEST_CASE("inline_regions: draws of inlined runs become functions of seeds", "[passes]") {
  const auto passed = run_passes(graph_of(kDraws), split_pass_names("inline_regions,random_seeds"));
  if (!passed) FAIL(format(passed.diagnostics()));
  REQUIRE_FALSE(passed->failure);
  const Graph& seeded = passed->graph();
  int draws = 0, numbers = 0;
  for (const NodeId id : seeded.order()) {
    draws += draws_anew(seeded.op(id));
    numbers += seeded[id].op == Op::prims_inductor_random;
  }
  CHECK(draws == 1);  // of all seeds
  CHECK(numbers == 4 + 3 + 2 + 2);
  CHECK(evaluate(seeded, inputs_for(seeded, 1, Values::ordinary)).ok());
}

TEST_CASE("inline_regions: a called graph gets its inputs in the layout that it records",
          "[passes]") {
  const std::string called = R"(
  %x = input f32[3, 4]
  %t = permute(%x, [1, 0])
  %c = external torch.ops.higher_order.{}("g", {}%x) : (f32[12])
  %y = getitem(%c, 0)
  %d = external torch.ops.higher_order.{}("h", {}%x, 2) : f32[3, 4]
  %z = permute(%d, [1, 0])
  results %y, %z
  region "g" {{
    %a = input f32[3, 4]{{1, 3}}
    %u = permute(%a, [1, 0])
    %r = view(%u, [12])
    results %r
  }}
  region "h" {{
    %a = input f32[3, 4]
    %r = mul.Tensor(%a, 2)
    results %r
  }})";
  check_inlined(fmt::format(fmt::runtime(called), "invoke_subgraph", "\"g\", ", "wrap", ""));
  check_inlined(fmt::format(fmt::runtime(called), "tag_activation_checkpoint", "",
                            "wrap_activation_checkpoint", ""));
}

}  // namespace
}  // namespace recut::test
