// Every derivative rule alone: against differences in f64, forward against reverse mode, and second
// derivatives of smooth operators.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "engine/autodiff/differentiate.h"
#include "engine/ir/printer.h"
#include "engine/support/hash.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/effort.h"
#include "tests/golden/golden.h"
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
  for (const std::string& line : test::tried(lines)) {
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

TEST_CASE("derivative rules: gradients, forward mode and second derivatives of smooth calls",
          "[autodiff]") {
  check_all("smooth.txt", 400, Depth::twice);
}

TEST_CASE("derivative rules: gradients and forward mode of calls that are differentiated once",
          "[autodiff]") {
  check_all("once.txt", 80, Depth::both_modes);
}

// Of the joint graph's text and of forward mode's: every compiler has to make the same.
std::uint64_t print_of(const Graph& graph) {
  const auto joint = differentiate(graph);
  const auto tangents = jvp(graph);
  std::uint64_t print = 0;
  if (joint) print = hash_text(print, recut::print(*joint));
  if (tangents) print = hash_text(print, recut::print(tangents->graph));
  return print;
}

TEST_CASE("derivative rules: joint graphs are the same whatever compiler", "[autodiff]") {
  const std::string path = RECUT_SOURCE_DIR "/tests/autodiff/samples/prints.txt";
  std::string found;
  for (const char* name : {"smooth.txt", "once.txt"})
    for (const std::string& line : samples(name))
      if (const auto graph = sample_graph(line))
        found += fmt::format("{:016x} {}\n", print_of(*graph), line);
  if (blessing()) std::ofstream(path, std::ios::binary) << found;
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  std::istringstream ours(found), theirs(expected);
  for (std::string a, b; std::getline(ours, a) && std::getline(theirs, b);) CHECK(a == b);
  CHECK(found.size() == expected.size());
}

TEST_CASE("derivative rules: every operator with a rule stands in a sample", "[autodiff]") {
  std::set<std::string> seen;
  for (const char* name : {"smooth.txt", "once.txt"})
    for (const std::string& line : samples(name))
      if (const auto graph = sample_graph(line))
        for (const std::string& op : operators_in(*graph)) seen.insert(op);
  std::vector<std::string> missing;
  for (const Operator& op : all_operators())
    if (differentiability(op.op) == Differentiability::rule &&
        seen.count(std::string(op.name)) == 0)
      missing.push_back(std::string(op.name));
  // Groups of several ranks have no values here (tests/ir/collectives_test.cpp).
  std::erase_if(missing, [&](const std::string& name) {
    return name == "_c10d_functional.wait_tensor" || find_operator_by_name(name)->is(kCollective);
  });
  // Sparse tensors have no kernels; a derivative by the first operand of zeta is refused.
  CHECK(missing == std::vector<std::string>{"_to_sparse", "_to_sparse.sparse_dim",
                                            "special_zeta.other_scalar"});
}

TEST_CASE("derivative rules: no operator is without one", "[autodiff]") {
  std::string without;
  for (const Operator& op : all_operators())
    if (!op.is(kInput) && differentiability(op.op) == Differentiability::none)
      without += std::string(op.name) + " ";
  CHECK(without.empty());
}

}  // namespace
}  // namespace recut::test
