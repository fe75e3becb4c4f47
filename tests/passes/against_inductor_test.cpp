// Compares joint graphs after Recut's passes with the same graphs after Inductor's joint passes.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>

#include "engine/input/graph_file_reader.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/partition/joint_files.h"

namespace recut {
namespace {

// Whether it gives the gradient of a convolution's input alone. PyTorch has that and the weight's
// as one call, of which split_convolution_backward makes two: it counts with the other.
bool is_half(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  return node.op == Op::convolution_backward && !node.outputs[1].exists();
}

// Views take no time and no bytes; inputs, parameters and constants belong to the model.
std::map<std::string_view, int> work_of(const Graph& graph) {
  std::map<std::string_view, int> work;
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kView | kInput) && !is_half(graph, id)) ++work[graph.op(id).name];
  return work;
}

int count(const std::map<std::string_view, int>& work) {
  int all = 0;
  for (const auto& [op, number] : work) all += number;
  return all;
}

// Operators of which there are more than in the other graph, and fewer.
std::string difference(const std::map<std::string_view, int>& ours,
                       const std::map<std::string_view, int>& theirs) {
  std::map<std::string_view, int> change = ours;
  for (const auto& [op, number] : theirs) change[op] -= number;
  std::string text;
  for (const auto& [op, number] : change)
    if (number != 0) text += fmt::format(" {}:{:+}", op, number);
  return text;
}

void check_against_inductor(const std::string& path, const std::vector<std::string>& passes) {
  const auto joint = read_graph_file(path, "joint");
  const auto after = read_graph_file(path, "joint_after_passes");
  if (!joint || !after) return;
  const auto report = run_passes(joint->graph, passes);
  REQUIRE(report.ok());
  if (report->failure) FAIL(report->failure->pass + " " + report->failure->message);
  const auto ours = work_of(report->graph());
  const auto theirs = work_of(after->graph);
  INFO(fmt::format("{}: {} and {}:{}", path, count(ours), count(theirs), difference(ours, theirs)));
  CHECK(count(ours) <= count(theirs));
}

// Inductor (of PyTorch 2.11) reads through conversions to fewer bits and back, as if they did not
// round. Recut does that only in an inexact pass.
bool rounds_between(const std::string& path) { return path.find("_amp") != std::string::npos; }

TEST_CASE("no more nodes than Inductor's joint passes leave", "[passes]") {
  for (const std::string& path : joint_files())
    if (!rounds_between(path)) check_against_inductor(path, default_passes());
}

TEST_CASE("no more nodes than Inductor's where bits may change", "[passes]") {
  for (const std::string& path : joint_files()) check_against_inductor(path, inexact_passes());
}

}  // namespace
}  // namespace recut
