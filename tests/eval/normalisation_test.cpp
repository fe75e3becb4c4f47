#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

TEST_CASE("softmax, its logarithm, and rows of -inf", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {2, 2}, {0, std::log(3.0), 1000, 1000});
  CHECK(close(c.run("softmax.int", {{"self", x}, {"dim", -1}}), {0.25, 0.75, 0.5, 0.5}));
  CHECK(close(c.run("log_softmax.int", {{"self", x}, {"dim", 1}}),
              {std::log(0.25), std::log(0.75), std::log(0.5), std::log(0.5)}));
  const Argument hidden = c.tensor(f64, {2}, {-kInf, -kInf});
  CHECK(close(c.run("softmax.int", {{"self", hidden}, {"dim", 0}}), {kNan, kNan}));
  CHECK(c.run("_safe_softmax", {{"self", hidden}, {"dim", 0}}) == List{0, 0});
  CHECK(c.run("softmax.int", {{"self", c.tensor(f64, {}, {7})}, {"dim", 0}}) == List{1});
}

TEST_CASE("gradients of softmax", "[eval]") {
  const List x = noise(12);
  const List grad = noise(12, 1);
  for (const std::string name : {"_softmax", "_log_softmax"}) {
    INFO(name);
    const auto f = [&](const List& at) {
      OneCall c;
      return c.run(name,
                   {{"self", c.tensor(f64, {2, 3, 2}, at)}, {"dim", 1}, {"half_to_float", false}});
    };
    OneCall c;
    CHECK(near(c.run(name + "_backward_data", {{"grad_output", c.tensor(f64, {2, 3, 2}, grad)},
                                               {"output", c.tensor(f64, {2, 3, 2}, f(x))},
                                               {"dim", 1},
                                               {"input_dtype", f64}}),
               numeric_gradient(f, x, grad)));
  }
}

// A normalisation, its gradient's operator, and the arguments that say over what.
struct NormCase {
  const char* forward;
  const char* backward;
  Shape weight;
  Named more;
  Named backward_more;
};

const Shape kInput{3, 4, 2};

const NormCase kNorms[] = {
    {"native_layer_norm",
     "native_layer_norm_backward",
     {4, 2},
     {{"normalized_shape", ints({4, 2})}, {"eps", 1e-5}},
     {{"normalized_shape", ints({4, 2})}, {"bias", None{}}}},
    {"native_group_norm",
     "native_group_norm_backward",
     {4},
     {{"N", 3}, {"C", 4}, {"HxW", 2}, {"group", 2}, {"eps", 1e-5}},
     {{"N", 3}, {"C", 4}, {"HxW", 2}, {"group", 2}}},
    {"native_batch_norm",
     "native_batch_norm_backward",
     {4},
     {{"training", true},
      {"momentum", 0.1},
      {"eps", 1e-5},
      {"running_mean", None{}},
      {"running_var", None{}}},
     {{"train", true}, {"eps", 1e-5}, {"running_mean", None{}}, {"running_var", None{}}}},
};

List normalised(const NormCase& norm, const List& x, const List& weight, const List& bias,
                int output) {
  OneCall c;
  Named named = norm.more;
  named.emplace_back("input", c.tensor(f64, kInput, x));
  named.emplace_back("weight", c.tensor(f64, norm.weight, weight));
  named.emplace_back("bias", c.tensor(f64, norm.weight, bias));
  return c.run(norm.forward, named, output);
}

TEST_CASE("normalised values have mean 0 and variance 1", "[eval]") {
  for (const NormCase& norm : kNorms) {
    INFO(norm.forward);
    const std::int64_t weights = element_count(norm.weight);
    const List out = normalised(norm, noise(24), List(static_cast<std::size_t>(weights), 1.0),
                                List(static_cast<std::size_t>(weights), 0.0), 0);
    double sum = 0;
    double squares = 0;
    for (const double y : out) {
      sum += y;
      squares += y * y;
    }
    CHECK(std::abs(sum) < 1e-9);
    CHECK(std::abs(squares - 24) < 0.01);  // eps takes a little
  }
}

TEST_CASE("gradients of normalisation", "[eval]") {
  const List x = noise(24);
  const List grad = noise(24, 1);
  for (const NormCase& norm : kNorms) {
    INFO(norm.forward);
    const std::int64_t weights = element_count(norm.weight);
    const List weight = noise(weights, 2);
    const List bias = noise(weights, 3);
    OneCall c;
    Named named = norm.backward_more;
    named.emplace_back("grad_out", c.tensor(f64, kInput, grad));
    named.emplace_back("input", c.tensor(f64, kInput, x));
    named.emplace_back("weight", c.tensor(f64, norm.weight, weight));
    named.emplace_back("output_mask", flags({true, true, true}));
    const bool batch = std::string(norm.forward) == "native_batch_norm";
    const Shape statistics = std::string(norm.forward) == "native_layer_norm" ? Shape{3, 1, 1}
                             : batch                                          ? Shape{4}
                                                                              : Shape{3, 2};
    named.emplace_back(batch ? "save_mean" : "mean",
                       c.tensor(f64, statistics, normalised(norm, x, weight, bias, 1)));
    named.emplace_back(batch ? "save_invstd" : "rstd",
                       c.tensor(f64, statistics, normalised(norm, x, weight, bias, 2)));
    CHECK(near(c.run(norm.backward, named, 0),
               numeric_gradient(
                   [&](const List& at) { return normalised(norm, at, weight, bias, 0); }, x, grad),
               1e-6));
    CHECK(near(c.run(norm.backward, named, 1),
               numeric_gradient([&](const List& at) { return normalised(norm, x, at, bias, 0); },
                                weight, grad)));
    CHECK(near(c.run(norm.backward, named, 2),
               numeric_gradient([&](const List& at) { return normalised(norm, x, weight, at, 0); },
                                bias, grad)));
  }
}

TEST_CASE("RMS norm and its gradient", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {2}, {3, 4});
  CHECK(close(c.run("rms_norm", {{"input", x}, {"normalized_shape", ints({2})}, {"eps", 0.0}}),
              {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}));
  const List at = noise(6);
  const List grad = noise(6, 1);
  const auto f = [&](const List& values, int output) {
    OneCall inner;
    return inner.run("_fused_rms_norm",
                     {{"input", inner.tensor(f64, {2, 3}, values)},
                      {"normalized_shape", ints({3})},
                      {"weight", inner.tensor(f64, {3}, {1, 2, 3})},
                      {"eps", 1e-6}},
                     output);
  };
  const Named named{
      {"grad_out", c.tensor(f64, {2, 3}, grad)}, {"input", c.tensor(f64, {2, 3}, at)},
      {"normalized_shape", ints({3})},           {"rstd", c.tensor(f64, {2, 1}, f(at, 1))},
      {"weight", c.tensor(f64, {3}, {1, 2, 3})}, {"output_mask", flags({true, true})}};
  CHECK(near(c.run("_fused_rms_norm_backward", named),
             numeric_gradient([&](const List& v) { return f(v, 0); }, at, grad)));
}

TEST_CASE("running statistics follow the step", "[eval]") {
  OneCall c;
  const Named named{{"input", c.tensor(f64, {2, 1}, {1, 3})},
                    {"weight", None{}},
                    {"bias", None{}},
                    {"running_mean", c.tensor(f64, {1}, {10})},
                    {"running_var", c.tensor(f64, {1}, {1})},
                    {"training", true},
                    {"momentum", 0.5},
                    {"eps", 0.0}};
  CHECK(c.run("_native_batch_norm_legit_functional", named, 0) == List{-1, 1});
  CHECK(c.run("_native_batch_norm_legit_functional", named, 3) == List{6});
  CHECK(c.run("_native_batch_norm_legit_functional", named, 4) == List{1.5});  // unbiased: 2
}

}  // namespace
}  // namespace recut::test
