// When products are padded, and that padded ones give the same bits.
#include "engine/passes/pad_mm.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "engine/passes/runner.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

Graph product(const std::string& op, const std::string& a, const std::string& b,
              const std::string& device = "cuda") {
  const bool biased = op == "addmm";
  const auto graph = parse_graph_text(
      fmt::format("graph \"g\" on {} {{\n %c = input f32[{}]\n %a = input {}\n %b = input {}\n"
                  " %y = {}({}%a, %b)\n results %y\n}}",
                  device, biased ? b.substr(b.rfind(' ') + 1, b.size() - b.rfind(' ') - 2) : "1", a,
                  b, op, biased ? "%c, " : ""),
      "test");
  if (!graph) FAIL(format(graph.diagnostics()));
  return *graph;
}

// A device on which every product is bound by computing, alignment is all and copies cost nothing.
ProductRates slow() {
  ProductRates rates;
  rates.flops_per_second.fill(1);
  rates.bytes_per_second = 1e9;
  rates.unaligned_slowdown = 1e3;
  return rates;
}

PassReport padded(const Graph& graph, const ProductRates& rates) {
  const Pass passes[] = {pad_mm_pass(rates)};
  const PipelineReport report = run_passes(graph, passes);
  if (report.failure) FAIL(report.failure->message);
  CHECK_FALSE(run_passes(report.graph(), passes).changed());
  return report.passes.front();
}

TEST_CASE("pad_mm: the same bits, in every kind of product", "[passes]") {
  const Graph graphs[] = {
      product("mm", "f32[5, 3]", "f32[3, 6]"),        product("mm", "f32[8, 3]", "f32[3, 8]"),
      product("mm", "f32[5, 4]", "f32[4, 8]"),        product("mm", "f32[1, 7]", "f32[7, 1]"),
      product("addmm", "f32[5, 3]", "f32[3, 6]"),     product("addmm", "f32[6, 8]", "f32[8, 5]"),
      product("bmm", "f32[2, 5, 3]", "f32[2, 3, 6]"), product("mm", "bf16[5, 3]", "bf16[3, 12]"),
      product("bmm", "f32[1, 5, 4]", "f32[1, 4, 4]")};
  for (const Graph& graph : graphs) {
    const PassReport report = padded(graph, slow());
    CHECK(report.changed);
    CHECK(difference(graph, report.graph) == "");
    CHECK(report.graph.type(report.graph.results[0]) == graph.type(graph.results[0]));
  }
}

TEST_CASE("pad_mm: what stays as it is", "[passes]") {
  CHECK_FALSE(padded(product("mm", "f32[8, 4]", "f32[4, 12]"), slow()).changed);  // aligned
  CHECK_FALSE(padded(product("mm", "f64[5, 3]", "f64[3, 6]"), slow()).changed);   // no alignment
  CHECK_FALSE(padded(product("mm", "f32[5, 0]", "f32[0, 6]"), slow()).changed);   // empty
  CHECK_FALSE(padded(product("mm", "f32[1, 4]", "f32[4, 1]"), slow()).changed);   // 1 stays 1
  CHECK_FALSE(padded(product("mm", "f32[5, 3]", "f32[3, 6]", "cpu"), slow()).changed);
  CHECK_FALSE(padded(product("mm", "bf16[8, 16]", "bf16[16, 24]"), slow()).changed);
  CHECK(padded(product("mm", "bf16[4, 16]", "bf16[16, 24]"), slow()).changed);  // a multiple of 8
}

TEST_CASE("pad_mm: the estimate decides", "[passes]") {
  const ProductRates h100;
  const auto large = [](int size) {
    return product("mm", fmt::format("f32[{}, {}]", size, size),
                   fmt::format("f32[{}, {}]", size, size));
  };
  CHECK(padded(large(4095), h100).changed);        // copies are a small part of it
  CHECK_FALSE(padded(large(1023), h100).changed);  // copies take as long as is won
  CHECK_FALSE(padded(large(101), h100).changed);   // bound by memory
  ProductRates indifferent = h100;
  indifferent.unaligned_slowdown = 1.05;
  CHECK_FALSE(padded(large(4095), indifferent).changed);
}

}  // namespace
}  // namespace recut::test
