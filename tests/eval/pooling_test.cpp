#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

TEST_CASE("max pooling: values, places, and offsets in windows", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 3, 3}, {1, 5, 2, 8, 3, 4, 7, 6, 9});
  const Named named{{"self", x}, {"kernel_size", ints({2, 2})}, {"stride", ints({1})}};
  CHECK(c.run("max_pool2d_with_indices", named) == List{8, 5, 8, 9});
  CHECK(c.run("max_pool2d_with_indices", named, 1) == List{3, 1, 3, 8});
  Named low = named;
  low.emplace_back("padding", ints({0, 0}));
  low.emplace_back("dilation", ints({1, 1}));
  low.emplace_back("ceil_mode", false);
  CHECK(c.run("prims._low_memory_max_pool_with_offsets", low) == List{8, 5, 8, 9});
  CHECK(c.run("prims._low_memory_max_pool_with_offsets", low, 1) == List{2, 0, 0, 3});
  const Argument offsets = c.tensor(DType::i8, {1, 1, 2, 2}, {2, 0, 0, 3});
  CHECK(c.run("prims._low_memory_max_pool_offsets_to_indices", {{"self", offsets},
                                                                {"kernel_size", ints({2, 2})},
                                                                {"input_size", ints({3, 3})},
                                                                {"stride", ints({1, 1})},
                                                                {"padding", ints({0, 0})},
                                                                {"dilation", ints({1, 1})}}) ==
        List{3, 1, 3, 8});
}

TEST_CASE("max pooling with padding, dilation, ceil_mode and NaN", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 5}, {-1, -2, -3, -4, -5});
  const auto pool = [&](Named more) {
    more.emplace_back("self", x);
    return c.run("max_pool1d", more);
  };
  // Padding never wins, not even over negative numbers.
  CHECK(pool({{"kernel_size", ints({3})}, {"stride", ints({2})}, {"padding", ints({1})}}) ==
        List{-1, -2, -4});
  CHECK(pool({{"kernel_size", ints({2})}, {"dilation", ints({3})}, {"stride", ints({1})}}) ==
        List{-1, -2});
  CHECK(pool({{"kernel_size", ints({2})}}) == List{-1, -3});
  CHECK(pool({{"kernel_size", ints({2})}, {"ceil_mode", true}}) == List{-1, -3, -5});
  const Argument nan = c.tensor(f64, {1, 1, 3}, {1, kNan, 2});
  CHECK(close(c.run("max_pool1d", {{"self", nan}, {"kernel_size", ints({3})}}), {kNan}));
}

TEST_CASE("mean pooling: what the sum is divided by", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 4}, {6, 12, 18, 24});
  const auto pool = [&](Named more) {
    more.emplace_back("self", x);
    more.emplace_back("kernel_size", ints({3}));
    return c.run("avg_pool1d", more);
  };
  CHECK(pool({{"stride", ints({1})}}) == List{12, 18});
  CHECK(pool({{"stride", ints({2})}, {"padding", ints({1})}}) == List{6, 18});
  CHECK(pool({{"stride", ints({2})}, {"padding", ints({1})}, {"count_include_pad", false}}) ==
        List{9, 18});
  // What ceil_mode adds beyond the padding doesn't count.
  CHECK(pool({{"stride", ints({3})}, {"ceil_mode", true}}) == List{12, 24});
}

TEST_CASE("gradients of pooling", "[eval]") {
  const List x = noise(2 * 5 * 4);
  const Named window{{"kernel_size", ints({3, 2})},
                     {"stride", ints({2, 2})},
                     {"padding", ints({1, 1})},
                     {"ceil_mode", false}};
  const List grad = noise(2 * 3 * 3, 1);
  const auto check = [&](const char* forward, const char* backward, const Named& more) {
    INFO(forward);
    Named named = window;
    named.insert(named.end(), more.begin(), more.end());
    const auto f = [&](const List& at) {
      OneCall c;
      Named arguments = named;
      arguments.emplace_back("self", c.tensor(f64, {2, 5, 4}, at));
      return c.run(forward, arguments);
    };
    OneCall c;
    Named arguments = named;
    arguments.emplace_back("self", c.tensor(f64, {2, 5, 4}, x));
    if (std::string(forward).find("max") != std::string::npos)
      arguments.emplace_back("indices",
                             c.tensor(DType::i64, {2, 3, 3}, c.run(forward, arguments, 1)));
    arguments.emplace_back("grad_output", c.tensor(f64, {2, 3, 3}, grad));
    CHECK(near(c.run(backward, arguments), numeric_gradient(f, x, grad)));
  };
  check("max_pool2d_with_indices", "max_pool2d_with_indices_backward",
        {{"dilation", ints({1, 1})}});
  check("avg_pool2d", "avg_pool2d_backward",
        {{"count_include_pad", true}, {"divisor_override", None{}}});
  check("avg_pool2d", "avg_pool2d_backward",
        {{"count_include_pad", false}, {"divisor_override", None{}}});
  check("avg_pool2d", "avg_pool2d_backward",
        {{"count_include_pad", false}, {"divisor_override", 5}});
}

TEST_CASE("adaptive pooling covers the plane", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 1, 5}, {1, 2, 3, 4, 5});
  // Windows [0, 2), [1, 4), [3, 5).
  CHECK(c.run("_adaptive_avg_pool2d", {{"self", x}, {"output_size", ints({1, 3})}}) ==
        List{1.5, 3, 4.5});
  CHECK(c.run("adaptive_max_pool2d", {{"self", x}, {"output_size", ints({1, 3})}}, 1) ==
        List{1, 3, 4});
  const Argument grad = c.tensor(f64, {1, 1, 1, 3}, {2, 3, 4});
  CHECK(c.run("_adaptive_avg_pool2d_backward", {{"grad_output", grad}, {"self", x}}) ==
        List{1, 2, 1, 3, 2});
}

TEST_CASE("places outside their plane are the data's fault", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 2}, {1, 2});
  const Argument grad = c.tensor(f64, {1, 1, 1}, {1});
  const Argument index = c.tensor(DType::i64, {1, 1, 1}, {2});
  const auto call = c.builder.call("adaptive_max_pool2d_backward",
                                   {{"grad_output", grad}, {"self", x}, {"indices", index}});
  REQUIRE(call.ok());
  CHECK(c.error_text(*call).find("outside its plane") != std::string::npos);
}

}  // namespace
}  // namespace recut::test
