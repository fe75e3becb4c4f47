// A graph over a mesh: placements, collectives and bytes of the chain in samples/recompute.recut.
#include "engine/workspace/sharding_report.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/input/graph_file_reader.h"
#include "tests/paths.h"

namespace recut {
namespace {

constexpr const char* kMegatron = R"(parameters
  w1      [R, S(1)]
  w2      [R, S(0)]
  w3      [R, S(1)]
  w4      [R, S(0)]
inputs
  x       [S(0), R]
  y_grad  [S(0), R]
)";

Result<ShardingReport> chain_over(const std::string& mesh, const std::string& placements) {
  const auto file = read_graph_file(RECUT_SOURCE_DIR "/samples/recompute.recut");
  REQUIRE(file.ok());
  return shard_graph(file->graph, {mesh, {}, placements, "p"});
}

std::ptrdiff_t count_of(const ShardingReport& report, const std::string& axis,
                        const std::string& collective) {
  return std::count_if(report.collectives.begin(), report.collectives.end(),
                       [&](const ShardingCollective& c) {
                         return c.axis == axis && c.collective == collective && c.bytes > 0;
                       });
}

TEST_CASE("sharding: Megatron's layers and a batch that is cut", "[mesh]") {
  const auto report = chain_over("dp=2,tp=4", kMegatron);
  if (!report) FAIL(format(report.diagnostics()));
  // One all_reduce for each pair of layers and direction, but x has no gradient; and one for each
  // weight's gradient, of which a rank has a quarter.
  CHECK(count_of(*report, "tp", "all_reduce") == 3);
  CHECK(count_of(*report, "dp", "all_reduce") == 4);
  for (const ShardingCollective& c : report->collectives)
    if (c.value == "w1_grad") CHECK(c.bytes == 1024);
  CHECK(report->collectives.size() == 8);
  // A quarter of each weight, half of the batch: 32 x 8 and 32 x 32 of f32.
  CHECK(report->inputs[0].rank_bytes == 1024);
  CHECK(report->inputs[4].rank_bytes == 4096);
  const auto json = nlohmann::json::parse(sharding_json(*report));
  CHECK(json["mesh"] == "dp=2,tp=4");
  CHECK(json["bytes_sent"] == report->bytes_sent());
  CHECK(sharding_text(*report).find("sent by a rank in a step") != std::string::npos);
}

// Ranks of dp swap shards with those of tp before dp gathers: 512 B and 512 B. To gather tp first
// and cut again would send 512 B and 2 KiB.
TEST_CASE("sharding: a dimension that two axes cut is gathered by the cheapest steps", "[mesh]") {
  const auto report = chain_over("dp=2,tp=4", R"(parameters
  w1      [S(0), S(0)]
inputs
  x       [S(0), R]
  y_grad  [S(0), R]
)");
  if (!report) FAIL(format(report.diagnostics()));
  std::vector<std::string> steps;
  std::int64_t bytes = 0;
  for (const ShardingCollective& c : report->collectives)
    if (c.value == "w1") {
      steps.push_back(c.collective + " " + c.axis);
      bytes += c.bytes;
    }
  CHECK(steps == std::vector<std::string>{"reorder ", "all_gather dp"});
  CHECK(bytes == 1024);
}

TEST_CASE("sharding: without placements every rank does all, and sends nothing", "[mesh]") {
  const auto report = chain_over("dp=8", "");
  REQUIRE(report.ok());
  CHECK(report->bytes_sent() == 0);
  CHECK(report->input_bytes() == 4 * 4096 + 2 * 8192);
}

TEST_CASE("sharding: a graph that is distributed already is refused", "[mesh]") {
  const auto file = read_graph_bytes(
      "graph \"part\" {\n  %x = input f32[2]\n"
      "  %r = _c10d_functional.all_reduce(%x, \"sum\", \"0\")\n"
      "  %s = _c10d_functional.wait_tensor(%r)\n  results %s\n}\n",
      "part.recut");
  REQUIRE(file.ok());
  const auto report = shard_graph(file->graph, {"dp=2", {}, {}, {}});
  REQUIRE_FALSE(report.ok());
  CHECK(report.diagnostics().front().message ==
        "the graph has the collective 'r' and is one rank's part already, expected the graph of "
        "the whole model");
}

TEST_CASE("sharding: mistakes in a placement file have their lines", "[mesh]") {
  const auto report = chain_over("dp=2", "parameters\n  w9  [S(0)]\n");
  REQUIRE_FALSE(report.ok());
  CHECK(report.diagnostics().front().line == 2);
}

}  // namespace
}  // namespace recut
