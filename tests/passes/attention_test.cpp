// Written-out attention of real models becomes one operator a layer forward and one backward.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>

#include "engine/eval/compare.h"
#include "engine/input/graph_file_reader.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/partition/joint_files.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

Graph with_attention(const Graph& graph) {
  const auto report = run_passes(graph, inexact_passes());
  REQUIRE(report.ok());
  if (report->failure) FAIL(report->failure->pass + " " + report->failure->message);
  return report->graph();
}

int count(const Graph& graph, std::string_view op) {
  const auto order = graph.order();
  return static_cast<int>(std::count_if(order.begin(), order.end(),
                                        [&](NodeId id) { return graph.op(id).name == op; }));
}

struct Expected {
  int plain = 0;     // layers without dropout
  int kept = 0;      // and with
  int products = 0;  // other products of batches: rotary embeddings
};

const std::map<std::string, Expected> kModels = {
    {"gpt2", {12, 0, 0}},    {"cpu_gpt2", {12, 0, 0}},  {"gpt2_amp", {12, 0, 0}},
    {"gpt2_xl", {48, 0, 0}}, {"bert_base", {0, 12, 0}}, {"cpu_bert", {4, 0, 0}},
    {"llama_8l", {8, 0, 0}}, {"tiny_lm", {2, 0, 0}}};

TEST_CASE("attention of real models is one operator a layer", "[passes]") {
  for (const std::string& path : joint_files()) {
    const std::string name = std::filesystem::path(path).stem().stem().string();
    const auto model = kModels.find(name);
    if (model == kModels.end()) continue;
    INFO(path);
    const auto file = read_graph_file(path, "joint");
    REQUIRE(file.ok());
    const Graph graph = with_attention(file->graph);
    const Expected& expected = model->second;
    CHECK(count(graph, "_scaled_dot_product_efficient_attention") == expected.plain);
    CHECK(count(graph, "_scaled_dot_product_efficient_attention_backward") == expected.plain);
    CHECK(count(graph, "recut.scaled_dot_product_kept_attention") == expected.kept);
    CHECK(count(graph, "recut.scaled_dot_product_kept_attention_backward") == expected.kept);
    CHECK(count(graph, "bmm") == expected.products);
  }
}

// Small enough to be interpreted: values stay, as near as the file's own are held to.
TEST_CASE("attention as one operator computes the same", "[passes]") {
  for (const std::string& path : joint_files()) {
    if (path.find("tiny_lm") == std::string::npos) continue;
    const auto file = read_graph_file(path, "joint");
    const Graph graph = with_attention(file->graph);
    const Inputs inputs = test::inputs_for(file->graph, 1, test::Values::ordinary);
    const auto before = evaluate(file->graph, inputs);
    const auto after = evaluate(graph, inputs);
    if (!before) FAIL(format(before.diagnostics()));
    if (!after) FAIL(format(after.diagnostics()));
    for (std::size_t i = 0; i < before->outputs.size(); ++i) {
      if (!before->outputs[i].exists()) continue;
      const Comparison comparison = compare(after->outputs[i], before->outputs[i]);
      INFO(fmt::format("output {}: {}", i, comparison.problem));
      CHECK(comparison.ok);
    }
  }
}

}  // namespace
}  // namespace recut
