#include "engine/workspace/mesh_comparison.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/workspace/open_document.h"
#include "engine/workspace/sharded_document.h"
#include "tests/paths.h"

namespace recut {
namespace {

MeshComparison compared_over(std::int64_t devices, std::optional<std::int64_t> memory) {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/recompute.recut", {});
  REQUIRE(document.ok());
  MeshComparisonRequest request;
  request.devices = devices;
  request.memory_bytes = memory;
  const auto comparison = compare_meshes(*document, request, "recompute");
  if (!comparison) FAIL(format(comparison.diagnostics()));
  return *comparison;
}

TEST_CASE("mesh comparison: every mesh once, the quickest first", "[mesh]") {
  const MeshComparison comparison = compared_over(4, std::nullopt);
  std::vector<std::string> meshes;
  for (const MeshRow& row : comparison.rows) meshes.push_back(row.mesh + " " + row.preset);
  std::vector<std::string> sorted = meshes;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  // Two styles of dp=4, three styles each of tp=4 and of both styles of dp=2.
  CHECK(meshes.size() == 2 + 3 + 6);
  CHECK(std::is_sorted(
      comparison.rows.begin(), comparison.rows.end(),
      [](const MeshRow& a, const MeshRow& b) { return a.step_micros < b.step_micros; }));
  CHECK(compared_over(1, std::nullopt).rows.size() == 1);
}

TEST_CASE("mesh comparison: memory is of inputs and peak together", "[mesh]") {
  const MeshComparison free = compared_over(4, std::nullopt);
  const auto least =
      std::min_element(free.rows.begin(), free.rows.end(),
                       [](const MeshRow& a, const MeshRow& b) { return a.bytes() < b.bytes(); });
  const std::int64_t memory = least->bytes();
  const MeshComparison bounded = compared_over(4, memory);
  REQUIRE(bounded.rows.front().holds);
  CHECK_FALSE(bounded.rows.back().holds);
  bool before = true;  // rows that hold come first
  for (const MeshRow& row : bounded.rows) {
    CHECK(row.holds == (row.bytes() <= memory));
    CHECK((before || !row.holds));
    before = row.holds;
  }
  const auto json = nlohmann::json::parse(mesh_comparison_json(bounded));
  CHECK(json["memory_bytes"] == memory);
  CHECK(json["meshes"].size() == bounded.rows.size());
  CHECK(mesh_comparison_text(bounded).find("too large") != std::string::npos);
}

TEST_CASE("mesh comparison: a row is the plan of its mesh", "[mesh]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/recompute.recut", {});
  REQUIRE(document.ok());
  for (const MeshRow& row : compared_over(4, std::nullopt).rows) {
    const auto rank = shard_document(*document, {row.mesh, row.preset, {}, {}, 0}, "recompute");
    REQUIRE(rank.ok());
    const auto planned = plan_document(*rank, {});
    REQUIRE(planned.ok());
    CHECK(planned->report.peak_bytes == row.peak_bytes);
  }
}

}  // namespace
}  // namespace recut
