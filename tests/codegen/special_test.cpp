// Special functions as loops: bit-exact, on both sides of each change of method.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "tests/codegen/agreement.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// Of f64 in (-2, 2) times `scale`.
void check_function(const std::string& call, double scale) {
  INFO(call << " of numbers up to " << 2 * scale);
  const std::string text = fmt::format(
      "graph \"special\" {{\n%a = parameter f64[150]\n%x = mul.Scalar(%a, {:f})\n%y = {}\n"
      "results %y\n}}\n",
      scale, call);
  const auto graph = parse_graph_text(text, "special");
  if (!graph) FAIL(format(graph.diagnostics()));
  const std::string wrong = disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), {});
  CHECK(wrong.substr(0, 300) == "");
}

TEST_CASE("lowering: Bessel functions are bit-exact", "[codegen]") {
  for (const char* name : {"special_bessel_j0", "special_bessel_j1", "special_bessel_y0",
                           "special_bessel_y1", "special_airy_ai", "i0", "special_i1",
                           "special_i0e", "special_i1e", "special_modified_bessel_k0",
                           "special_modified_bessel_k1", "special_scaled_modified_bessel_k0",
                           "special_scaled_modified_bessel_k1", "special_spherical_bessel_j0"})
    for (const double scale : {0.6, 8.0, 40.0}) check_function(std::string(name) + "(%x)", scale);
}

TEST_CASE("lowering: orthogonal polynomials are bit-exact", "[codegen]") {
  for (const char* name :
       {"chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
        "chebyshev_polynomial_w", "shifted_chebyshev_polynomial_t",
        "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
        "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he",
        "laguerre_polynomial_l", "legendre_polynomial_p"})
    for (const char* degree : {"-1", "-0.5", "0", "1", "5", "12", "130", "1000"})
      check_function(fmt::format("special_{}.n_scalar(%x, {})", name, degree), 0.6);
}

TEST_CASE("lowering: polynomial degrees that are data", "[codegen][cpu]") {
  for (const char* name :
       {"chebyshev_polynomial_u", "hermite_polynomial_h", "laguerre_polynomial_l"})
    for (const char* dtype : {"f64", "f32", "bf16"}) {
      const std::string text = fmt::format(
          "graph \"degrees\" {{\n%a = parameter {}[40]\n%b = parameter {}[3, 40]\n"
          "%n = mul.Scalar(%b, 90.0)\n%y = special_{}(%a, %n)\n%z = add.Tensor(%y, %a)\n"
          "results %z\n}}\n",
          dtype, dtype, name);
      INFO(text);
      const auto graph = parse_graph_text(text, "degrees");
      if (!graph) FAIL(format(graph.diagnostics()));
      CHECK(
          disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), {}, true).substr(0, 300) ==
          "");
      CHECK(edge_disagreement(*graph).substr(0, 300) == "");
    }
}

TEST_CASE("lowering: incomplete gamma functions are bit-exact", "[codegen][cpu]") {
  for (const char* name : {"igamma", "igammac"})
    for (const double scale : {0.5, 20.0, 3000.0, 9000.0}) {
      const std::string text = fmt::format(
          "graph \"gamma\" {{\n%a = parameter f64[8]\n%b = parameter f64[8, 1]\n"
          "%p = abs(%a)\n%q = abs(%b)\n%u = mul.Scalar(%p, {:f})\n%v = mul.Scalar(%q, {:f})\n"
          "%y = {}(%u, %v)\nresults %y\n}}\n",
          scale, scale, name);
      INFO(text);
      const auto graph = parse_graph_text(text, "gamma");
      if (!graph) FAIL(format(graph.diagnostics()));
      CHECK(
          disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), {}, true).substr(0, 300) ==
          "");
      CHECK(edge_disagreement(*graph).substr(0, 300) == "");
    }
}

}  // namespace
}  // namespace recut::test
