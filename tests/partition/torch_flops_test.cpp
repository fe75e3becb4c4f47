// Counts of floating-point operations against formulas worked out by hand.
#include "engine/partition/torch/flops.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/cost/cost.h"
#include "tests/partition/graphs.h"

namespace recut {
namespace {

TEST_CASE("torch: flops of products and convolutions", "[partition]") {
  const Graph graph = parse(R"(graph "flops" {
    %a = input f32[3, 4]
    %b = input f32[4, 5]
    %bias = input f32[5]
    %x = input f32[2, 3, 8, 8]
    %w = input f32[6, 3, 3, 3]
    %mm = mm(%a, %b)
    %addmm = addmm(%bias, %a, %b)
    %exp = exp(%a)
    %conv = convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
    %back = convolution_backward(%conv, %x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1, [true, true, false])
    %half = convolution_backward(%conv, %x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1, [false, true, false])
    results %mm
  })");
  const auto flops = [&](const char* name) {
    return torch::counted_flops(graph, graph.find(name));
  };
  CHECK(flops("mm") == 2 * 3 * 4 * 5);
  CHECK(flops("addmm") == 2 * 3 * 4 * 5);
  CHECK(flops("exp") == 1);
  // 8 x 8 places, two images, each 6 x 3 x 3 x 3 multiplications and additions.
  constexpr double kConvolution = 2.0 * 64 * 2 * 6 * 3 * 9;
  CHECK(flops("conv") == kConvolution);
  CHECK(flops("back") == 2 * kConvolution);
  CHECK(flops("half") == kConvolution);
}

TEST_CASE("torch: flops of attention", "[partition]") {
  const Graph graph = parse(R"(graph "attention" {
    %q = input f32[2, 3, 5, 8]
    %k = input f32[2, 3, 7, 8]
    %v = input f32[2, 3, 7, 8]
    %s = _scaled_dot_product_efficient_attention(%q, %k, %v, none, true)
    results %q
  })");
  CHECK(torch::counted_flops(graph, graph.find("s")) == 2.0 * 2 * 3 * 5 * 7 * (8 + 8));
  CHECK(node_flops(graph, graph.find("s")) == 4 * 2 * 3 * 5 * 7 * 8);
}

// Whatever dimension the groups divide, each of its indices takes part in one product.
TEST_CASE("cost: flops of products of groups", "[partition]") {
  const Graph graph = parse(R"(graph "groups" {
    %rows = input bf16[64, 8]
    %matrices = input bf16[4, 8, 16]
    %columns = input bf16[16, 32]
    %more = input bf16[64, 16]
    %turned = input bf16[8, 64]
    %offs = input i32[4]
    %a = _grouped_mm(%rows, %matrices, %offs)
    %b = _grouped_mm(%matrices, %columns, %offs)
    %c = _grouped_mm(%turned, %more, %offs)
    results %a, %b, %c
  })");
  CHECK(node_flops(graph, graph.find("a")) == 2 * 64 * 8 * 16);
  CHECK(node_flops(graph, graph.find("b")) == 2 * 8 * 16 * 32);
  CHECK(node_flops(graph, graph.find("c")) == 2 * 8 * 64 * 16);
}

TEST_CASE("cost: an operand that stands twice counts once", "[partition]") {
  const Graph graph = parse(
      "graph \"g\" {\n%x = input f32[8, 8]\n%y = mul.Tensor(%x, %x)\n%v = permute(%y, [1, 0])\n"
      "results %v\n}");
  CHECK(node_traffic(graph, graph.find("y")) == 2 * 256);
  CHECK(node_traffic(graph, graph.find("v")) == 0);
  CHECK(node_flops(graph, graph.find("y")) == 0);
}

}  // namespace
}  // namespace recut
