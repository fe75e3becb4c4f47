// Lowered kernels against the interpreter of graphs: PyTorch's operator samples, and random graphs
// by the kernels that fuse_pointwise makes of them.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file.h"
#include "engine/partition/fusion/fuse_pointwise.h"
#include "tests/codegen/run_kernels.h"
#include "tests/paths.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// "" where every output is about the expected one (compare.h's bounds).
std::string distance(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].exists()) continue;
    if (!found[i].exists()) return fmt::format("output {} was not computed", i);
    const Comparison c = compare(found[i], expected[i]);
    if (!c.ok) return fmt::format("output {}: {}", i, c.problem);
  }
  return "";
}

// Whether the graph has only operators whose elements are formulas: nothing is summed, so that the
// exact lowering has eval's bits.
bool sums_nothing(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput | kView | kPointwise | kCreation | kCopy)) return false;
  return true;
}

// What is wrong with running this graph by kernels; "refused" where an operator doesn't lower.
std::string trouble(const Graph& graph, const Inputs& inputs, KernelRunOptions options) {
  const auto expected = evaluate(graph, inputs);
  if (!expected) return "refused";
  for (const auto precision : {loop::Precision::f32, loop::Precision::f64}) {
    options.lower.precision = precision;
    options.parallel_backwards = precision == loop::Precision::f64;
    const KernelRun run = run_kernels(graph, inputs, options);
    if (run.refused) return "refused";
    if (!run.problem.empty()) return run.problem;
    const bool exact = precision == loop::Precision::f64 && sums_nothing(graph);
    const std::string apart = exact ? outputs_difference(expected->outputs, run.outputs)
                                    : distance(run.outputs, expected->outputs);
    if (apart.empty()) continue;
    std::string texts;
    for (const std::string& text : run.texts) texts += text;
    return fmt::format("{}{}\n{}", apart, exact ? " (exactly)" : "", texts);
  }
  return "";
}

// The same with NaN, infinities, zeros of both signs and extremes, to the bit, where nothing is
// summed and the interpreter takes such data.
std::string edge_trouble(const Graph& graph) {
  if (!sums_nothing(graph)) return "";
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Inputs inputs = inputs_for(graph, seed, Values::edge);
    const auto expected = evaluate(graph, inputs);
    if (!expected) continue;
    KernelRunOptions options;
    options.lower.precision = loop::Precision::f64;
    const KernelRun run = run_kernels(graph, inputs, options);
    if (run.refused) return "";
    const std::string apart =
        run.problem.empty() ? outputs_difference(expected->outputs, run.outputs) : run.problem;
    if (apart.empty()) continue;
    std::string texts;
    for (const std::string& text : run.texts) texts += text;
    return fmt::format("edge values, seed {}: {}\n{}", seed, apart, texts);
  }
  return "";
}

struct Sample {
  Graph graph;
  Inputs inputs;
};

std::optional<Sample> read_sample(const std::string& stem, const std::string& ending = ".json") {
  const auto file = read_graph_file(stem + ending);
  const auto bytes = read_file(stem + ".safetensors");
  if (!file || !bytes) return std::nullopt;
  const auto tensors = parse_safetensors(*bytes, stem);
  if (!tensors) return std::nullopt;
  const auto inputs = inputs_from(file->graph, *tensors);
  if (!inputs) return std::nullopt;
  return Sample{file->graph, *inputs};
}

bool all_lower(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput | kView) && !loop::has_lowering(graph[id].op)) return false;
  return true;
}

TEST_CASE("operator samples by loop kernels", "[codegen][opinfo]") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/opinfo";
  if (!std::filesystem::exists(folder)) SKIP("no operator samples beside the checkout");
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json")
      stems.push_back((entry.path().parent_path() / entry.path().stem()).string());
  std::sort(stems.begin(), stems.end());
  int agree = 0, exact = 0, refused = 0, others = 0;
  for (const std::string& stem : stems) {
    const auto sample = read_sample(stem);
    if (!sample || !all_lower(sample->graph)) {
      ++others;
      continue;
    }
    std::string wrong = trouble(sample->graph, sample->inputs, {});
    if (wrong.empty()) wrong = edge_trouble(sample->graph);
    agree += wrong.empty() ? 1 : 0;
    exact += wrong.empty() && sums_nothing(sample->graph) ? 1 : 0;
    refused += wrong == "refused" ? 1 : 0;
    if (!wrong.empty() && wrong != "refused")
      FAIL_CHECK(std::filesystem::path(stem).stem().string() << ": " << wrong.substr(0, 3000));
  }
  std::cout << fmt::format(
      "operator samples: {} agree by loop kernels, {} of them to the bit, with edge values too; {} "
      "refused, {} with operators that don't lower\n",
      agree, exact, refused, others);
  CHECK(agree > 600);
  CHECK(exact > 300);
}

TEST_CASE("whole steps by fused kernels", "[codegen]") {
  for (const std::string name : {"tiny_mlp", "tiny_conv"}) {
    INFO(name);
    const auto sample = read_sample(RECUT_SOURCE_DIR "/samples/joint/" + name, ".json.gz");
    REQUIRE(sample.has_value());
    const StorageModel storages(sample->graph, StorageModel::Sizes::values);
    KernelRunOptions options;
    options.groups = fuse_pointwise(sample->graph, storages);
    CHECK(trouble(sample->graph, sample->inputs, options).substr(0, 3000) == "");
  }
}

TEST_CASE("random graphs by fused kernels", "[codegen]") {
  int agree = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Graph graph = random_graph(seed);
    if (!all_lower(graph)) continue;
    const StorageModel storages(graph, StorageModel::Sizes::values);
    KernelRunOptions options;
    options.groups = fuse_pointwise(graph, storages);
    const Inputs inputs = inputs_for(graph, seed, Values::ordinary);
    const std::string wrong = trouble(graph, inputs, options);
    agree += wrong.empty() ? 1 : 0;
    if (!wrong.empty() && wrong != "refused")
      FAIL_CHECK("seed " << seed << ": " << wrong.substr(0, 3000));
  }
  CHECK(agree > 30);
}

TEST_CASE("which operators lower", "[codegen]") {
  int lowered = 0, calls = 0, pointwise = 0, pointwise_lowered = 0;
  std::string missing;
  for (const Operator& op : all_operators()) {
    if (op.is(kInput | kView)) continue;
    ++calls;
    const bool has = loop::has_lowering(op.op);
    lowered += has ? 1 : 0;
    if (!op.is(kPointwise)) continue;
    ++pointwise;
    pointwise_lowered += has ? 1 : 0;
    if (!has) missing += fmt::format(" {}", op.name);
  }
  std::cout << fmt::format("loop form: {} of {} operators lower; of {} pointwise ones {}, not:{}\n",
                           lowered, calls, pointwise, pointwise_lowered, missing);
  CHECK(pointwise_lowered >= 190);
}

}  // namespace
}  // namespace recut::test
