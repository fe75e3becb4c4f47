#include "engine/eval/evaluator.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/inputs.h"
#include "engine/eval/steps.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// Kernels that compute nothing: these tests are about what is alive when.
const KernelTable& idle_kernels() {
  static const KernelTable table = [] {
    KernelTable t;
    for (const Operator& op : all_operators())
      t.add(op.op, [](KernelContext&) -> Result<Done> { return Done{}; });
    return t;
  }();
  return table;
}

std::vector<NodeId> ids(const Graph& graph, std::initializer_list<std::string_view> names) {
  std::vector<NodeId> found;
  for (const std::string_view name : names) found.push_back(graph.find(name));
  return found;
}

Result<Evaluation> run(const Graph& graph, const Plan& plan, EvaluateOptions options = {}) {
  const auto inputs = inputs_from(graph, {}, 1);
  REQUIRE(inputs.ok());
  options.kernels = &idle_kernels();
  return evaluate(graph, plan, *inputs, options);
}

std::int64_t peak(const Graph& graph, const Plan& plan) {
  const auto evaluation = run(graph, plan);
  INFO((evaluation ? std::string() : format(evaluation.diagnostics())));
  REQUIRE(evaluation.ok());
  return evaluation->peak_bytes;
}

std::string fault(const Graph& graph, const Plan& plan) {
  const auto evaluation = run(graph, plan);
  REQUIRE_FALSE(evaluation.ok());
  return format(evaluation.diagnostics());
}

// Each value is 400 bytes; %x, %w and %t are given.
constexpr std::string_view kChain = R"(graph "chain" {
  %x = parameter f32[10, 10]
  %w = input f32[10, 10]
  %t = tangent f32[10, 10]
  %a = mm(%x, %w) : f32[10, 10]
  %at = permute(%a, [1, 0]) : f32[10, 10]{1, 10}
  %b = mm(%at, %w) : f32[10, 10]
  %y = mm(%b, %w) : f32[10, 10]
  %d = mm(%t, %at) : f32[10, 10]
  %g = mm(%d, %b) : f32[10, 10]
  results %y
  gradients %g, none
})";

// a takes 400 bytes, everything else 40.
constexpr std::string_view kSizes = R"(graph "sizes" {
  %x = input f32[10, 10]
  %w = parameter f32[10, 1]
  %t = tangent f32[10, 1]
  %a = mm(%x, %x) : f32[10, 10]
  %v = permute(%a, [1, 0]) : f32[10, 10]{1, 10}
  %y = mm(%v, %w) : f32[10, 1]
  %d = mm(%a, %t) : f32[10, 1]
  %g = mm(%v, %d) : f32[10, 1]
  results %y
  gradients none, %g
})";

TEST_CASE("a plan's peak: what is saved, what is returned, what is dropped") {
  const Graph graph = parse(kSizes);
  const auto forward = ids(graph, {"a", "v", "y"});
  CHECK(peak(graph, {forward, ids(graph, {"a", "v"}), ids(graph, {"d", "g"})}) == 520);  // y a d g
  CHECK(peak(graph, {forward, {}, ids(graph, {"a", "v", "d", "g"})}) == 520);
  // A saved view keeps its base; the gradient is the last to come and y lives to the end.
  CHECK(peak(graph, {forward, ids(graph, {"v", "y"}), ids(graph, {"a", "d", "g"})}) == 880);
  // What is saved lives through the first step of backward, used or not: a, y, and d.
  const Graph chain = parse(kChain);
  const auto calls = ids(chain, {"a", "at", "b", "y"});
  const auto again = ids(chain, {"a", "at", "d", "b", "g"});
  CHECK(peak(chain, {calls, {}, again}) == 1600);
  CHECK(peak(chain, {calls, ids(chain, {"b"}), ids(chain, {"a", "at", "d", "g"})}) == 1600);
  CHECK(peak(chain, {calls, ids(chain, {"a", "at", "b"}), again}) == 1600);
}

TEST_CASE("a recomputed node makes a new storage while a view of the old one lives") {
  const Graph graph = parse(kSizes);
  const auto forward = ids(graph, {"a", "v", "y"});
  // v holds the first storage of a while a runs anew: y, a, a' and then d.
  CHECK(peak(graph, {forward, ids(graph, {"v"}), ids(graph, {"a", "d", "g"})}) == 880);
  CHECK(peak(graph, {forward, ids(graph, {"a", "v"}), ids(graph, {"a", "d", "g"})}) == 880);
  // Saved, and computed again in the first step of backward: both storages are there, then one.
  CHECK(peak(graph, {forward, ids(graph, {"a"}), ids(graph, {"a", "v", "d", "g"})}) == 840);
}

TEST_CASE("a call of several outputs has a storage for each, alive until the last is taken") {
  // values takes 16 bytes, places 32, m 16.
  const Graph graph = parse(R"(graph "outputs" {
  %x = input f32[1, 1, 4, 4]
  %s = input f32[2, 2]
  %p = max_pool2d_with_indices(%x, [2, 2], [2, 2]) : (f32[1, 1, 2, 2], i64[1, 1, 2, 2])
  %values = getitem(%p, 0) : f32[1, 1, 2, 2]
  %m = mm(%s, %s) : f32[2, 2]
  %places = getitem(%p, 1) : i64[1, 1, 2, 2]
  results %values, %m
})");
  CHECK(peak(graph, {ids(graph, {"p", "values", "m"}), {}, {}}) == 48);
  CHECK(peak(graph, {ids(graph, {"p", "values", "m", "places"}), {}, {}}) == 64);
}

TEST_CASE("a plan that can't run says why, before anything runs") {
  const Graph graph = parse(kChain);
  const auto forward = ids(graph, {"a", "at", "b", "y"});
  const auto backward = ids(graph, {"d", "g"});
  CHECK(fault(graph, {ids(graph, {"at", "a", "b", "y"}), {}, backward})
            .find("error: plan: forward runs 'at', but its operand 'a' is not there\n") == 0);
  CHECK(fault(graph, {forward, ids(graph, {"at"}), backward}) ==
        "error: plan: backward runs 'g', but its operand 'b' is not there\n");
  CHECK(fault(graph, {ids(graph, {"a", "at", "b", "y", "d"}), ids(graph, {"at", "b"}), backward}) ==
        "error: plan: forward runs 'd', but its operand 't' is not there\n");
  CHECK(fault(graph, {ids(graph, {"a", "at", "b"}), ids(graph, {"at", "b"}), backward}) ==
        "error: plan: the result 'y' is never computed\n");
  CHECK(fault(graph, {forward, ids(graph, {"at", "b", "d"}), backward}) ==
        "error: plan: 'd' is saved, but forward doesn't compute it\n");
  CHECK(fault(graph, {forward, ids(graph, {"at", "b"}), ids(graph, {"d"})}) ==
        "error: plan: the gradient 'g' is never computed\n");
  CHECK(fault(graph, {ids(graph, {"x", "a", "at", "b", "y"}), ids(graph, {"at", "b"}), backward}) ==
        "error: plan: forward runs 'x', which comes from outside\n");
  CHECK(fault(graph, {{NodeId(999)}, {}, {}}).find("a node that is not in the graph") !=
        std::string::npos);
}

TEST_CASE("what draws anew runs once") {
  const Graph graph = parse(R"(graph "draws" {
  %x = parameter f32[2]
  %r = rand([2], draw=0) : f32[2]
  results %r
  gradients %r
})");
  const auto r = ids(graph, {"r"});
  CHECK(fault(graph, {r, {}, r}) ==
        "error: plan: backward runs 'r' again, but rand draws anew each time\n");
}

TEST_CASE("the whole graph in program order, without what nobody needs") {
  const Graph graph = parse(R"(graph "dead" {
  %x = input f32[10, 10]
  %dead = mm(%x, %x) : f32[10, 10]
  %deader = mm(%dead, %x) : f32[10, 10]
  %y = permute(%x, [1, 0]) : f32[10, 10]{1, 10}
  results %y
})");
  CHECK(build_steps(graph).steps.size() == 1);
  const auto inputs = inputs_from(graph, {}, 1);
  const auto evaluation = evaluate(graph, *inputs, {.kernels = &idle_kernels()});
  REQUIRE(evaluation.ok());
  CHECK(evaluation->peak_bytes == 0);
  REQUIRE(evaluation->outputs.size() == 1);
}

TEST_CASE("limits and inputs are checked by name") {
  const Graph graph = parse(kChain);
  const Plan plan{ids(graph, {"a", "at", "b", "y"}), ids(graph, {"at", "b"}),
                  ids(graph, {"d", "g"})};
  const auto small = run(graph, plan, {.max_bytes = 799});
  REQUIRE_FALSE(small.ok());
  CHECK(format(small.diagnostics()) ==
        "error: node 'a': its value f32[10, 10] would take more memory than the 799 B allowed\n");
  CHECK(run(graph, plan, {.max_bytes = 1600}).ok());
  CHECK_FALSE(run(graph, plan, {.max_bytes = 1599}).ok());
  const auto none = evaluate(graph, plan, {}, {.kernels = &idle_kernels()});
  REQUIRE_FALSE(none.ok());
  CHECK(none.diagnostics().size() == 3);
  CHECK(none.diagnostics().front().message == "node 'x': has no value, expected f32[10, 10]");
  int steps = 0;
  EvaluateOptions stop;
  stop.progress = [&](std::size_t step, std::size_t) { return ++steps, step < 2; };
  CHECK_FALSE(run(graph, plan, stop).ok());
  CHECK(steps == 3);
}

TEST_CASE("an empty value counts by its other dimensions, which kernels go along") {
  const Graph graph = parse(R"(graph "empty" {
  %x = input f32[1, 0]
  %y = repeat_interleave.self_int(%x, 1000000, 0) : f32[1000000, 0]
  results %y
})");
  const auto run = evaluate(graph, *inputs_from(graph, {}, 1), {.max_bytes = 1 << 20});
  REQUIRE_FALSE(run.ok());
  CHECK(run.diagnostics().front().message.find("more memory than") != std::string::npos);
}

TEST_CASE("outputs that the graph has not are left out") {
  const Graph graph = parse(R"(graph "absent" {
  %x = input f32[4, 4]
  %p = sort(%x) : (none, i64[4, 4])
  %places = getitem(%p, 1) : i64[4, 4]
  %q = sort(%x) : (f32[4, 4], i64[4, 4])
  %expected = getitem(%q, 1) : i64[4, 4]
  results %places, %expected
})");
  const auto run = evaluate(graph, *inputs_from(graph, {}, 1));
  REQUIRE(run.ok());
  CHECK(bytes_of(run->outputs[0]) == bytes_of(run->outputs[1]));
}

TEST_CASE("operators without kernels are all named, once each") {
  const Graph graph = parse(kChain);
  const KernelTable none;
  const auto inputs = inputs_from(graph, {}, 1);
  const auto evaluation = evaluate(graph, *inputs, {.kernels = &none});
  REQUIRE_FALSE(evaluation.ok());
  CHECK(format(evaluation.diagnostics()) ==
        "error: operator 'mm' can't be evaluated yet: node 'a' uses it\n"
        "error: operator 'permute' can't be evaluated yet: node 'at' uses it\n");
}

}  // namespace
}  // namespace recut
