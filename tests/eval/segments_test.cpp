#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

TEST_CASE("segments by lengths and by offsets", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {5}, {1, 2, 3, 4, 5});
  const auto reduce = [&](const char* how, Named more) {
    more.emplace_back("data", x);
    more.emplace_back("reduce", how);
    return c.run("segment_reduce", more);
  };
  const std::pair<std::string, Argument> lengths{"lengths", c.integers({2, 0, 3})};
  CHECK(reduce("sum", {lengths}) == List{3, 0, 12});
  CHECK(close(reduce("mean", {lengths}), {1.5, kNan, 4}));
  CHECK(close(reduce("max", {lengths}), {2, -kInf, 5}));
  CHECK(reduce("max", {lengths, {"initial", 4}}) == List{4, 4, 5});
  CHECK(reduce("prod", {{"offsets", c.integers({0, 3, 5})}}) == List{6, 20});
}

TEST_CASE("gradients of segments", "[eval]") {
  const List x = noise(8);
  const List grad = noise(4, 1);
  for (const char* how : {"sum", "mean", "max", "min", "prod"}) {
    INFO(how);
    const auto arguments = [&](OneCall& c, const List& at) {
      return Named{{"data", c.tensor(f64, {2, 4}, at)},
                   {"reduce", how},
                   {"lengths", c.tensor(i64, {2, 2}, {1, 3, 2, 2})},
                   {"axis", 1}};
    };
    const auto f = [&](const List& at) {
      OneCall c;
      return c.run("segment_reduce", arguments(c, at));
    };
    OneCall c;
    Named named = arguments(c, x);
    named.emplace_back("grad", c.tensor(f64, {2, 2}, grad));
    named.emplace_back("output", c.tensor(f64, {2, 2}, f(x)));
    CHECK(near(c.run("_segment_reduce_backward", named), numeric_gradient(f, x, grad)));
  }
}

TEST_CASE("segments beyond their axis are the data's fault", "[eval]") {
  OneCall c;
  const auto call = c.builder.call(
      "segment_reduce",
      {{"data", c.reals({1, 2})}, {"reduce", "sum"}, {"lengths", c.integers({1, 9e18})}});
  REQUIRE(call.ok());
  CHECK(c.error_text(*call).find("segment 1 is no part of an axis of 2") != std::string::npos);
}

TEST_CASE("histograms of points", "[eval]") {
  OneCall c;
  const Argument points = c.tensor(DType::f32, {4, 2}, {0, 0, 1, 1, 1, 0, 0.25, 1});
  const Named named{{"self", points}, {"bins", ints({2, 2})}};
  CHECK(c.run("_histogramdd_from_bin_cts", named) == List{1, 1, 1, 1});
  CHECK(c.run("_histogramdd_bin_edges", named, 1) == List{0, 0.5, 1});
  const Argument edges = c.tensor(DType::f32, {3}, {0, 0.5, 1});
  const NodeId id = *edges.get<NodeId>();
  CHECK(c.run("_histogramdd_from_bin_tensors",
              {{"self", points}, {"bins", ArgumentList{id, id}}, {"density", true}}) ==
        List{1, 1, 1, 1});
}

}  // namespace
}  // namespace recut::test
