// Reals of 8 bits: the four formats, casts, and products with scales; and products of groups.
#include <catch2/catch_test_macros.hpp>

#include "engine/eval/inputs.h"
#include "engine/eval/small_float.h"
#include "engine/support/hash.h"
#include "tests/effort.h"
#include "tests/eval/one_call.h"

namespace recut::test {
namespace {

using List = std::vector<double>;

constexpr DType kFormats[] = {DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz};

TEST_CASE("8-bit reals: every encoding is that of its value", "[eval]") {
  for (const DType format : kFormats) {
    INFO(short_name(format));
    int nans = 0;
    for (std::uint64_t bits = 0; bits < 256; ++bits) {
      const double value = from_small_float(bits, format);
      if (std::isnan(value)) {
        ++nans;
        CHECK(std::isnan(from_small_float(to_small_float(value, format), format)));
      } else {
        CHECK(to_small_float(value, format) == bits);
      }
    }
    CHECK(nans == (format == DType::f8e5m2 ? 6 : format == DType::f8e4m3fn ? 2 : 1));
  }
}

TEST_CASE("8-bit reals: rounded to the nearest, halves to the even one", "[eval]") {
  for (const DType format : kFormats) {
    INFO(short_name(format));
    List values;  // ascending
    for (std::uint64_t bits = 0; bits < 128; ++bits)
      if (std::isfinite(from_small_float(bits, format)))
        values.push_back(from_small_float(bits, format));
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double middle = (values[i] + values[i + 1]) / 2;
      CHECK(to_small_float(middle, format) == (i % 2 == 0 ? i : i + 1));
      CHECK(to_small_float(middle * (1 - 1e-6), format) == i);
      CHECK(to_small_float(middle * (1 + 1e-6), format) == i + 1);
    }
  }
}

double cast(double value, DType format) {
  OneCall c;
  const Argument x = c.tensor(f64, {1}, {value});
  return c.run("prims.convert_element_type", {{"a", x}, {"dtype", format}}).front();
}

// As PyTorch converts: no format saturates.
TEST_CASE("8-bit reals: beyond the largest number", "[eval]") {
  CHECK(cast(448, DType::f8e4m3fn) == 448);
  CHECK(cast(464, DType::f8e4m3fn) == 448);
  CHECK(std::isnan(cast(464.5, DType::f8e4m3fn)));
  CHECK(std::isnan(cast(-kInf, DType::f8e4m3fn)));
  CHECK(cast(57344, DType::f8e5m2) == 57344);
  CHECK(cast(61439, DType::f8e5m2) == 57344);
  CHECK(cast(61440, DType::f8e5m2) == kInf);
  CHECK(cast(-1e30, DType::f8e5m2) == -kInf);
  CHECK(cast(247, DType::f8e4m3fnuz) == 240);
  CHECK(std::isnan(cast(248, DType::f8e4m3fnuz)));
  CHECK(std::isnan(cast(kInf, DType::f8e4m3fnuz)));
  CHECK(cast(61439, DType::f8e5m2fnuz) == 57344);
  CHECK(std::isnan(cast(61440, DType::f8e5m2fnuz)));
  CHECK(std::isnan(cast(1e300, DType::f8e4m3fnuz)));
  for (const DType format : kFormats) CHECK(std::isnan(cast(kNan, format)));
}

TEST_CASE("8-bit reals: the smallest numbers, and zeros", "[eval]") {
  CHECK(cast(0x1p-9, DType::f8e4m3fn) == 0x1p-9);
  CHECK(cast(0x1p-10, DType::f8e4m3fn) == 0);
  CHECK(cast(0x1.8p-10, DType::f8e4m3fn) == 0x1p-9);
  CHECK(cast(0x1p-16, DType::f8e5m2) == 0x1p-16);
  CHECK(cast(0x1p-10, DType::f8e4m3fnuz) == 0x1p-10);
  CHECK(cast(0x1p-17, DType::f8e5m2fnuz) == 0x1p-17);
  CHECK(std::signbit(cast(-0.0, DType::f8e4m3fn)));
  CHECK_FALSE(std::signbit(cast(-0.0, DType::f8e4m3fnuz)));
  CHECK_FALSE(std::signbit(cast(-1e-9, DType::f8e5m2fnuz)));
}

TEST_CASE("8-bit reals: a product with one scale for each operand", "[eval]") {
  OneCall c;
  const Argument a = c.tensor(DType::f8e4m3fn, {2, 3}, {1, 2, -3, 0.5, 0, 4});
  const Argument b = c.tensor(DType::f8e5m2, {3, 2}, {1, -1, 2, 0.5, 1, 0});
  const Argument two = c.tensor(f32, {}, {2}), half = c.tensor(f32, {1}, {0.5});
  const Named call = {{"self", a}, {"mat2", b}, {"scale_a", two}, {"scale_b", half}};
  CHECK(c.builder.type("_scaled_mm", call) == "f8e4m3fn[2, 2]");
  CHECK(c.run("_scaled_mm", call) == List{2, 0, 4.5, -0.5});
  const Named wide = {{"self", a},
                      {"mat2", b},
                      {"scale_a", two},
                      {"scale_b", two},
                      {"bias", c.reals({1, -1})},
                      {"out_dtype", DType::bf16}};
  CHECK(c.builder.type("_scaled_mm", wide) == "bf16[2, 2]");
  CHECK(c.run("_scaled_mm", wide) == List{9, -1, 19, -3});
}

TEST_CASE("8-bit reals: a product with a scale for each row and column", "[eval]") {
  OneCall c;
  const Argument a = c.tensor(DType::f8e4m3fn, {2, 1}, {1, 2});
  const Argument b = c.tensor(DType::f8e4m3fn, {1, 3}, {1, 2, 3});
  const Argument rows = c.tensor(f32, {2, 1}, {1, 0.5});
  const Argument columns = c.tensor(f32, {1, 3}, {1, 10, 100});
  const Named call = {
      {"self", a}, {"mat2", b}, {"scale_a", rows}, {"scale_b", columns}, {"out_dtype", f32}};
  CHECK(c.run("_scaled_mm", call) == List{1, 20, 300, 1, 20, 300});
  CHECK(c.builder.type("_scaled_mm",
                       {{"self", a}, {"mat2", b}, {"scale_a", columns}, {"scale_b", columns}}) ==
        "_scaled_mm: scale_a has shape [1, 3], expected one number or [2, 1]");
}

TEST_CASE("products of groups: of rows, of columns, of the inner dimension", "[eval]") {
  OneCall c;
  const Argument ends = c.tensor(DType::i32, {2}, {1, 3});
  const Argument rows = c.tensor(f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Argument batch = c.tensor(f32, {2, 2, 1}, {1, 1, 1, -1});
  CHECK(c.run("_grouped_mm", {{"self", rows}, {"mat2", batch}, {"offs", ends}}) == List{3, -1, -1});
  const Argument lines = c.tensor(f32, {2, 1, 2}, {1, 1, 1, -1});
  const Argument columns = c.tensor(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(c.run("_grouped_mm", {{"self", lines}, {"mat2", columns}, {"offs", ends}}) ==
        List{5, -3, -3});
  const Argument wide = c.tensor(f32, {1, 3}, {1, 2, 3}), tall = c.tensor(f32, {3, 1}, {4, 5, 6});
  CHECK(c.run("_grouped_mm", {{"self", wide}, {"mat2", tall}, {"offs", ends}}) == List{4, 28});
  CHECK(c.run("_grouped_mm", {{"self", lines}, {"mat2", batch}}) == List{2, 2});
}

TEST_CASE("products of groups: ends that go back are refused", "[eval]") {
  OneCall c;
  const Argument ends = c.tensor(DType::i32, {2}, {2, 1});
  const Argument rows = c.tensor(f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Argument batch = c.tensor(f32, {2, 2, 1}, {1, 1, 1, -1});
  const auto made =
      c.builder.call("_grouped_mm", {{"self", rows}, {"mat2", batch}, {"offs", ends}});
  REQUIRE(made.ok());
  CHECK(c.error_text(*made).find("group 1 ends at 1, expected 2 to 3") != std::string::npos);
}

}  // namespace
}  // namespace recut::test
