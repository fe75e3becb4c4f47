// Quantisation: values as PyTorch's quantized_decomposed operators define them, and what is
// refused.
#include <catch2/catch_test_macros.hpp>

#include "tests/eval/run_text.h"

namespace recut::test {
namespace {

TEST_CASE("quantisation rounds to even and keeps to its range", "[eval]") {
  CHECK(run("%x = input f32[6]\n"
            "%q = quantized_decomposed.quantize_per_tensor(%x, 0.5, 1, -4, 5, i8)\nresults %q",
            {{"x", {0.25, 0.75, -0.25, 0.5, 100, -100}}}) == Values{1, 3, 1, 2, 5, -4});
  CHECK(run("%x = input f32[3]\n"
            "%q = quantized_decomposed.quantize_per_tensor(%x, 1.0, 128, 0, 255, u8)\nresults %q",
            {{"x", {-200, 0, 126.6}}}) == Values{0, 128, 255});
}

TEST_CASE("quantisation by channels", "[eval]") {
  CHECK(run("%x = input f32[2, 2]\n%s = input f32[2]\n%z = input i64[2]\n"
            "%q = quantized_decomposed.quantize_per_channel(%x, %s, %z, 0, -128, 127, i8)\n"
            "results %q",
            {{"x", {1, 2, 1, 2}}, {"s", {1, 0.5}}, {"z", {0, 10}}}) == Values{1, 2, 12, 14});
  CHECK(run("%q = input i8[2, 2]\n%s = input f32[2]\n%z = input i32[2]\n"
            "%x = quantized_decomposed.dequantize_per_channel(%q, %s, %z, -1, -128, 127, i8)\n"
            "results %x",
            {{"q", {1, 2, 3, 4}}, {"s", {1, 0.5}}, {"z", {0, 2}}}) == Values{1, 0, 3, 1});
  CHECK(run("%q = input i8[2]\n%s = input f32[2]\n"
            "%x = quantized_decomposed.dequantize_per_channel(%q, %s, none, 0, -128, 127, i8)\n"
            "results %x",
            {{"q", {3, 3}}, {"s", {1, 0.5}}}) == Values{3, 1.5});
}

TEST_CASE("dequantisation, in f32 unless it is told otherwise", "[eval]") {
  CHECK(run("%q = input u8[3]\n"
            "%x = quantized_decomposed.dequantize_per_tensor(%q, 0.5, 128, 0, 255, u8)\nresults %x",
            {{"q", {0, 128, 255}}}) == Values{-64, 0, 63.5});
  CHECK(run("%q = input i8[1]\n"
            "%x = quantized_decomposed.dequantize_per_tensor(%q, 0.1, 0, -128, 127, i8, "
            "out_dtype=bf16)\nresults %x",
            {{"q", {1}}}) == Values{0.10009765625});
}

TEST_CASE("quantisation that can't be is refused", "[eval]") {
  const auto refused = [](const std::string& call) {
    return fault(
        "%x = input f32[2, 3]\n%q = input i8[2, 3]\n%s = input f32[2]\n%y = "
        "quantized_decomposed." +
        call + "\nresults %y");
  };
  CHECK(refused("quantize_per_tensor(%q, 0.5, 1, -4, 5, i8)").find("can't quantise i8") !=
        std::string::npos);
  CHECK(refused("quantize_per_tensor(%x, 0.5, 1, 5, -4, i8)").find("quant_min is 5") !=
        std::string::npos);
  CHECK(refused("quantize_per_tensor(%x, 0.5, 1, 0, 255, i8)").find("is not i8's") !=
        std::string::npos);
  CHECK(refused("quantize_per_tensor(%x, 0.5, 1, 0, 255, f32)").find("integer dtype") !=
        std::string::npos);
  CHECK(refused("dequantize_per_tensor(%q, 0.5, 1, 0, 255, u8)").find("expected u8") !=
        std::string::npos);
  CHECK(refused("dequantize_per_channel(%q, %s, none, 1, 0, 127, i8)").find("for 3 channels") !=
        std::string::npos);
  CHECK(refused("dequantize_per_channel(%q, %s, none, 2, 0, 127, i8)").find("axis 2") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test
