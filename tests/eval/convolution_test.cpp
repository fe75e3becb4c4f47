#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

// A convolution and sizes that exercise one of its forms.
struct Form {
  const char* name;
  Shape input, weight, output;
  std::vector<std::int64_t> stride, padding, dilation, output_padding;
  bool transposed;
  std::int64_t groups;

  Named arguments() const {
    return {{"stride", ints(stride)},
            {"padding", ints(padding)},
            {"dilation", ints(dilation)},
            {"transposed", transposed},
            {"output_padding", ints(output_padding)},
            {"groups", groups}};
  }
  std::int64_t outputs() const { return output[1]; }
};

const Form kForms[] = {
    {"one dimension", {2, 1, 5}, {2, 1, 3}, {2, 2, 3}, {1}, {0}, {1}, {0}, false, 1},
    {"stride and padding",
     {1, 2, 4, 5},
     {3, 2, 3, 2},
     {1, 3, 2, 2},
     {2, 2},
     {1, 0},
     {1, 1},
     {0, 0},
     false,
     1},
    {"dilation",
     {1, 1, 6, 6},
     {1, 1, 2, 3},
     {1, 1, 4, 4},
     {1, 1},
     {0, 1},
     {2, 2},
     {0, 0},
     false,
     1},
    {"groups", {2, 4, 3, 3}, {6, 2, 2, 2}, {2, 6, 2, 2}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 2},
    {"depthwise",
     {1, 3, 4, 4},
     {3, 1, 3, 3},
     {1, 3, 4, 4},
     {1, 1},
     {1, 1},
     {1, 1},
     {0, 0},
     false,
     3},
    {"three dimensions",
     {1, 1, 3, 4, 3},
     {2, 1, 2, 2, 3},
     {1, 2, 2, 3, 1},
     {1},
     {0},
     {1},
     {0},
     false,
     1},
    {"transposed",
     {1, 2, 3, 3},
     {2, 2, 2, 3},
     {1, 2, 6, 6},
     {2, 2},
     {0, 1},
     {1, 1},
     {0, 1},
     true,
     1},
    {"transposed groups", {2, 4, 2}, {4, 1, 3}, {2, 2, 6}, {2}, {1}, {2}, {1}, true, 2},
};

List convolution(const Form& form, const List& input, const List& weight, const List& bias) {
  OneCall c;
  Named named = form.arguments();
  named.emplace_back("input", c.tensor(f64, form.input, input));
  named.emplace_back("weight", c.tensor(f64, form.weight, weight));
  named.emplace_back("bias", c.tensor(f64, {form.outputs()}, bias));
  return c.run("convolution", named);
}

TEST_CASE("a convolution slides, pads, dilates", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 4}, {1, 2, 3, 4});
  const Argument w = c.tensor(f64, {1, 1, 2}, {1, 10});
  const auto conv = [&](Named more) {
    more.emplace_back("input", x);
    more.emplace_back("weight", w);
    return c.run("conv1d", more);
  };
  CHECK(conv({}) == List{21, 32, 43});
  CHECK(conv({{"padding", ints({1})}}) == List{10, 21, 32, 43, 4});
  CHECK(conv({{"stride", ints({2})}}) == List{21, 43});
  CHECK(conv({{"dilation", ints({2})}}) == List{31, 42});
  CHECK(conv({{"bias", c.tensor(f64, {1}, {0.5})}}) == List{21.5, 32.5, 43.5});
  CHECK(c.run("conv_transpose1d", {{"input", x}, {"weight", w}}) == List{1, 12, 23, 34, 40});
}

TEST_CASE("gradients of every form of convolution", "[eval]") {
  for (const Form& form : kForms) {
    INFO(form.name);
    const List input = noise(element_count(form.input));
    const List weight = noise(element_count(form.weight), 1);
    const List bias = noise(form.outputs(), 2);
    const List grad = noise(element_count(form.output), 3);
    const auto backward = [&](int output) {
      OneCall c;
      Named named = form.arguments();
      named.emplace_back("grad_output", c.tensor(f64, form.output, grad));
      named.emplace_back("input", c.tensor(f64, form.input, input));
      named.emplace_back("weight", c.tensor(f64, form.weight, weight));
      named.emplace_back("bias_sizes", ints({form.outputs()}));
      named.emplace_back("output_mask", flags({true, true, true}));
      return c.run("convolution_backward", named, output);
    };
    CHECK(near(backward(0),
               numeric_gradient([&](const List& x) { return convolution(form, x, weight, bias); },
                                input, grad)));
    CHECK(near(backward(1),
               numeric_gradient([&](const List& w) { return convolution(form, input, w, bias); },
                                weight, grad)));
    CHECK(near(backward(2),
               numeric_gradient([&](const List& b) { return convolution(form, input, weight, b); },
                                bias, grad)));
  }
}

TEST_CASE("a masked-out gradient is no output", "[eval][ir]") {
  OneCall c;
  const Form& form = kForms[0];
  Named named = form.arguments();
  named.emplace_back("grad_output", c.builder.input(f64, form.output));
  named.emplace_back("input", c.builder.input(f64, form.input));
  named.emplace_back("weight", c.builder.input(f64, form.weight));
  named.emplace_back("bias_sizes", None{});
  named.emplace_back("output_mask", flags({false, true, false}));
  const auto call = c.builder.call("convolution_backward", named);
  REQUIRE(call.ok());
  const auto& outputs = c.builder.graph[*call].outputs;
  CHECK_FALSE(outputs[0].exists());
  CHECK(outputs[1].shape == form.weight);
  CHECK_FALSE(outputs[2].exists());
}

TEST_CASE("an empty batch convolves to an empty batch", "[eval]") {
  Form form = kForms[1];
  form.input[0] = 0;
  CHECK(convolution(form, {}, noise(element_count(form.weight)), noise(3)).empty());
}

TEST_CASE("a clamped convolution adds, then clamps", "[eval]") {
  const auto clamped = [](const Argument& low, const Argument& high) {
    OneCall c;
    const double nan = std::nan("");
    const Argument image = c.tensor(DType::f32, {1, 1, 4}, {1, 2, -3, nan});
    const Argument kernel = c.tensor(DType::f32, {1, 1, 1}, {10});
    const Argument bias = c.tensor(DType::f32, {1}, {1});
    const Argument addend = c.tensor(DType::f32, {1, 1, 4}, {0.5, -20, 0, 1});
    return c.run("recut.clamped_convolution", {{"input", image},
                                               {"weight", kernel},
                                               {"bias", bias},
                                               {"addend", addend},
                                               {"stride", ints({1})},
                                               {"padding", ints({0})},
                                               {"dilation", ints({1})},
                                               {"groups", 1},
                                               {"low", low},
                                               {"high", high}});
  };
  const auto same = [](const List& found, const List& expected) {
    return List(found.begin(), found.end() - 1) == expected && std::isnan(found.back());
  };
  CHECK(same(clamped(None{}, None{}), {11.5, 1, -29}));
  CHECK(same(clamped(0.0, None{}), {11.5, 1, 0}));
  CHECK(same(clamped(None{}, 6), {6, 1, -29}));
  CHECK(same(clamped(-1, 6.5), {6.5, 1, -1}));
}

TEST_CASE("whole numbers are convolved around a zero point", "[eval]") {
  OneCall c;
  const Argument image = c.tensor(DType::i8, {1, 1, 3}, {3, 103, -97});
  const Argument kernel = c.tensor(DType::i8, {1, 1, 2}, {100, -128});
  // 3 stands for 0, as what pads does: 0 0 100 -100 0.
  CHECK(c.run("recut.int_convolution", {{"input", image},
                                        {"weight", kernel},
                                        {"zero_point", 3},
                                        {"stride", ints({1})},
                                        {"padding", ints({1})},
                                        {"dilation", ints({1})},
                                        {"groups", 1}}) == List{0, -12800, 22800, -10000});
}

}  // namespace
}  // namespace recut::test
