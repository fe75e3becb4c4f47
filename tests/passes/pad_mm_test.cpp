// The conditions under which products are padded, and that padding is bit-exact.
#include "engine/passes/pad_mm.h"
#include "engine/cost/device.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "engine/ir/rebuild.h"
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
Device slow() {
  Device device;
  device.rates.flops_per_second.fill(1);
  device.rates.bytes_per_second = 1e9;
  device.unaligned_slowdown.fill(1e3);
  return device;
}

PassReport padded(const Graph& graph, const Device& device) {
  const Pass passes[] = {pad_mm_pass(device)};
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
  const Device h100;
  const auto large = [](int size) {
    return product("mm", fmt::format("f32[{}, {}]", size, size),
                   fmt::format("f32[{}, {}]", size, size));
  };
  CHECK(padded(large(4095), h100).changed);        // copies are a small part of it
  CHECK_FALSE(padded(large(1023), h100).changed);  // copies take as long as is won
  CHECK_FALSE(padded(large(101), h100).changed);   // bound by memory
  Device indifferent = h100;
  indifferent.slowdown_of(DType::f32) = 1.05;
  CHECK_FALSE(padded(large(4095), indifferent).changed);
  indifferent.slowdown_of(DType::bf16) = 9;  // of another dtype
  CHECK_FALSE(padded(large(4095), indifferent).changed);
  const Graph of_cpu = product("mm", "f32[4095, 4095]", "f32[4095, 4095]", "cpu");
  Device gpu = h100;
  CHECK_FALSE(padded(of_cpu, gpu).changed);
  gpu.runs_step = true;
  CHECK(padded(of_cpu, gpu).changed);
}

Graph parsed_products(const std::string& text) {
  const auto graph = parse_graph_text("graph \"g\" on cuda {\n" + text + "}", "test");
  if (!graph) FAIL(format(graph.diagnostics()));
  return *graph;
}

std::size_t count(const Graph& graph, Op op) {
  const Graph live = without_dead_nodes(graph);
  return static_cast<std::size_t>(std::count_if(live.order().begin(), live.order().end(),
                                                [&](NodeId id) { return live[id].op == op; }));
}

// A product with a vocabulary and its gradients, as training has them: the gradient is written
// behind one row fewer of each of two sequences. What follows reads it, too.
Graph vocabulary(const std::string& more, const std::string& results) {
  return parsed_products(
      " %x = input f32[8, 5]\n %w = input f32[7, 5]\n %g = input f32[6, 7]\n"
      " %wt = permute(%w, [1, 0])\n %y = mm(%x, %wt)\n"
      " %gv = view(%g, [2, 3, 7])\n %c = constant_pad_nd(%gv, [0, 0, 0, 1], 0.0)\n"
      " %v = view(%c, [8, 7])\n %vt = permute(%v, [1, 0])\n"
      " %dw = mm(%vt, %x)\n %dx = mm(%v, %w)\n" +
      more + " results %y, %dw, %dx" + results + "\n");
}

TEST_CASE("pad_mm: what several products read is padded once, beneath its views", "[passes]") {
  const Graph graph = vocabulary("", "");
  const PassReport report = padded(graph, slow());
  CHECK(difference(graph, report.graph) == "");
  // x, w and the gradient, which was padded before.
  CHECK(count(report.graph, Op::constant_pad_nd) == 3);
  // All three results lose columns.
  CHECK(count(report.graph, Op::clone) == 3);
}

TEST_CASE("pad_mm: others read a part of a wider padding", "[passes]") {
  const Graph graph = vocabulary(" %s = sum.dim_IntList(%v, [0])\n", ", %s");
  const PassReport report = padded(graph, slow());
  CHECK(difference(graph, report.graph) == "");
  CHECK(count(report.graph, Op::constant_pad_nd) == 3);
}

TEST_CASE("pad_mm: what shows its strides is no part of a wider padding", "[passes]") {
  // It goes out itself; a view takes its columns apart; another number than zero is behind it.
  for (const Graph& graph : {vocabulary("", ", %c"), vocabulary(" %f = view(%v, [56])\n", ", %f"),
                             vocabulary(" %f = view(%v, [56])\n %e = exp(%f)\n", ", %e")}) {
    const PassReport report = padded(graph, slow());
    CHECK(difference(graph, report.graph) == "");
    CHECK(count(report.graph, Op::constant_pad_nd) == 4);
    for (std::size_t i = 0; i < graph.results.size(); ++i)
      CHECK(report.graph.type(report.graph.results[i]) == graph.type(graph.results[i]));
  }
  const Graph ones = parsed_products(
      " %g = input f32[6, 7]\n %w = input f32[7, 8]\n"
      " %c = constant_pad_nd(%g, [0, 0, 0, 2], 1.0)\n %y = mm(%c, %w)\n results %y\n");
  const PassReport report = padded(ones, slow());
  CHECK(difference(ones, report.graph) == "");
  CHECK(count(report.graph, Op::constant_pad_nd) == 3);
}

TEST_CASE("pad_mm: views that mix what is padded with the rest stay above", "[passes]") {
  for (const std::string view :
       {"view(%a, [9, 7])", "permute(%t, [1, 0])", "slice.Tensor(%t, 0, 0, 9)"}) {
    const Graph graph =
        parsed_products(" %a = input f32[3, 21]\n %t = input f32[63, 8]\n %b = input f32[" +
                        std::string(view.starts_with("view") ? "7" : "8") +
                        ", 6]\n %u = permute(%t, [1, 0])\n %v = " +
                        (view.starts_with("permute") ? "permute(%u, [1, 0])" : view) +
                        "\n %y = mm(%v, %b)\n results %y\n");
    const PassReport report = padded(graph, slow());
    CHECK(report.changed);
    CHECK(difference(graph, report.graph) == "");
  }
}

}  // namespace
}  // namespace recut::test
