// Formulas and plain nests for dtypes and edge cases that the operator samples lack.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "tests/codegen/agreement.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

void check_text_formulas(const std::string& text) {
  INFO(text);
  const auto graph = parse_graph_text(text, "formulas");
  if (!graph) FAIL(format(graph.diagnostics()));
  CHECK(disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), {}, true).substr(0, 2000) ==
        "");
  CHECK(edge_disagreement(*graph).substr(0, 2000) == "");
}

TEST_CASE("formulas: quantization", "[codegen][cpu]") {
  for (const char* dtype : {"f32", "f64"})
    check_text_formulas(fmt::format(R"(
graph "quantised" {{
  %x = parameter {0}[3, 17]
  %s = parameter f32[3]
  %z = parameter i64[3]
  %q = quantized_decomposed.quantize_per_tensor(%x, 0.013, 3, -128, 127, i8)
  %y = quantized_decomposed.dequantize_per_tensor(%q, 0.013, 3, -128, 127, i8)
  %a = abs(%s)
  %t = add.Scalar(%a, 0.01)
  %c = quantized_decomposed.quantize_per_channel(%x, %t, %z, 0, 0, 255, u8)
  %d = quantized_decomposed.dequantize_per_channel(%c, %t, %z, 0, 0, 255, u8)
  results %q, %y, %c, %d
}})",
                                    dtype));
  check_text_formulas(R"(
graph "products of i8" {
  %a = parameter i8[20, 40]
  %b = parameter i8[40, 24]
  %y = _int_mm(%a, %b)
  results %y
})");
}

TEST_CASE("formulas: frexp and ldexp", "[codegen][cpu]") {
  for (const char* dtype : {"f64", "f32", "f16"})
    check_text_formulas(fmt::format(R"(
graph "parts" {{
  %x = parameter {0}[200]
  %f = frexp.Tensor(%x)
  %m = getitem(%f, 0)
  %e = getitem(%f, 1)
  %t = mul.Scalar(%x, 1e-30)
  %g = frexp.Tensor(%t)
  %n = getitem(%g, 0)
  %k = getitem(%g, 1)
  results %m, %e, %n, %k
}})",
                                    dtype));
}

TEST_CASE("formulas: linspace and triangle indices", "[codegen][cpu]") {
  for (const char* dtype : {"f32", "f64", "bf16", "i64"})
    check_text_formulas(fmt::format(R"(
graph "spaced" {{
  %x = parameter f64[]
  %a = linspace(-1.7, 5.3, 12, dtype={0})
  %b = linspace.Tensor_Scalar(%x, 9, 7, dtype={0})
  %c = linspace(2, 3, 1, dtype={0})
  %d = logspace(0.5, 3, 8, dtype={0})
  results %a, %b, %c, %d
}})",
                                    dtype));
  check_text_formulas(R"(
graph "triangles" {
  %a = tril_indices(4, 6)
  %b = tril_indices(5, 3, -2)
  %c = triu_indices(4, 6, 1)
  %d = triu_indices(3, 3, -5)
  results %a, %b, %c, %d
})");
}

TEST_CASE("formulas: gcd and powers", "[codegen][cpu]") {
  for (const char* dtype : {"i64", "i32", "u8"})
    check_text_formulas(fmt::format(R"(
graph "divisors" {{
  %x = parameter {0}[40]
  %y = parameter {0}[7, 1]
  %a = mul.Scalar(%x, 30)
  %b = mul.Scalar(%y, 42)
  %c = add.Scalar(%b, 12)
  %g = gcd(%a, %c)
  %l = lcm(%a, %c)
  %h = add.Tensor(%g, %l)
  %p = vander(%x, 5)
  %q = vander(%x, none, true)
  results %g, %l, %h, %p, %q
}})",
                                    dtype));
}

TEST_CASE("formulas: random distributions", "[codegen][cpu]") {
  check_text_formulas(R"(
graph "drawn" {
  %x = parameter f32[3, 50]
  %n = parameter f32[3, 50]
  %s = prims.inductor_seeds(2, "cpu")
  %o = prims.inductor_lookup_seed(%s, 1)
  %i = prims.inductor_randint(-3, 9, [4, 8], %o)
  %whole = prims.inductor_randint(-9223372036854775808, 9223372036854775807, [64], %o)
  %above = prims.inductor_randint(-9223372036854775808, 5, [64], %o)
  %below = prims.inductor_randint(-5, 9223372036854775802, [64], %o)
  %half = prims.inductor_randint(-1, 4611686018427387904, [64], %o)
  %u = prims.inductor_random([5, 7], %o, "rand")
  %z = prims.inductor_random([5, 7], %o, "randn", offset=4294967290)
  %g = geometric(%x, 0.3)
  %r = rrelu_with_noise_functional(%x, %n, 0.1, 0.4, true)
  %y = getitem(%r, 0)
  %k = getitem(%r, 1)
  %f = rrelu_with_noise(%x, %n)
  results %i, %whole, %above, %below, %half, %u, %z, %g, %y, %k, %f
})");
}

TEST_CASE("formulas: dtype views", "[codegen][cpu]") {
  check_text_formulas(R"(
graph "bytes" {
  %x = parameter f32[4, 6]
  %d = parameter f64[3, 2]
  %i = parameter i64[5]
  %h = parameter i16[2, 8]
  %b = parameter bool[3]
  %n = parameter f32[]
  %t = permute(%x, [1, 0])
  %part = slice.Tensor(%x, 1, 2, 6)
  %a = view.dtype(%t, i32)
  %c = view.dtype(%part, i64)
  %e = view.dtype(%part, u8)
  %f = view.dtype(%d, i16)
  %g = view.dtype(%d, f32)
  %j = view.dtype(%i, f64)
  %m = view.dtype(%h, i64)
  %k = view.dtype(%h, f32)
  %l = view.dtype(%e, f64)
  %o = view_copy.dtype(%b, i8)
  %p = view.dtype(%n, i32)
  %q = view.dtype(%p, f32)
  results %a, %c, %e, %f, %g, %j, %m, %k, %l, %o, %p, %q
})");
}

TEST_CASE("formulas: prelu and vector operators", "[codegen][cpu]") {
  check_text_formulas(R"(
graph "channels" {
  %x = parameter bf16[2, 3, 9]
  %w = parameter bf16[3]
  %v = parameter f32[3]
  %o = parameter f32[1]
  %u = parameter f32[4, 3]
  %r = parameter f32[1, 3]
  %a = prelu(%x, %w)
  %b = prelu(%v, %o)
  %c = linalg_cross(%r, %u)
  %d = cosine_similarity(%u, %v)
  %e = pairwise_distance(%u, %v, 3.0, keepdim=true)
  %t = trace(%u)
  results %a, %b, %c, %d, %e, %t
})");
}

}  // namespace
}  // namespace recut::test
