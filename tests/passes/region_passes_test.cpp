// Passes run on nested graphs that stay, and report them by name.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/ir/printer.h"
#include "engine/ir/region_call.h"
#include "engine/ir/verifier.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"
#include "tests/input/parse.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// The number of trips depends on %n.
constexpr const char* kStayingLoop = R"(graph "g" {
  %x = input f32[4]
  %n = input i64[]
  %p = input bool[]
  %i = full([], 0, dtype=i64)
  %l = external torch.ops.higher_order.while_loop("test", "body", [%i, %x], [%n, %p]) : (i64[], f32[4])
  %y = getitem(%l, 1)
  results %y
  region "test" {
    %j = input i64[]
    %a = input f32[4]
    %m = input i64[]
    %q = input bool[]
    %unused = sin(%a)
    %r = lt.Tensor(%j, %m)
    results %r
  }
  region "body" {
    %j = input i64[]
    %a = input f32[4]
    %m = input i64[]
    %q = input bool[]
    %k = add.Tensor(%j, 1)
    %b = mul.Tensor(%a, 1)
    %e = exp(%b)
    %u = mul.Tensor(%e, 2)
    %s = external torch.ops.higher_order.while_loop("inner", "step", [%j, %b], [%m]) : (i64[], f32[4])
    %t = getitem(%s, 1)
    %c = external torch.ops.higher_order.cond(%q, "yes", "no", [%t]) : (f32[4])
    %d = getitem(%c, 0)
    results %k, %d
    region "inner" {
      %j = input i64[]
      %a = input f32[4]
      %m = input i64[]
      %r = lt.Tensor(%j, %m)
      results %r
    }
    region "step" {
      %j = input i64[]
      %a = input f32[4]
      %m = input i64[]
      %k = add.Tensor(%j, 1)
      %b = neg(%a)
      %c = mul.Tensor(%b, 1)
      results %k, %c
    }
    region "yes" {
      %a = input f32[4]
      %r = sin(%a)
      results %r
    }
    region "no" {
      %a = input f32[4]
      %r = cos(%a)
      results %r
    }
  }
})";

const RegionReport* report_on(const PipelineReport& report, std::string_view pass,
                              std::string_view region) {
  for (const PassReport& done : report.passes)
    for (const RegionReport& nested : done.regions)
      if (done.name == pass && nested.region == region) return &nested;
  return nullptr;
}

TEST_CASE("passes run on nested graphs that stay, two deep", "[passes]") {
  const Graph graph = parse(kStayingLoop);
  const auto report = run_passes(graph, default_passes());
  if (!report) FAIL(format(report.diagnostics()));
  REQUIRE_FALSE(report->failure);
  const Graph& passed = report->graph();
  INFO(print(passed));
  CHECK(verify(passed, graph).empty());
  CHECK(difference(graph, passed) == "");
  CHECK(report->changed());

  REQUIRE(report_on(*report, "noop_removal", "body") != nullptr);
  CHECK(report_on(*report, "noop_removal", "body")->changes.size() == 1);
  CHECK(report_on(*report, "noop_removal", "body/step") != nullptr);
  CHECK(report_on(*report, "inline_regions", "body") != nullptr);
  CHECK(report_on(*report, "dead_code", "test") != nullptr);
  const Graph& body = *passed.region("body");
  int calls = 0;
  for (const NodeId id : body.order()) calls += has_regions(body, id);
  CHECK(calls == 1);  // the loop
  CHECK_FALSE(body.find("e").valid());
  CHECK(body.region("step")->order().size() == 3 + 2);

  const auto again = run_passes(passed, split_pass_names("noop_removal,dead_code"));
  CHECK_FALSE(again->changed());
}

TEST_CASE("random_seeds seeds the draws of each trip of a loop that stays", "[passes]") {
  const Graph graph = parse(R"(graph "g" {
  %x = input f32[4]
  %n = input i64[]
  %i = full([], 0, dtype=i64)
  %l = external torch.ops.higher_order.while_loop("test", "body", [%i, %x, %x], [%n]) : (i64[], f32[4], f32[4])
  %y = getitem(%l, 1)
  %z = getitem(%l, 2)
  results %y, %z
  region "test" {
    %j = input i64[]
    %a = input f32[4]
    %b = input f32[4]
    %m = input i64[]
    %r = lt.Tensor(%j, %m)
    results %r
  }
  region "body" {
    %j = input i64[]
    %a = input f32[4]
    %b = input f32[4]
    %m = input i64[]
    %k = add.Tensor(%j, 1)
    %u = rand([4])
    results %k, %u, %a
  }
})");
  const auto report = run_passes(graph, split_pass_names("random_seeds"));
  REQUIRE(report.ok());
  REQUIRE_FALSE(report->failure);
  CHECK(report_on(*report, "random_seeds", "body") != nullptr);
  for (const Graph* one : {&graph, &report->graph()}) {
    Inputs inputs = inputs_for(*one, 1, Values::ordinary);
    Integers trips{Shape{}};
    trips[0] = 2;
    pack(trips, inputs[one->inputs()[1]]);
    const auto values = evaluate(*one, inputs);
    if (!values) FAIL(format(values.diagnostics()));
    CHECK(outputs_difference({values->outputs[0]}, {values->outputs[1]}) != "");
  }
}

}  // namespace
}  // namespace recut::test
