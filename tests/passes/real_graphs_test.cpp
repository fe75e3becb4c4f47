// The passes on graphs of real models: all keep the pass contract, a second run changes nothing,
// the results can be planned, and small models are bit-exact.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "engine/input/graph_file_reader.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/passes/runner.h"
#include "tests/partition/joint_files.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

// Few enough nodes, and small enough values, to be interpreted within a second.
bool is_tiny(const std::string& path) {
  return std::filesystem::path(path).filename().string().rfind("tiny_", 0) == 0;
}

bool can_be_planned(const Graph& graph) {
  const auto outcome = make_plan(graph, {"default", NoBudget{}});
  return outcome && replay(graph, outcome->plan);
}

TEST_CASE("passes on graphs of real models", "[passes]") {
  for (const std::string& path : joint_files()) {
    INFO(path);
    const auto file = read_graph_file(path);
    if (!file) FAIL(format(file.diagnostics()));
    const auto report = run_passes(file->graph, default_passes());
    REQUIRE(report.ok());
    if (report->failure) FAIL(report->failure->pass + " " + report->failure->message);
    CHECK(report->changed());
    const auto again = run_passes(report->graph(), default_passes());
    REQUIRE_FALSE(again->failure);
    CHECK_FALSE(again->changed());
    CHECK(can_be_planned(report->graph()));
    if (is_tiny(path)) CHECK(test::difference(file->graph, report->graph()) == "");
  }
}

}  // namespace
}  // namespace recut
