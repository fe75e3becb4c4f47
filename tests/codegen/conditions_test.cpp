// Bounds checks of positions, and stores of products: no more of them than necessary.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <tuple>

#include "engine/codegen/loop/printer.h"
#include "engine/codegen/lower/lower.h"
#include "engine/input/text.h"
#include "tests/codegen/run_kernels.h"

namespace recut::test {
namespace {

// The loops of a graph's calls, each in a kernel of its own.
std::string loops_of(const std::string& body) {
  const auto graph = parse_graph_text("graph \"g\" {\n" + body + "}\n", "g.recut");
  if (!graph) FAIL(format(graph.diagnostics()));
  const StorageModel storages(*graph);
  const FusionGroups alone;
  std::string text;
  for (const auto& calls : kernels_of(*graph, alone)) {
    const auto lowered = loop::lower(*graph, storages, alone, calls);
    if (!lowered) FAIL(format(lowered.diagnostics()));
    text += loop::print(lowered->kernel);
  }
  return text;
}

std::size_t count(const std::string& text, const std::string& words) {
  std::size_t found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++found;
  return found;
}

// Rows that are padded at the end: a single comparison with their start.
TEST_CASE("bounds checks: padding needs no division", "[codegen]") {
  const std::string rows = loops_of(
      "  %x = input f32[3, 20, 50]\n  %y = constant_pad_nd(%x, [0, 0, 0, 4])\n  results %y\n");
  INFO(rows);
  CHECK(count(rows, " = lt ") == 1);
  CHECK(count(rows, " = ge ") == 0);
  CHECK(count(rows, "div(") == 0);
  const std::string around = loops_of(
      "  %x = input f32[3, 20, 50]\n  %y = constant_pad_nd(%x, [0, 0, 2, 4])\n  results %y\n");
  INFO(around);
  CHECK(count(around, " = lt ") == 1);
  CHECK(count(around, " = ge ") == 1);
  CHECK(count(around, "div(") == 0);
  // A condition that all eight lanes share is tested once.
  CHECK(count(loops_of("  %x = input f32[3, 20, 64]\n  %y = constant_pad_nd(%x, [0, 0, 0, 4])\n"
                       "  results %y\n"),
              "index div(") == 1);
}

// Every position of the plane has a window there.
TEST_CASE("bounds checks: none for 1x1 windows", "[codegen]") {
  const std::string text = loops_of(
      "  %g = input f32[2, 2, 30, 30]\n  %x = input f32[2, 16, 30, 30]\n"
      "  %w = input f32[2, 16, 1, 1]\n"
      "  %b = convolution_backward(%g, %x, %w, [2], [1, 1], [0, 0], [1, 1], false, [0, 0], 1, "
      "[true, false, false])\n  %y = getitem(%b, 0)\n  results %y\n");
  INFO(text);
  CHECK(count(text, "where") == 0);
  CHECK(count(text, "select") == 0);
}

// Scratch for sums exists only where partial sums are added, or tiles exceed the product.
TEST_CASE("tiled matmul: sums are stored from registers", "[codegen]") {
  const auto product = [](int rows, int depth, int columns) {
    const auto matrix = [](int a, int b) {
      return "input f32[" + std::to_string(a) + ", " + std::to_string(b) + "]\n";
    };
    return loops_of("  %a = " + matrix(rows, depth) + "  %b = " + matrix(depth, columns) +
                    "  %y = mm(%a, %b)\n  results %y\n");
  };
  for (const auto& [rows, depth, columns, tiles, sums] :
       {std::tuple(128, 64, 128, true, false), std::tuple(128, 1024, 128, true, true),
        std::tuple(128, 10, 512, true, false), std::tuple(128, 512, 10, true, true),
        std::tuple(126, 64, 128, true, true), std::tuple(16, 10, 512, false, false),
        std::tuple(128, 512, 4, false, false)}) {
    CAPTURE(rows, depth, columns);
    const std::string text = product(rows, depth, columns);
    CHECK((count(text, "buffer %right") == 1) == tiles);
    CHECK((count(text, "buffer %sums") == 1) == sums);
  }
}

}  // namespace
}  // namespace recut::test
