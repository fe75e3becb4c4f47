// Calls whose operands don't fit together, across the families: what ATen refuses, the shape rules
// refuse with the reason.
#include <catch2/catch_test_macros.hpp>

#include "tests/ir/call_builder.h"

namespace recut::test {
namespace {

struct Calls {
  CallBuilder b;
  Argument number = b.input(DType::f32, {});
  Argument three = b.input(DType::f32, {3});
  Argument four = b.input(DType::f32, {4});
  Argument matrix = b.input(DType::f32, {2, 3});
  Argument mask = b.input(DType::boolean, {3});

  void refuses(const char* name, const Named& named, const std::string& reason) {
    INFO(name);
    const std::string found = b.type(name, named);
    INFO(found);
    CHECK(found.find(reason) != std::string::npos);
  }
};

TEST_CASE("a value to fill with is one number", "[ir]") {
  Calls c;
  CHECK(c.b.type("fill.Tensor", {{"self", c.three}, {"value", c.number}}) == "f32[3]");
  c.refuses("fill.Tensor", {{"self", c.three}, {"value", c.four}}, "expected one number");
  c.refuses("fill.Tensor", {{"self", 1.0}, {"value", c.number}}, "a tensor is expected");
  c.refuses("masked_fill.Tensor", {{"self", c.three}, {"mask", c.mask}, {"value", c.four}},
            "expected one number");
  c.refuses("masked_fill.Scalar", {{"self", c.three}, {"mask", 1.0}, {"value", 1.0}},
            "mask is a number");
}

TEST_CASE("gradients of activations have operands of one shape", "[ir]") {
  Calls c;
  CHECK(c.b.type("native_dropout_backward",
                 {{"grad_output", c.three}, {"mask", c.mask}, {"scale", 2.0}}) == "f32[3]");
  c.refuses("native_dropout_backward", {{"grad_output", c.four}, {"mask", c.mask}, {"scale", 2.0}},
            "do not broadcast");
  CHECK(c.b.type("log_sigmoid_backward", {{"grad_output", c.three},
                                          {"self", c.three},
                                          {"buffer", c.b.input(DType::f32, {0})}}) == "f32[3]");
  c.refuses("log_sigmoid_backward",
            {{"grad_output", c.three}, {"self", c.four}, {"buffer", c.four}}, "do not broadcast");
  c.refuses("rrelu_with_noise", {{"self", c.three}, {"noise", c.four}}, "noise of shape [4]");
}

TEST_CASE("a number is searched in one sorted line", "[ir]") {
  Calls c;
  CHECK(c.b.type("searchsorted.Scalar", {{"sorted_sequence", c.three}, {"self", 1.0}}) == "i64[]");
  c.refuses("searchsorted.Scalar", {{"sorted_sequence", c.matrix}, {"self", 1.0}},
            "one dimension is expected");
  c.refuses("bucketize.Tensor", {{"self", c.matrix}, {"boundaries", c.matrix}},
            "one dimension is expected");
  c.refuses("searchsorted.Tensor", {{"sorted_sequence", c.number}, {"self", c.number}},
            "one dimension is expected");
}

TEST_CASE("what is made from nothing or a seed", "[ir]") {
  Calls c;
  c.refuses("empty_permuted", {{"size", ints({2, 3})}, {"physical_layout", ints({0, 100})}},
            "no permutation");
  c.refuses("prims.inductor_random",
            {{"size", ints({2})}, {"seed", c.b.input(DType::i64, {0})}, {"mode", "rand"}},
            "expected one number");
}

}  // namespace
}  // namespace recut::test
