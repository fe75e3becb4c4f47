// Special functions by loops: to the bit, on both sides of where one method takes over from
// another.
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

TEST_CASE("Bessel functions by loops have eval's bits", "[codegen]") {
  for (const char* name : {"special_bessel_j0", "special_bessel_j1", "special_bessel_y0",
                           "special_bessel_y1", "special_airy_ai", "i0", "special_i1",
                           "special_i0e", "special_i1e", "special_modified_bessel_k0",
                           "special_modified_bessel_k1", "special_scaled_modified_bessel_k0",
                           "special_scaled_modified_bessel_k1", "special_spherical_bessel_j0"})
    for (const double scale : {0.6, 8.0, 40.0}) check_function(std::string(name) + "(%x)", scale);
}

}  // namespace
}  // namespace recut::test
