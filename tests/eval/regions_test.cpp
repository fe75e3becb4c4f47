// Conditions and loops in the interpreter, against the same values computed without regions.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/double_graph.h"
#include "tests/eval/run_text.h"

namespace recut::test {
namespace {

std::string condition(std::string_view predicate, std::string_view no = "%r = cos(%a)") {
  return fmt::format(R"(
  %p = input {}
  %x = input f32[4]
  %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x]) : (f32[4])
  %y = getitem(%c, 0)
  results %y
  region "yes" {{
    %a = input f32[4]
    %r = sin(%a)
    results %r
  }}
  region "no" {{
    %a = input f32[4]
    {}
    results %r
  }})",
                     predicate, no);
}

Values alone(std::string_view call) {
  return run(fmt::format("  %a = input f32[4]\n  %r = {}\n  results %r", call));
}

TEST_CASE("regions: a condition gives the values of the branch that is taken") {
  for (const char* type : {"bool[]", "bool[1]", "f32[]", "i64[]"}) {
    CAPTURE(type);
    CHECK(run(condition(type), {{"p", {1}}}) == alone("sin(%a)"));
    CHECK(run(condition(type), {{"p", {0}}}) == alone("cos(%a)"));
  }
  CHECK(fault(condition("bool[2]"), {{"p", {1, 0}}}) ==
        "node 'c': its predicate has the shape [2], expected one element");
}

TEST_CASE("regions: the branch that isn't taken doesn't run") {
  const std::string no = "%i = full([4], 9, dtype=i64)\n    %r = index_select(%a, 0, %i)";
  CHECK(run(condition("bool[]", no), {{"p", {1}}}) == alone("sin(%a)"));
  CHECK(fault(condition("bool[]", no), {{"p", {0}}})
            .starts_with("node 'c': nested graph 'no': node 'r': "));
  const std::string unknown = "%r = external mine.op.default(%a) : f32[4]";
  CHECK(run(condition("bool[]", unknown), {{"p", {1}}}) == alone("sin(%a)"));
  CHECK(fault(condition("bool[]", unknown), {{"p", {0}}}) ==
        "node 'c': nested graph 'no': operator 'mine.op' can't be evaluated yet: node 'r' uses it; "
        "give its expansion by --op-library FILE");
}

TEST_CASE("regions: a while_loop runs its body as long as its condition holds") {
  const auto loop = [](std::string_view bound) {
    return fmt::format(R"(
  %i = input i64[]
  %x = input f32[2]
  %f = input f32[]
  %w = external torch.ops.higher_order.while_loop("test", "body", [%i, %x], [%f]) : (i64[], f32[2])
  %n = getitem(%w, 0)
  %y = getitem(%w, 1)
  results %n, %y
  region "test" {{
    %j = input i64[]
    %a = input f32[2]
    %g = input f32[]
    %s = sum(%a)
    %b = lt.Scalar(%s, {})
    results %b
  }}
  region "body" {{
    %j = input i64[]
    %a = input f32[2]
    %g = input f32[]
    %k = add.Tensor(%j, 1)
    %m = mul.Tensor(%a, %g)
    results %k, %m
  }})",
                       bound);
  };
  CHECK(run(loop("100"), {{"i", {0}}, {"x", {1, 2}}, {"f", {2}}}) == Values{6, 64, 128});
  CHECK(run(loop("0"), {{"i", {5}}, {"x", {1, 2}}, {"f", {2}}}) == Values{5, 1, 2});

  const auto graph = parse_graph_text("graph \"g\" {" + loop("100") + "\n}", "t");
  REQUIRE(graph.ok());
  Inputs inputs;
  for (const NodeId id : graph->inputs()) inputs[id] = input_tensor(graph->type(id), nullptr);
  EvaluateOptions options;
  options.max_trips = 50;  // f is 0: the sum stays below
  const auto endless = evaluate(*graph, inputs, options);
  REQUIRE_FALSE(endless.ok());
  CHECK(endless.diagnostics().front().message ==
        "node 'w': its loop runs more than 50 trips, the most that Recut evaluates");
  int steps = 0;
  options.max_trips = 1'000'000'000;
  options.progress = [&](std::size_t, std::size_t) { return ++steps < 1'000; };
  const auto ended = evaluate(*graph, inputs, options);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.diagnostics().front().message.find("the evaluation was ended") != std::string::npos);
}

TEST_CASE("regions: a while_loop_stack_output stacks the results of its trips") {
  const auto loop = [](int first, int length) {
    return fmt::format(R"(
  %x = input f32[2]
  %i = full([], {}, dtype=i64)
  %w = external torch.ops.higher_order.while_loop_stack_output("test", "body", [%i, %x], []) : (i64[{}], f32[{}, 2])
  %n = getitem(%w, 0)
  %y = getitem(%w, 1)
  results %n, %y
  region "test" {{
    %j = input i64[]
    %a = input f32[2]
    %b = lt.Scalar(%j, 3)
    results %b
  }}
  region "body" {{
    %j = input i64[]
    %a = input f32[2]
    %k = add.Tensor(%j, 1)
    %m = mul.Tensor(%a, 2)
    results %k, %m
  }})",
                       first, length, length);
  };
  CHECK(run(loop(1, 2), {{"x", {1, 2}}}) == Values{2, 3, 2, 4, 4, 8});
  CHECK(run(loop(5, 1), {{"x", {1, 2}}}) == Values{5, 1, 2});
  CHECK(fault(loop(1, 3)) == "node 'w': its loop stacks 2 values, and output 0 has a length of 3");
}

TEST_CASE("regions: a called graph runs once, and its other arguments don't count") {
  CHECK(run(R"(
  %x = input f32[2]
  %c = external torch.ops.higher_order.invoke_subgraph("g", "id", %x, %x) : (f32[2])
  %y = getitem(%c, 0)
  %d = external torch.ops.higher_order.tag_activation_checkpoint("g", %y, %x, use_reentrant=false) : f32[2]
  results %y, %d
  region "g" {
    %a = input f32[2]
    %b = input f32[2]
    %r = add.Tensor(%a, %b)
    results %r
  })",
            {{"x", {1, 2}}}) == Values{2, 4, 3, 6});
}

TEST_CASE("regions: a scan hands on its carried value and stacks the others") {
  const Values values = run(R"(
  %c = input f32[2]
  %x = input f32[3, 2]
  %w = input f32[2]
  %xt = permute(%x, [0, 1])
  %s = external torch.ops.higher_order.scan("step", [%c], [%xt, %x], [%w]) : (f32[2], f32[3, 2], f32[3])
  %last = getitem(%s, 0)
  %each = getitem(%s, 1)
  %sums = getitem(%s, 2)
  results %last, %each, %sums
  region "step" {
    %a = input f32[2]
    %b = input f32[2]
    %b2 = input f32[2]
    %v = input f32[2]
    %n = add.Tensor(%a, %b)
    %m = mul.Tensor(%n, %v)
    %t = sum(%b2)
    results %n, %m, %t
  })",
                            {{"c", {10, 20}}, {"w", {1, -1}}});
  CHECK(values == Values{16, 29, 10, -21, 12, -24, 16, -29, 1, 5, 9});
}

TEST_CASE("regions: a map runs its body on each slice") {
  const std::string map = R"(
  %x = input f32[3, 4]
  %s = external torch.ops.higher_order.map_impl("row", [%x], []) : (f32[3, 4])
  %y = getitem(%s, 0)
  results %y
  region "row" {
    %v = input f32[4]
    %r = _softmax(%v, 0, false)
    results %r
  })";
  CHECK(run(map) == run("  %x = input f32[3, 4]\n  %y = _softmax(%x, 1, false)\n  results %y"));
  const std::string empty = R"(
  %x = input f32[0, 4]
  %s = external torch.ops.higher_order.map_impl("row", [%x], []) : (f32[0, 4])
  %y = getitem(%s, 0)
  results %y
  region "row" {
    %v = input f32[4]
    results %v
  })";
  CHECK(run(empty).empty());
}

// A slice that isn't at the begin of its storage reads as one that is, and a transposed operand as
// a row-major one.
TEST_CASE("regions: a region reads its inputs in their recorded layout") {
  const std::string map = R"(
  %x = input f32[2, 4]
  %t = permute(%x, [1, 0])
  %s = external torch.ops.higher_order.map_impl("row", [%t], []) : (f32[4, 2])
  %y = getitem(%s, 0)
  results %y
  region "row" {
    %v = input f32[2]
    %r = as_strided(%v, [2], [1], 0)
    %n = neg(%r)
    results %n
  })";
  CHECK(run(map) == Values{0, -4, -1, -5, -2, -6, -3, -7});
}

TEST_CASE("regions: an associative scan combines the slices from the left") {
  const std::string scan = R"(
  %x = input f32[4, 2]
  %k = input f32[]
  %s = external torch.ops.higher_order.associative_scan("join", [%x], [%k]) : (f32[4, 2])
  %y = getitem(%s, 0)
  results %y
  region "join" {
    %a = input f32[2]
    %b = input f32[2]
    %f = input f32[]
    %m = mul.Tensor(%a, %f)
    %r = add.Tensor(%m, %b)
    results %r
  })";
  CHECK(run(scan, {{"k", {2}}}) == Values{0, 1, 2, 5, 8, 15, 22, 37});
}

TEST_CASE("regions: regions run in regions, and each run draws anew") {
  const std::string nested = R"(
  %p = input bool[]
  %x = input f32[2, 3]
  %c = external torch.ops.higher_order.cond(%p, "loop", "same", [%x]) : (f32[2, 3])
  %y = getitem(%c, 0)
  results %y
  region "loop" {
    %a = input f32[2, 3]
    %m = external torch.ops.higher_order.map_impl("row", [%a], []) : (f32[2, 3])
    %r = getitem(%m, 0)
    results %r
    region "row" {
      %v = input f32[3]
      %u = rand_like(%v)
      results %u
    }
  }
  region "same" {
    %a = input f32[2, 3]
    results %a
  })";
  CHECK(run(nested, {{"p", {0}}}) == Values{0, 1, 2, 3, 4, 5});
  const Values drawn = run(nested, {{"p", {1}}});
  CHECK(drawn == run(nested, {{"p", {1}}}));
  CHECK(Values(drawn.begin(), drawn.begin() + 3) != Values(drawn.begin() + 3, drawn.end()));
}

TEST_CASE("regions: calls without values are refused, and name what is missing") {
  const std::string inputs = "  %p = input bool[]\n  %x = input f32[4]\n  %c = external ";
  const auto refusal = [&](const std::string& call) {
    return fault(inputs + call + "\n  %y = getitem(%c, 0)\n  results %y");
  };
  CHECK(refusal("torch.ops.higher_order.cond(%p, \"a\", \"b\", [%x]) : (f32[4])") ==
        "operator 'cond' can't be evaluated yet: node 'c' uses it, and the file lacks its nested "
        "graph 'a'");
  CHECK(refusal("torch.ops.higher_order.cond(%p, %x, \"b\", [%x]) : (f32[4])") ==
        "operator 'cond' can't be evaluated yet: node 'c' uses it; give its expansion by "
        "--op-library "
        "FILE");
  const auto body = [](int item, std::string_view results) {
    return fmt::format(
        "\n  %y = getitem(%c, {})\n  results %y\n  region \"f\" {{\n    %a = input f32[4]\n    "
        "results {}\n  }}",
        item, results);
  };
  const std::string scan = inputs + "torch.ops.higher_order.scan";
  CHECK(fault(scan + "(\"f\", [3], [], [%x]) : (none, f32[2, 4])" + body(1, "none, %a")) ==
        "operator 'scan' can't be evaluated yet: node 'c' has a number among the values of its "
        "loop, expected tensors");
  CHECK(fault(scan + "(\"f\", [%x], [], []) : (f32[4])" + body(0, "%a")) ==
        "operator 'scan' can't be evaluated yet: node 'c' has no tensor to read slices of");
}

TEST_CASE("regions: in f64 nothing is rounded to f32 in a region, either") {
  const auto graph = parse_graph_text("graph \"g\" {" + condition("bool[]") + "\n}", "t");
  REQUIRE(graph.ok());
  Inputs inputs;
  for (const NodeId id : graph->inputs()) inputs[id] = input_tensor(graph->type(id), nullptr);
  const DoubleGraph wide(*graph);
  const auto values = evaluate(wide.graph(), wide.inputs(inputs));
  REQUIRE(values.ok());
  CHECK(values->outputs.front().dtype == DType::f64);
  CHECK(values_of(values->outputs.front())[1] == 0.5403023058681398);  // the cosine of 1
}

}  // namespace
}  // namespace recut::test
