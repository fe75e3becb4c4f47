// Products in their canonical form: the same bits, and which calls keep their form.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

#include "engine/input/text.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

struct Products {
  std::size_t calls = 0;   // linear and matmul
  std::size_t copies = 0;  // of operands
};

Products products_after(const std::string& text) {
  const auto graph = parse_graph_text("graph \"g\" {\n" + text + "}", "test");
  if (!graph) FAIL(format(graph.diagnostics()));
  const Pass passes[] = {*find_pass("canonicalize")};
  const PipelineReport report = run_passes(*graph, passes);
  if (report.failure) FAIL(report.failure->message);
  const Graph& after = report.graph();
  CHECK(difference(*graph, after) == "");
  for (std::size_t i = 0; i < graph->results.size(); ++i)
    CHECK(after.type(after.results[i]) == graph->type(graph->results[i]));
  Products products;
  for (const NodeId id : after.order()) {
    products.calls += after[id].op == Op::linear || after[id].op == Op::matmul ? 1 : 0;
    products.copies += after[id].op == Op::reshape || after[id].op == Op::clone ? 1 : 0;
  }
  return products;
}

TEST_CASE("canonical products: linear layers of any rank, with the same bits", "[passes]") {
  for (const std::string dtype : {"f32", "f64", "f16", "bf16"})
    for (const std::string shape : {"[4]", "[3, 4]", "[2, 3, 4]", "[2, 1, 3, 4]"})
      for (const std::string bias : {"", ", %b"}) {
        INFO(dtype << shape << bias);
        const Products products =
            products_after(" %x = input " + dtype + shape + "\n %w = parameter " + dtype +
                           "[5, 4]\n" + " %b = parameter " + dtype + "[5]\n %y = linear(%x, %w" +
                           bias + ")\n results %y, %b\n");
        CHECK(products.calls == 0);
        CHECK(products.copies == 0);
      }
}

// A permuted operand has no view with its batches in one dimension.
TEST_CASE("canonical products: matmuls of batches, and copies where no view will do", "[passes]") {
  const Products dense = products_after(
      " %p = input f32[2, 3, 4, 5]\n %q = input f32[2, 3, 5, 6]\n %y = matmul(%p, %q)\n"
      " results %y\n");
  CHECK(dense.calls == 0);
  CHECK(dense.copies == 0);
  const Products permuted = products_after(
      " %p = input f32[2, 4, 3, 5]\n %q = input f32[2, 3, 5, 6]\n"
      " %h = permute(%p, [0, 2, 1, 3])\n %y = matmul(%h, %q)\n results %y\n");
  CHECK(permuted.calls == 0);
  CHECK(permuted.copies == 1);
}

TEST_CASE("canonical products: batches that broadcast", "[passes]") {
  const std::pair<std::string, std::string> operands[] = {
      {"[2, 3, 4]", "[1, 4, 5]"}, {"[3, 4]", "[2, 4, 5]"}, {"[2, 1, 3, 4]", "[6, 4, 5]"}};
  for (const auto& [p, q] : operands) {
    INFO(p << " " << q);
    const Products products = products_after(" %p = input f32" + p + "\n %q = input f32" + q +
                                             "\n %y = matmul(%p, %q)\n results %y\n");
    CHECK(products.calls == 0);
    CHECK(products.copies >= 1);
  }
}

TEST_CASE("canonical products: vectors and no elements stay", "[passes]") {
  const std::pair<std::string, std::string> operands[] = {
      {"[4]", "[4]"}, {"[3, 4]", "[4]"}, {"[0, 4]", "[4, 5]"}, {"[2, 3, 0]", "[0, 5]"}};
  for (const auto& [p, q] : operands) {
    INFO(p << " " << q);
    CHECK(products_after(" %p = input f32" + p + "\n %q = input f32" + q +
                         "\n %y = matmul(%p, %q)\n results %y\n")
              .calls == 1);
  }
  CHECK(products_after(" %x = input c64[3, 4]\n %w = parameter c64[5, 4]\n %y = linear(%x, %w)\n"
                       " results %y\n")
            .calls == 1);
}

}  // namespace
}  // namespace recut::test
