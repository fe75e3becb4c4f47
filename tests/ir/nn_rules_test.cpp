// Types of convolutions, poolings, attention and factorisations, and what their rules refuse.
#include <catch2/catch_test_macros.hpp>

#include "tests/ir/call_builder.h"

namespace recut::test {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

// A call whose type, or whose first error, contains `expected`.
void check_type(CallBuilder& b, const char* name, const Named& named, const std::string& expected) {
  INFO(name);
  CHECK(b.type(name, named).find(expected) != std::string::npos);
}

TEST_CASE("types of convolutions keep channels last", "[ir]") {
  CallBuilder b;
  TensorType last = make_type(DType::f32, {2, 8, 5, 5});
  last.strides = {200, 1, 40, 8};
  const Argument x = b.graph.add_input(InputKind::input, last, {"last"});
  const Argument w = b.input(DType::f32, {4, 8, 3, 3});
  CHECK(b.type("conv2d", {{"input", x}, {"weight", w}}) == "f32[2, 4, 3, 3]{36, 1, 12, 4}");
  CHECK(b.type("conv2d", {{"input", b.input(DType::f32, {2, 8, 5, 5})}, {"weight", w}}) ==
        "f32[2, 4, 3, 3]");
}

TEST_CASE("convolutions refuse what can't be slid", "[ir]") {
  CallBuilder b;
  const Argument x = b.input(DType::f32, {1, 4, 6});
  const Argument w = b.input(DType::f32, {2, 4, 3});
  const auto conv = [&](Named more, const std::string& expected) {
    more.emplace_back("input", x);
    more.emplace_back("weight", w);
    check_type(b, "conv1d", more, expected);
  };
  conv({{"stride", ints({0})}}, "stride is 0");
  conv({{"stride", ints({kHuge})}}, "stride is");
  conv({{"padding", ints({-1})}}, "padding is -1");
  conv({{"dilation", ints({kHuge})}}, "dilation is");
  conv({{"dilation", ints({3})}}, "does not fit 6 elements");
  conv({{"groups", 0}}, "0 groups");
  conv({{"groups", kHuge}}, "groups");
  conv({{"groups", 3}}, "does not fit 4 channels in 3 groups");
  conv({{"bias", b.input(DType::f32, {3})}}, "a bias of shape [3]");
  check_type(
      b, "conv_transpose1d",
      {{"input", x}, {"weight", b.input(DType::f32, {4, 1, 3})}, {"output_padding", ints({1})}},
      "output_padding 1");
}

TEST_CASE("poolings refuse windows that can't be", "[ir]") {
  CallBuilder b;
  const Argument x = b.input(DType::f32, {1, 2, 4, 4});
  const auto pool = [&](Named more, const std::string& expected) {
    more.emplace_back("self", x);
    check_type(b, "max_pool2d", more, expected);
  };
  pool({{"kernel_size", ints({3, 2})}, {"stride", ints({2})}, {"ceil_mode", true}},
       "f32[1, 2, 2, 2]");
  pool({{"kernel_size", ints({0})}}, "kernel_size is 0");
  pool({{"kernel_size", ints({2})}, {"stride", ints({0})}}, "stride is 0");
  pool({{"kernel_size", ints({2})}, {"padding", ints({2})}}, "more than half");
  pool({{"kernel_size", ints({5})}}, "no window of 5");
  pool({{"kernel_size", ints({1 << 20})}, {"padding", ints({1 << 19})}}, "too large a window");
  check_type(b, "avg_pool2d", {{"self", x}, {"kernel_size", ints({2})}, {"divisor_override", 0}},
             "divisor_override is 0");
  check_type(b, "max_pool2d",
             {{"self", b.input(DType::f32, {1, 1, 0, 4})}, {"kernel_size", ints({1})}},
             "a spatial dimension of 0");
}

TEST_CASE("types of attention", "[ir]") {
  CallBuilder b;
  const auto heads = [&](std::int64_t positions) {
    return b.input(DType::f32, {2, 3, positions, 8});
  };
  const Named named{{"query", heads(33)}, {"key", heads(5)}, {"value", heads(5)}};
  Named efficient = named;
  efficient.emplace_back("attn_bias", None{});
  efficient.emplace_back("compute_log_sumexp", true);
  CHECK(b.type("_scaled_dot_product_efficient_attention", efficient) ==
        "f32[2, 3, 33, 8]{792, 8, 24, 1}");
  const auto call = b.call("_scaled_dot_product_efficient_attention", efficient);
  CHECK(b.graph[*call].outputs[1].shape == Shape{2, 3, 64});  // rows in blocks of 32
  check_type(b, "_scaled_dot_product_flash_attention",
             {{"query", heads(4)}, {"key", heads(5)}, {"value", heads(6)}},
             "don't belong together");
  Named biased = named;
  biased.emplace_back("attn_bias", b.input(DType::f32, {33, 4}));
  biased.emplace_back("compute_log_sumexp", true);
  check_type(b, "_scaled_dot_product_efficient_attention", biased, "doesn't broadcast");
}

TEST_CASE("factorisations are column-major, and want matrices", "[ir]") {
  CallBuilder b;
  const Argument a = b.input(DType::f32, {2, 4, 3});
  CHECK(b.type("geqrf", {{"self", a}}) == "f32[2, 4, 3]{12, 1, 4}");
  check_type(b, "linalg_inv_ex", {{"A", a}}, "are not square");
  check_type(b, "_linalg_det", {{"A", b.input(DType::i64, {2, 2})}}, "no floating matrix");
  check_type(b, "linalg_svdvals", {{"A", b.input(DType::f32, {4})}}, "no floating matrix");
  check_type(b, "linalg_solve",
             {{"A", b.input(DType::f32, {3, 3})}, {"B", b.input(DType::f32, {4, 1})}},
             "make no system");
}

TEST_CASE("resampling bounds what a file asks for", "[ir]") {
  CallBuilder b;
  const Argument x = b.input(DType::f32, {1, 1, 4});
  check_type(b, "upsample_nearest1d", {{"self", x}, {"output_size", ints({0})}},
             "output_size is 0");
  check_type(b, "upsample_nearest1d.vec",
             {{"input", x}, {"output_size", None{}}, {"scale_factors", ArgumentList{1e300}}},
             "a scale factor of 1e+300");
  check_type(
      b, "upsample_nearest1d_backward",
      {{"grad_output", x}, {"output_size", ints({4})}, {"input_size", ints({kHuge, kHuge, 2})}},
      "grad_output of shape");
}

}  // namespace
}  // namespace recut::test
