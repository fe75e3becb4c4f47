#include <catch2/catch_test_macros.hpp>

#include <set>

#include "tests/eval/one_call.h"

namespace recut::test {
namespace {

using List = std::vector<double>;
TEST_CASE("tensors from nothing or a number", "[eval]") {
  OneCall c;
  const Argument x = c.reals({5, 6});
  CHECK(close(c.run("full", {{"size", ints({2})}, {"fill_value", 2.5}}), {2.5, 2.5}));
  CHECK(close(
      c.run("full", {{"size", ints({})}, {"fill_value", 9007199254740993}, {"dtype", DType::i64}}),
      {9007199254740992}));
  CHECK(close(c.run("empty.memory_format", {{"size", ints({2})}}), {0, 0}));
  CHECK(close(c.run("ones_like", {{"self", x}}), {1, 1}));
  CHECK(close(c.run("new_full", {{"self", x}, {"size", ints({1})}, {"fill_value", 3}}), {3}));
  CHECK(close(c.run("scalar_tensor", {{"s", -1}, {"dtype", DType::u8}}), {255}));
  CHECK(close(c.run("eye.m", {{"n", 2}, {"m", 3}}), {1, 0, 0, 0, 1, 0}));
  CHECK(close(c.run("arange.start_step", {{"start", 5}, {"end", 0}, {"step", -2}}), {5, 3, 1}));
  CHECK(close(c.run("arange", {{"end", 1.5}}), {0, 1}));
  CHECK(
      close(c.run("linspace", {{"start", 0}, {"end", 1}, {"steps", 5}}), {0, 0.25, 0.5, 0.75, 1}));
  CHECK(close(c.run("linspace", {{"start", 3}, {"end", 9}, {"steps", 1}}), {3}));
  CHECK(close(c.run("linspace", {{"start", 0}, {"end", 5}, {"steps", 3}, {"dtype", DType::i64}}),
              {0, 2, 5}));
  CHECK(close(c.run("logspace", {{"start", 0}, {"end", 2}, {"steps", 3}}), {1, 10, 100}));
  CHECK(close(c.run("prims.iota", {{"length", 3},
                                   {"start", 2},
                                   {"step", 3},
                                   {"dtype", DType::i64},
                                   {"device", "cpu"},
                                   {"requires_grad", false}}),
              {2, 5, 8}));
  CHECK(close(c.run("tril_indices", {{"row", 3}, {"col", 2}}), {0, 1, 1, 2, 2, 0, 0, 1, 0, 1}));
  CHECK(close(c.run("triu_indices", {{"row", 2}, {"col", 2}, {"offset", -1}}),
              {0, 0, 1, 1, 0, 1, 0, 1}));
  CHECK(close(c.run("one_hot", {{"self", c.integers({1, 0})}, {"num_classes", 3}}),
              {0, 1, 0, 1, 0, 0}));
  CHECK(close(c.run("vander", {{"x", c.reals({2, 3})}, {"N", 3}}), {4, 2, 1, 9, 3, 1}));
  const auto outside = c.builder.call("one_hot", {{"self", c.integers({5})}, {"num_classes", 3}});
  CHECK(c.error_text(*outside).find("no such class") != std::string::npos);
}

List drawn(std::string_view name, Named named, std::uint64_t seed, int draw, int output = 0) {
  OneCall c;
  c.options.seed = seed;
  for (auto& [parameter, argument] : named)
    if (parameter == "self" || parameter == "input") argument = c.reals(List(1000, 0.25));
  named.emplace_back("draw", draw);
  return c.run(name, named, output);
}

double mean(const List& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

TEST_CASE("draws follow from the seed and their number alone", "[eval]") {
  const Named size = {{"size", ints({1000})}};
  const List first = drawn("rand", size, 1, 0);
  CHECK(drawn("rand", size, 1, 0) == first);
  CHECK(drawn("rand", size, 1, 1) != first);
  CHECK(drawn("rand", size, 2, 0) != first);
  CHECK(std::abs(mean(first) - 0.5) < 0.05);
  CHECK(std::abs(mean(drawn("randn", size, 1, 0))) < 0.1);

  const List die = drawn("randint.low", {{"low", 1}, {"high", 7}, {"size", ints({1000})}}, 1, 0);
  CHECK(std::set<double>(die.begin(), die.end()) == std::set<double>{1, 2, 3, 4, 5, 6});
  const List order = drawn("randperm", {{"n", 100}}, 1, 0);
  CHECK(std::set<double>(order.begin(), order.end()).size() == 100);
  CHECK(std::abs(mean(drawn("bernoulli", {{"self", 0}}, 1, 0)) - 0.25) < 0.05);
  CHECK(std::abs(mean(drawn("exponential", {{"self", 0}, {"lambd", 2.0}}, 1, 0)) - 0.5) < 0.06);
  CHECK(std::abs(mean(drawn("geometric", {{"self", 0}, {"p", 0.5}}, 1, 0)) - 2) < 0.2);

  CHECK(std::abs(mean(drawn("poisson", {{"self", 0}}, 1, 0)) - 0.25) < 0.05);

  const Named dropout = {{"input", 0}, {"p", 0.5}, {"train", true}};
  const List kept = drawn("native_dropout", dropout, 3, 4, 0);
  const List mask = drawn("native_dropout", dropout, 3, 4, 1);
  CHECK(std::abs(mean(mask) - 0.5) < 0.05);
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == 0.5 * mask[i]);
}

TEST_CASE("rrelu draws slopes in training alone", "[eval]") {
  OneCall c;
  const Argument x = c.reals({-1, -1, 2});
  const Named named = {{"self", x}, {"noise", c.reals({0, 0, 0})}, {"lower", 0.25}, {"upper", 0.5}};
  CHECK(close(c.run("rrelu_with_noise", named), {-0.375, -0.375, 2}));
  Named training = named;
  training.emplace_back("training", true);
  const List out = c.run("rrelu_with_noise_functional", training, 0);
  const List slopes = c.run("rrelu_with_noise_functional", training, 1);
  CHECK(slopes[0] != slopes[1]);
  CHECK((slopes[0] >= 0.25 && slopes[0] < 0.5));
  CHECK(close(out, {-slopes[0], -slopes[1], 2}));
  CHECK(slopes[2] == 1);
}

TEST_CASE("Inductor's numbers follow from their seed alone", "[eval]") {
  OneCall c;
  const Argument seeds = *c.builder.call("prims.inductor_seeds", {{"count", 2}, {"device", "cpu"}});
  const auto numbers = [&](int index, std::uint64_t seed) {
    c.options.seed = seed;
    const auto one =
        c.builder.call("prims.inductor_lookup_seed", {{"seeds", seeds}, {"index", index}});
    return c.run("prims.inductor_random",
                 {{"size", ints({100})}, {"seed", Argument(*one)}, {"mode", "rand"}});
  };
  CHECK(numbers(0, 1) == numbers(0, 1));
  CHECK(numbers(0, 1) != numbers(1, 1));
  CHECK(numbers(0, 1) != numbers(0, 2));
}

TEST_CASE("multinomial draws no weightless index, and none twice without replacement", "[eval]") {
  OneCall c;
  const Argument weights = c.tensor(DType::f32, {2, 3}, {1, 0, 2, 3, 1, 1});
  const List twice = c.run("multinomial", {{"self", c.reals({1, 0, 2})}, {"num_samples", 2}});
  CHECK(std::set<double>(twice.begin(), twice.end()) == std::set<double>{0, 2});
  const List many =
      c.run("multinomial", {{"self", weights}, {"num_samples", 50}, {"replacement", true}});
  CHECK(std::set<double>(many.begin(), many.begin() + 50) == std::set<double>{0, 2});
  const auto none = c.builder.call("multinomial", {{"self", c.reals({0, 0})}, {"num_samples", 1}});
  CHECK(c.error_text(*none).find("weights") != std::string::npos);
}

}  // namespace
}  // namespace recut::test
