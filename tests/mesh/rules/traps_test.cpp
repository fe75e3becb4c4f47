// Wrong numbers that others reported, by the numbers of their checks. Each has a strategy that seems
// to be right.
#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "tests/mesh/rules/valued_graph.h"

using namespace recut;
using namespace recut::mesh;
using namespace recut::test;

namespace {

// A graph with one call `%y`, whose operands have these values.
struct Trap {
  ValuedGraph graph;

  Trap(const std::string& lines, const std::map<std::string, Tensor>& given) {
    auto parsed = parse_graph_text("graph \"trap\" {\n" + lines + "\n}", "trap");
    if (!parsed) FAIL(format(parsed.diagnostics()));
    Inputs inputs;
    for (const auto& [name, tensor] : given) inputs[parsed->find(name)] = tensor;
    auto found = with_values(std::move(*parsed), inputs);
    if (!found) FAIL(format(found.diagnostics()));
    graph = std::move(*found);
  }

  NodeId call() const { return graph.graph.find("y"); }

  bool offers(std::string_view strategy, std::int64_t ranks = 2) const {
    const std::string all = "\n" + strategies_of(graph.graph, "y", ranks);
    return all.find("\n" + std::string(strategy) + "\n") != std::string::npos;
  }

  // The validator finds the strategy wrong.
  bool refutes(const Strategy& strategy, std::int64_t ranks = 2) const {
    const ShardingRule rule = sharding_rule(graph.graph, call());
    const Validation found =
        validate_strategies(concrete_call(graph, call()), rule, {&strategy, 1}, ranks);
    CHECK_FALSE(found.unchecked.has_value());
    return found.wrong.size() == 1;
  }

  void prove(std::int64_t ranks = 2) const {
    for (const mesh::WrongStrategy& wrong :
         validate_rule(concrete_call(graph, call()), ranks).wrong)
      FAIL_CHECK(format(wrong.strategy) << ": " << wrong.problem);
  }
};

const Placement kSum = Placement::partial(Reduction::sum);
const Placement kMax = Placement::partial(Reduction::max);
const Placement kReplicate = Placement::replicate();

Tensor counting(Shape shape) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) + 1;
  return numbers(DType::f32, std::move(shape), values);
}

}  // namespace

TEST_CASE("trap 29: a view of [12, 8] as [16, 6] keeps no shard of dimension 1", "[mesh][rules]") {
  const Trap trap("%x = input f32[12, 8]\n%y = view(%x, [16, 6])\nresults %y",
                  {{"x", counting({12, 8})}});
  CHECK_FALSE(trap.offers("S(1) -> S(1)", 4));
  CHECK(trap.offers("S(0) -> S(0)", 4));
  trap.prove(4);
}

TEST_CASE("trap 31: a number is added to a Partial once", "[mesh][rules]") {
  const Trap trap("%x = input f32[2]\n%y = add.Tensor(%x, 1)\nresults %y",
                  {{"x", numbers(DType::f32, {2}, {7, 1})}});
  CHECK_FALSE(trap.offers("P(sum) -> P(sum)"));
  CHECK(trap.refutes({{kSum}, {kSum}}));
  trap.prove();
}

TEST_CASE("trap 32: argmax of a sharded dimension is no maximum of indices", "[mesh][rules]") {
  const Trap trap("%x = input f32[4]\n%y = argmax(%x)\nresults %y",
                  {{"x", numbers(DType::f32, {4}, {10, 5, 3, 8})}});
  CHECK_FALSE(trap.offers("S(0) -> P(max)"));
  CHECK(trap.refutes({{Placement::shard(0)}, {kMax}}));
}

TEST_CASE("trap 33: indices of max along a sharded dimension are those of a shard",
          "[mesh][rules]") {
  const Trap trap(
      "%x = input f32[2, 4]\n%y = max.dim(%x, 1)\n%v = getitem(%y, 0)\n%i = getitem(%y, 1)\n"
      "results %v, %i",
      {{"x", numbers(DType::f32, {2, 4}, {1, 2, 3, 8, 4, 9, 7, 5})}});
  CHECK(trap.offers("S(0) -> S(0), S(0)"));
  CHECK_FALSE(trap.offers("S(1) -> P(max), P(max)"));
  CHECK(trap.refutes({{Placement::shard(1)}, {kMax, kMax}}));
  trap.prove();
}

TEST_CASE("trap 34: a mean of unequal shards is no mean of means", "[mesh][rules]") {
  const Trap odd("%x = input f32[5]\n%y = mean(%x)\nresults %y", {{"x", counting({5})}});
  CHECK_FALSE(odd.offers("S(0) -> P(avg)"));
  CHECK(odd.refutes({{Placement::shard(0)}, {Placement::partial(Reduction::avg)}}));
  const Trap even("%x = input f32[6]\n%y = mean(%x)\nresults %y", {{"x", counting({6})}});
  CHECK(even.offers("S(0) -> P(avg)"));
  even.prove();
}

TEST_CASE("trap 35: all of shards is a minimum", "[mesh][rules]") {
  const Trap trap("%x = input bool[2]\n%y = all(%x)\nresults %y",
                  {{"x", numbers(DType::boolean, {2}, {1, 0})}});
  CHECK(trap.offers("S(0) -> P(min)"));
  CHECK(trap.refutes({{Placement::shard(0)}, {kMax}}));
  trap.prove();
}

TEST_CASE("trap 36: no padding takes part in a maximum", "[mesh][rules]") {
  const Trap trap("%x = input f32[3]\n%y = amax(%x, [0])\nresults %y",
                  {{"x", numbers(DType::f32, {3}, {-3, -1, -2})}});
  CHECK(trap.offers("S(0) -> P(max)"));
  trap.prove();
}

TEST_CASE("trap 37: a product of two Partials is none", "[mesh][rules]") {
  const Trap trap("%a = input f32[1]\n%b = input f32[1]\n%y = mul.Tensor(%a, %b)\nresults %y",
                  {{"a", numbers(DType::f32, {1}, {3})}, {"b", numbers(DType::f32, {1}, {6})}});
  CHECK_FALSE(trap.offers("P(sum), P(sum) -> P(sum)"));
  CHECK(trap.offers("P(sum), R -> P(sum)"));
  CHECK(trap.refutes({{kSum, kSum}, {kSum}}));
  trap.prove();
}

TEST_CASE("trap 38: a negative maximum is a minimum", "[mesh][rules]") {
  const Trap product("%x = input f32[2]\n%y = mul.Scalar(%x, -1)\nresults %y",
                     {{"x", numbers(DType::f32, {2}, {5, 3})}});
  CHECK_FALSE(product.offers("P(max) -> P(max)"));
  CHECK(product.refutes({{kMax}, {kMax}}));
  const Trap negated("%x = input f32[2]\n%y = neg(%x)\nresults %y",
                     {{"x", numbers(DType::f32, {2}, {5, 3})}});
  CHECK(negated.offers("P(max) -> P(min)"));
  negated.prove();
}

TEST_CASE("trap 39: a bias counts once where the inner dimension is sharded", "[mesh][rules]") {
  const Trap trap(
      "%b = input f32[3]\n%x = input f32[2, 4]\n%w = input f32[4, 3]\n"
      "%y = addmm(%b, %x, %w)\nresults %y",
      {{"b", counting({3})}, {"x", counting({2, 4})}, {"w", counting({4, 3})}});
  CHECK(trap.offers("P(sum), S(1), S(0) -> P(sum)"));
  CHECK_FALSE(trap.offers("R, S(1), S(0) -> P(sum)"));
  CHECK(trap.refutes({{kReplicate, Placement::shard(1), Placement::shard(0)}, {kSum}}));
  trap.prove();
}

TEST_CASE("trap 40: unequal shards don't carry over to a flat view", "[mesh][rules]") {
  const Trap trap("%x = input f32[6, 256]\n%y = view(%x, [-1])\nresults %y",
                  {{"x", counting({6, 256})}});
  CHECK_FALSE(trap.offers("S(0) -> S(0)", 4));
  CHECK(trap.refutes({{Placement::shard(0)}, {Placement::shard(0)}}, 4));
  CHECK(trap.offers("S(0) -> S(0)", 3));
  trap.prove(3);
}

TEST_CASE("trap 44: moments of a batch aren't averages of shards", "[mesh][rules]") {
  const Trap trap(
      "%x = input f32[4, 2]\n"
      "%y = _native_batch_norm_legit.no_stats(%x, none, none, true, 0.1, 1e-5)\n"
      "%o = getitem(%y, 0)\n%m = getitem(%y, 1)\n%s = getitem(%y, 2)\nresults %o, %m, %s",
      {{"x", numbers(DType::f32, {4, 2}, {1, 4, 2, 3, 3, 9, 10, 1})}});
  const Placement mean = Placement::partial(Reduction::avg);
  CHECK(trap.offers("S(1) -> S(1), S(0), S(0)"));
  CHECK_FALSE(trap.offers("S(0) -> S(0), P(avg), P(avg)"));
  CHECK(trap.refutes({{Placement::shard(0)}, {Placement::shard(0), mean, mean}}));
  trap.prove();
}

TEST_CASE("trap 45: no Partial passes a function that isn't linear, or not total",
          "[mesh][rules]") {
  const std::map<std::string, Tensor> values{{"x", numbers(DType::f32, {2}, {2, 0.5})}};
  const Trap log("%x = input f32[2]\n%y = log(%x)\nresults %y", values);
  CHECK_FALSE(log.offers("P(max) -> P(max)"));
  const Trap exp("%x = input f32[2]\n%y = exp(%x)\nresults %y", values);
  CHECK_FALSE(exp.offers("P(sum) -> P(sum)"));
  CHECK(exp.offers("P(max) -> P(max)"));
  CHECK(exp.refutes({{kSum}, {kSum}}));
  exp.prove();
  const Trap finite("%x = input f32[2]\n%y = nan_to_num(%x)\nresults %y", values);
  for (const char* partial : {"P(sum) -> P(sum)", "P(max) -> P(max)", "P(min) -> P(min)"})
    CHECK_FALSE(finite.offers(partial));
}

TEST_CASE("check 49: an embedding whose rows are sharded zeroes what others have",
          "[mesh][rules]") {
  const std::map<std::string, Tensor> values{
      {"w", counting({6, 2})}, {"i", numbers(DType::i64, {3}, {1, 4, 5})}, {"g", counting({3, 2})}};
  const Trap forward("%w = input f32[6, 2]\n%i = input i64[3]\n%y = embedding(%w, %i)\nresults %y",
                     {{"w", values.at("w")}, {"i", values.at("i")}});
  CHECK(forward.offers("S(0), R -> P(sum)"));
  forward.prove();
  const Trap backward(
      "%g = input f32[3, 2]\n%i = input i64[3]\n"
      "%y = embedding_dense_backward(%g, %i, 6, 4, false)\nresults %y",
      {{"g", values.at("g")}, {"i", values.at("i")}});
  CHECK(backward.offers("R, R -> S(0)"));
  backward.prove();
}

TEST_CASE("check 53: a sharded dropout draws what the whole one draws", "[mesh][rules]") {
  const Trap trap(
      "%x = input f32[5, 4]\n%y = native_dropout(%x, 0.5, true)\n%o = getitem(%y, 0)\n"
      "%m = getitem(%y, 1)\nresults %o, %m",
      {{"x", counting({5, 4})}});
  for (const std::int64_t ranks : {2, 4}) {
    CHECK(trap.offers("S(0) -> S(0), S(0)", ranks));
    trap.prove(ranks);
  }
}

TEST_CASE("check 55: an update of Adam stays in its shard", "[mesh][rules]") {
  const ValuedGraph step = valued(R"(graph "adam" {
    %p = input f32[8, 3]
    %g = input f32[8, 3]
    %m = input f32[8, 3]
    %v = input f32[8, 3]
    %m1 = lerp.Scalar(%m, %g, 0.1)
    %v0 = mul.Tensor(%v, 0.99)
    %v1 = addcmul(%v0, %g, %g, value=0.01)
    %d0 = abs(%v1)
    %d1 = sqrt(%d0)
    %d2 = add.Tensor(%d1, 1e-8)
    %y = addcdiv(%p, %m1, %d2, value=-0.001)
    results %y
  })");
  const RuleReport report = check_rules(step, 4);
  CHECK(report.problems == "");
  CHECK(strategies_of(step.graph, "y", 4).find("S(0), S(0), S(0) -> S(0)") != std::string::npos);
}
