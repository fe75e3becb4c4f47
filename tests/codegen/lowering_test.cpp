// Lowered kernels against the interpreter of graphs: PyTorch's operator samples, and random graphs
// by the kernels that fuse_pointwise makes of them.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/inputs.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/wasm_code.h"
#include "tests/effort.h"
#include "tests/paths.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

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

// The first operator that has no lowering; "" where all have one.
std::string missing_lowering(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput | kView) && graph[id].op != Op::getitem &&
        !loop::has_lowering(graph[id].op))
      return std::string(graph.op(id).name);
  return "";
}

void add_stems(const std::string& folder, std::vector<std::string>& stems) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json")
      stems.push_back((entry.path().parent_path() / entry.path().stem()).string());
}

// PyTorch's operator samples: those in the repository, and the large set if it is next to the
// checkout.
struct Samples {
  Samples() {
    const std::string large = RECUT_SOURCE_DIR "/../shared/opinfo";
    has_large = !kSanitized && std::filesystem::exists(large);
    add_stems(RECUT_SOURCE_DIR "/tests/conformance/samples", stems);
    if (has_large) add_stems(large, stems);
    std::sort(stems.begin(), stems.end());
  }

  std::vector<std::string> stems;
  bool has_large = false;
};

TEST_CASE("operator samples by lowered kernels", "[codegen][opinfo]") {
  const Samples samples;
  const std::vector<std::string> stems = tried(samples.stems);
  int agree = 0, exact = 0, refused = 0, others = 0;
  std::map<std::string, int> missing;  // samples that an operator keeps from lowering
  for (const std::string& stem : stems) {
    const auto sample = read_sample(stem);
    if (!sample) continue;
    if (const std::string op = missing_lowering(sample->graph); !op.empty()) {
      ++others;
      ++missing[op];
      continue;
    }
    std::string wrong = disagreement(sample->graph, sample->inputs, {});
    if (wrong.empty()) wrong = edge_disagreement(sample->graph);
    agree += wrong.empty() ? 1 : 0;
    exact += wrong.empty() && sums_nothing(sample->graph) ? 1 : 0;
    refused += is_refusal(wrong) ? 1 : 0;
    if (!wrong.empty() && !is_refusal(wrong))
      FAIL_CHECK(std::filesystem::path(stem).stem().string() << ": " << wrong.substr(0, 3000));
  }
  std::cout << fmt::format(
      "operator samples: {} agree by loop kernels, {} of them to the bit, with edge values too; {} "
      "refused, {} with operators that don't lower\n",
      agree, exact, refused, others);
  for (const auto& [op, count] : missing) std::cout << fmt::format("{} {}; ", op, count);
  std::cout << "\n";
  const int share = kSanitized ? 6 : 1;  // a quarter is tried, and not every quarter is alike
  CHECK(agree > (samples.has_large ? 1281 : 249) / share);
  CHECK(exact > (samples.has_large ? 538 : 94) / share);
}

// One sample in sixteen, one in four of the repository's; all of them with RECUT_SAMPLE_STEP=1.
TEST_CASE("operator samples as machine code and WebAssembly", "[codegen][cpu][opinfo]") {
  const Samples samples;
  const char* given = std::getenv("RECUT_SAMPLE_STEP");
  const std::size_t usual = samples.has_large ? 16 : 4;
  const std::size_t step = given == nullptr ? usual : std::strtoull(given, nullptr, 10);
  const std::vector<std::string>& stems = samples.stems;
  int agree = 0;
  for (std::size_t i = 0; i < stems.size(); i += std::max<std::size_t>(step, 1)) {
    const auto sample = read_sample(stems[i]);
    if (!sample || !missing_lowering(sample->graph).empty()) continue;
    const std::string wrong = disagreement(sample->graph, sample->inputs, {}, true);
    agree += wrong.empty() ? 1 : 0;
    if (!wrong.empty() && !is_refusal(wrong))
      FAIL_CHECK(std::filesystem::path(stems[i]).stem().string() << ": " << wrong.substr(0, 3000));
  }
  std::cout << fmt::format("operator samples as machine code{}: {} agree\n",
                           test::has_node() ? " and as WebAssembly" : "", agree);
  CHECK(agree > 40);
}

// Samples of derivative rules (tests/autodiff): every operator with a rule.
std::vector<std::string> derivative_samples() {
  std::vector<std::string> lines;
  for (const char* name : {"smooth.txt", "once.txt"}) {
    std::ifstream file(std::string(RECUT_SOURCE_DIR "/tests/autodiff/samples/") + name);
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

TEST_CASE("operators and their gradients by loop kernels", "[codegen]") {
  int agree = 0, refused = 0, others = 0;
  std::map<std::string, int> missing;
  for (const std::string& line : tried(derivative_samples())) {
    INFO(line);
    const auto graph = sample_graph(line);
    const auto joint = graph ? differentiate(*graph) : Result<Graph>(error("no graph"));
    if (!joint) continue;
    if (const std::string op = missing_lowering(*joint); !op.empty()) {
      ++others;
      ++missing[op];
      continue;
    }
    const std::string wrong = disagreement(*joint, inputs_for(*joint, 1, Values::ordinary), {});
    agree += wrong.empty() ? 1 : 0;
    refused += is_refusal(wrong) ? 1 : 0;
    if (!wrong.empty() && !is_refusal(wrong)) FAIL_CHECK(line << ": " << wrong.substr(0, 3000));
  }
  std::cout << fmt::format("with gradients: {} samples agree, {} refused, {} don't lower\n", agree,
                           refused, others);
  for (const auto& [op, count] : missing) std::cout << fmt::format("{} {}; ", op, count);
  std::cout << "\n";
  CHECK(agree > 631 / (kSanitized ? 6 : 1));
}

TEST_CASE("whole steps by fused kernels", "[codegen]") {
  for (const std::string name : {"tiny_mlp", "tiny_conv"}) {
    INFO(name);
    const auto sample = read_sample(RECUT_SOURCE_DIR "/samples/joint/" + name, ".json.gz");
    REQUIRE(sample.has_value());
    const StorageModel storages(sample->graph, StorageModel::Sizes::values);
    KernelRunOptions options;
    options.groups = fuse_pointwise(sample->graph, storages);
    CHECK(disagreement(sample->graph, sample->inputs, options).substr(0, 3000) == "");
  }
}

// As many graphs as RECUT_RANDOM_GRAPHS says, also as machine code and WebAssembly.
TEST_CASE("random graphs by fused kernels", "[codegen][cpu]") {
  const char* given = std::getenv("RECUT_RANDOM_GRAPHS");
  const std::uint64_t count = given == nullptr ? tries(60) : std::strtoull(given, nullptr, 10);
  std::uint64_t agree = 0, refused = 0;
  for (std::uint64_t seed = 1; agree + refused < count; ++seed) {
    const Graph graph = random_graph(seed);
    if (!missing_lowering(graph).empty()) continue;
    const StorageModel storages(graph, StorageModel::Sizes::values);
    KernelRunOptions options;
    options.groups = fuse_pointwise(graph, storages);
    const Inputs inputs = inputs_for(graph, seed, Values::ordinary);
    const std::string wrong = disagreement(graph, inputs, options, true);
    (is_refusal(wrong) ? refused : agree) += 1;
    if (!wrong.empty() && !is_refusal(wrong))
      FAIL_CHECK("seed " << seed << ": " << wrong.substr(0, 3000));
  }
  std::cout << fmt::format("random graphs by fused kernels: {} agree, {} refused\n", agree,
                           refused);
  CHECK(agree > 3 * refused);
}

TEST_CASE("operators that have a lowering", "[codegen]") {
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
  CHECK(pointwise_lowered >= 275);
}

}  // namespace
}  // namespace recut::test
