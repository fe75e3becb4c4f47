// Every derivative row by itself: against differences in f64, forward against reverse mode, and of
// the smooth ones the second derivatives.
#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "engine/autodiff/differentiate.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

std::vector<std::string> samples(const std::string& name) {
  std::ifstream file(RECUT_SOURCE_DIR "/tests/autodiff/samples/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  return lines;
}

void check_all(const std::string& name, std::size_t count, Depth depth) {
  const auto lines = samples(name);
  CHECK(lines.size() >= count);
  for (const std::string& line : lines) {
    INFO(line);
    const auto graph = sample_graph(line);
    if (!graph) {
      FAIL_CHECK(format(graph.diagnostics()));
      continue;
    }
    const std::string faults = derivative_faults(*graph, depth);
    if (!faults.empty()) FAIL_CHECK(faults);
  }
}

TEST_CASE("derivative rows: gradients, forward mode and second derivatives of smooth calls",
          "[autodiff]") {
  check_all("smooth.txt", 400, Depth::twice);
}

TEST_CASE("derivative rows: gradients and forward mode of calls that are differentiated once",
          "[autodiff]") {
  check_all("once.txt", 80, Depth::both_modes);
  check_all("reverse.txt", 5, Depth::reverse);
}

TEST_CASE("derivative rows: every operator with a rule stands in a sample", "[autodiff]") {
  std::set<std::string> seen;
  for (const char* name : {"smooth.txt", "once.txt", "reverse.txt"})
    for (const std::string& line : samples(name))
      if (const auto graph = sample_graph(line))
        for (const std::string& op : operators_in(*graph)) seen.insert(op);
  std::string missing;
  for (const Operator& op : all_operators())
    if (differentiability(op.op) == Differentiability::rule &&
        seen.count(std::string(op.name)) == 0)
      missing += std::string(op.name) + " ";
  // sparse tensors have no kernels; a derivative by the first operand of zeta is refused
  CHECK(missing == "_to_sparse _to_sparse.sparse_dim special_zeta.other_scalar ");
}

}  // namespace
}  // namespace recut::test
