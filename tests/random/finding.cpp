#include "tests/random/finding.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/workspace/debug_bundle.h"
#include "engine/workspace/open_document.h"
#include "tests/native/temporary_folder.h"
#include "tests/random/random_graph.h"

namespace recut::test {

std::string leave_finding(const Graph& graph, std::uint64_t seed, const std::string& problem,
                          const std::string& folder) {
  GraphFile file;
  file.graph = graph;
  OpenOptions options;
  options.passes.emplace();
  const auto document = open_document_graph(std::move(file), "random", options);
  if (!document) return "no debug bundle: " + format(document.diagnostics());
  DebugRequest request;
  request.seed = seed;
  request.finding = problem + "\n";
  request.scheduling.planning.cost_model = "fused";
  request.rerun = {{"run", kBundleGraph, "--no-passes", "--check", "--seed", std::to_string(seed)},
                   "DIFFERS|error"};
  const auto bundle = debug_bundle(*document, request);
  if (!bundle) return "no debug bundle: " + format(bundle.diagnostics());
  const std::filesystem::path to = std::filesystem::path(folder) / fmt::format("random-{}", seed);
  for (const BundleFile& part : bundle->files) {
    std::filesystem::create_directories((to / part.path).parent_path());
    std::ofstream(to / part.path, std::ios::binary) << part.bytes;
  }
  return fmt::format("a debug bundle is in {}\nnext: sh {}/run.sh, python3 {}/run.py\n",
                     to.string(), to.string(), to.string());
}

namespace {

TEST_CASE("a random graph with a fault leaves a debug bundle", "[random]") {
  const TemporaryFolder folder;
  const std::string told = leave_finding(random_graph(7), 7, "values: a fault", folder.path());
  const std::string bundle = folder.path() + "/random-7";
  CHECK(told.find("sh " + bundle + "/run.sh") != std::string::npos);
  std::ifstream readme(bundle + "/README.md");
  const std::string text{std::istreambuf_iterator<char>(readme), {}};
  CHECK(text.find("values: a fault") != std::string::npos);
  CHECK(std::filesystem::exists(bundle + "/graph.recut"));
}

}  // namespace
}  // namespace recut::test
