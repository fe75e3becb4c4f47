#include <catch2/catch_test_macros.hpp>

#include "tests/ir/call_builder.h"

namespace recut::test {
namespace {

constexpr auto f32 = DType::f32;
constexpr auto i64 = DType::i64;
constexpr auto boolean = DType::boolean;

TEST_CASE("tensors with dimensions decide, then zero-dimensional ones, then numbers", "[ir]") {
  struct Row {
    DType a;
    Shape a_shape;
    DType b;
    Shape b_shape;
    std::string_view sum;
  };
  // As torch.result_type has it.
  const Row rows[] = {
      {f32, {2}, DType::f64, {}, "f32[2]"},           // of one category: the dimensioned one
      {i64, {2}, f32, {}, "f32[2]"},                  // a higher category wins
      {DType::f16, {2}, f32, {}, "f16[2]"},           //
      {DType::f16, {2}, DType::bf16, {2}, "f32[2]"},  // neither holds the other
      {DType::u8, {2}, DType::i8, {2}, "i16[2]"},     //
      {DType::u8, {2}, i64, {}, "u8[2]"},             //
      {boolean, {2}, boolean, {2}, "bool[2]"},        //
      {boolean, {3, 1}, DType::i32, {2}, "i32[3, 2]"},
      {f32, {0}, f32, {1}, "f32[0]"},
  };
  for (const Row& row : rows) {
    CallBuilder b;
    const Argument x = b.input(row.a, row.a_shape);
    const Argument y = b.input(row.b, row.b_shape);
    CHECK(b.type("add.Tensor", {{"self", x}, {"other", y}}) == row.sum);
    CHECK(b.type("add.Tensor", {{"self", y}, {"other", x}}) == row.sum);
  }
}

TEST_CASE("numbers promote by category alone", "[ir]") {
  CallBuilder b;
  const Argument i = b.input(i64, {2});
  const Argument h = b.input(DType::f16, {2});
  const Argument p = b.input(boolean, {2});
  CHECK(b.type("mul.Scalar", {{"self", i}, {"other", 1.5}}) == "f32[2]");
  CHECK(b.type("mul.Scalar", {{"self", h}, {"other", 1.5}}) == "f16[2]");
  CHECK(b.type("mul.Tensor", {{"self", p}, {"other", 2}}) == "i64[2]");
  CHECK(b.type("mul.Scalar", {{"self", p}, {"other", true}}) == "bool[2]");
  CHECK(b.type("clamp", {{"self", i}, {"max", 0.5}}) == "f32[2]");
  CHECK(b.type("add.Scalar", {{"self", i}, {"other", 1}, {"alpha", 1.5}}) == "i64[2]");
  CHECK(b.type("exp", {{"self", i}}) == "f32[2]");
  CHECK(b.type("div.Scalar", {{"self", i}, {"other", 2}}) == "f32[2]");
  CHECK(b.type("div.Scalar_mode", {{"self", i}, {"other", 2}, {"rounding_mode", "floor"}}) ==
        "i64[2]");
  CHECK(b.type("where.ScalarOther", {{"condition", p}, {"self", h}, {"other", 0.0}}) == "f16[2]");
  CHECK(b.type("lt.Scalar", {{"self", i}, {"other", 0.5}}) == "bool[2]");
}

TEST_CASE("what an operator is not defined for is refused by name", "[ir]") {
  CallBuilder b;
  const Argument x = b.input(f32, {2});
  const Argument p = b.input(boolean, {2});
  const Argument y = b.input(f32, {3});
  CHECK(b.type("bitwise_and.Tensor", {{"self", x}, {"other", x}}) ==
        "bitwise_and.Tensor: bitwise_and is not defined for f32");
  CHECK(b.type("neg", {{"self", p}}) == "neg: neg is not defined for bool");
  CHECK(b.type("sub.Tensor", {{"self", p}, {"other", p}}) ==
        "sub.Tensor: sub is not defined for bool");
  CHECK(b.type("add.Tensor", {{"self", x}, {"other", y}})
            .find("shapes [2] and [3] do not broadcast") != std::string::npos);
  CHECK(b.type("div.Tensor_mode", {{"self", x}, {"other", x}, {"rounding_mode", "up"}})
            .find("'up'") != std::string::npos);
}

TEST_CASE("types of what is made and folded", "[ir]") {
  CallBuilder b;
  const Argument x = b.input(f32, {2, 3});
  const Argument i = b.input(DType::i32, {2, 3});
  const Argument none = b.input(f32, {2, 0});
  const auto ints = [](std::vector<std::int64_t> v) { return Argument(v); };
  CHECK(b.type("full", {{"size", ints({2})}, {"fill_value", 1}}) == "i64[2]");
  CHECK(b.type("full", {{"size", ints({2})}, {"fill_value", true}}) == "bool[2]");
  CHECK(b.type("arange.start_step", {{"start", 1}, {"end", 6}, {"step", 2}}) == "i64[3]");
  CHECK(b.type("arange", {{"end", 2.5}}) == "f32[3]");
  CHECK(b.type("arange.start_step", {{"start", 3}, {"end", 0}}).find("does not lead") !=
        std::string::npos);
  CHECK(b.type("tril_indices", {{"row", 3}, {"col", 2}, {"offset", -1}}) == "i64[2, 3]");
  CHECK(b.type("triu_indices", {{"row", 3}, {"col", 4}, {"offset", 1}}) == "i64[2, 6]");
  CHECK(b.type("sum.dim_IntList", {{"self", i}, {"dim", ints({-1})}}) == "i64[2]");
  CHECK(b.type("sum.dim_IntList", {{"self", x}, {"dim", ints({})}, {"keepdim", true}}) ==
        "f32[1, 1]");
  CHECK(b.type("any.dims", {{"self", x}, {"dim", ints({})}}) == "bool[2, 3]");
  CHECK(b.type("topk", {{"self", x}, {"k", 2}}) == "f32[2, 2]");
  CHECK(b.type("amax", {{"self", none}}).find("nothing to choose") != std::string::npos);
  CHECK(b.type("amax", {{"self", none}, {"dim", ints({0})}}) == "f32[0]");
  CHECK(b.type("mean", {{"self", i}}).find("not defined for i32") != std::string::npos);
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(b.type("zeros", {{"size", ints({huge, huge, huge})}}).find("larger than") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test
