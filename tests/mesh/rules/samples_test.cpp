// Proves the rules of every operator on PyTorch's operator samples.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/eval/inputs.h"
#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/mesh/rules/rule_text.h"
#include "tests/golden/golden.h"
#include "tests/mesh/rules/valued_graph.h"
#include "tests/paths.h"

using namespace recut;
using namespace recut::test;

namespace {

std::set<std::string> sample_stems(const std::filesystem::path& folder) {
  std::set<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors")
      stems.insert((folder / entry.path().stem()).string());
  return stems;
}

// None where the interpreter has no values of the sample.
std::optional<ValuedGraph> read_sample(const std::string& stem) {
  auto file = read_graph_file(stem + ".json");
  const auto bytes = read_file(stem + ".safetensors");
  if (!file || !bytes) return std::nullopt;
  const auto tensors = parse_safetensors(*bytes, stem);
  if (!tensors) return std::nullopt;
  const auto inputs = inputs_from(file->graph, *tensors);
  if (!inputs) return std::nullopt;
  auto found = with_values(std::move(file->graph), *inputs);
  if (!found) return std::nullopt;
  return std::move(*found);
}

void prove_samples(const std::filesystem::path& folder, std::size_t least) {
  std::size_t tried = 0;
  std::string problems;
  for (const std::string& stem : sample_stems(folder)) {
    const auto sample = read_sample(stem);
    if (!sample) continue;
    for (const std::int64_t ranks : {2, 3}) {
      const RuleReport report = check_rules(*sample, ranks);
      tried += report.tried;
      if (!report.problems.empty())
        problems += std::filesystem::path(stem).filename().string() + ": " + report.problems;
    }
  }
  CHECK(problems == "");
  CHECK(tried >= least);
}

}  // namespace

TEST_CASE("rules: every strategy is right on the samples of operators", "[mesh][rules]") {
  prove_samples(RECUT_SOURCE_DIR "/tests/conformance/samples", 1'000);
}

TEST_CASE("rules: every strategy is right on all samples of PyTorch", "[mesh][rules][opinfo]") {
  const std::filesystem::path folder = RECUT_SOURCE_DIR "/../shared/opinfo";
  if (!std::filesystem::is_directory(folder)) SKIP("there is no folder ../shared/opinfo");
  prove_samples(folder, 10'000);
}

// The list may only shrink: an operator without a rule is replicated, whatever it is given.
TEST_CASE("rules: operators that are whole in every dimension", "[mesh][rules]") {
  const std::string path = RECUT_SOURCE_DIR "/tests/mesh/rules/whole_operators.txt";
  std::string found;
  for (const Operator& op : all_operators())
    if (!op.is(kInput | kCollective | kWait) && mesh::rule_texts(op).empty())
      found += std::string(op.name) + "\n";
  if (blessing()) std::ofstream(path) << found;
  std::stringstream expected;
  expected << std::ifstream(path).rdbuf();
  INFO("accept it:  RECUT_BLESS=1, the same test");
  CHECK(found == expected.str());
}
