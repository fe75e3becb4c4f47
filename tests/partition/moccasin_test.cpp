// Node-link graphs: accepted files, and the message of each refusal.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "engine/input/bytes.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/moccasin.h"
#include "tests/partition/problems.h"
#include "tests/paths.h"

namespace recut {
namespace {

std::string refusal(std::string_view json) {
  const auto read = parse_moccasin(json, "g.json");
  REQUIRE(!read.ok());
  return read.diagnostics().front().message;
}

constexpr std::string_view kTwo =
    R"({"graph": {}, "nodes": [{"id": 7, "cost_ram": 10, "cost_cpu": 3}, {"id": 4, "cost_ram": 5, "cost_cpu": 2}],)";

TEST_CASE("moccasin: nodes, links and a plain order", "[partition]") {
  const auto read = parse_moccasin(
      std::string(kTwo) + R"("links": [{"source": 4, "target": 7}, {"source": 4, "target": 7}]})",
      "g.json");
  REQUIRE(read.ok());
  CHECK(read->names == std::vector<std::string>{"4", "7"});
  CHECK(read->problem.duration(0) == 2);
  CHECK(read->problem.bytes(1) == 10);
  CHECK(read->problem.reads(1).size() == 1);
  CHECK(measured_peak(read->problem, read->problem.order) == 15);
}

TEST_CASE("moccasin: faults are named", "[partition]") {
  const std::string two(kTwo);
  CHECK(refusal("[]") == "the file is no JSON object");
  CHECK(refusal("{}") == "there is no list 'nodes'");
  CHECK(refusal(two + R"("links": [{"source": 4, "target": 9}]})") ==
        "a link's 'target' is '9', which is no node");
  CHECK(refusal(two + R"("links": [{"source": 4, "target": 7}, {"source": 7, "target": 4}]})") ==
        "the links form a cycle");
  CHECK(refusal(R"({"nodes": [{"id": 1, "cost_ram": -1, "cost_cpu": 3}], "links": []})") ==
        "node '1': 'cost_ram' (or 'out_cost') is no number of bytes from 0");
  CHECK(
      refusal(
          R"({"nodes": [{"id": 1, "cost_ram": 9223372036854775807, "cost_cpu": 3}], "links": []})") ==
      "node '1': the numbers of this graph add up to too much");
  CHECK(refusal(R"({"graph": {"order": [7, 4]}, "nodes": [{"id": 7, "cost_ram": 1, "cost_cpu": 1},
                {"id": 4, "cost_ram": 1, "cost_cpu": 1}], "links": [{"source": 4, "target": 7}]})") ==
        "'order' runs '7' before '4', which it needs");
}

TEST_CASE("moccasin: the published graphs have the published start peaks", "[partition]") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/moccasin/";
  const std::pair<const char*, std::int64_t> known[] = {
      {"random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", 46'319},
      {"random_layered_n250_w0.43_nlv0.75_ed0.2_scd0.14.json", 146'840},
      {"fcn_8_vgg_32_416_608_3_train.json", 13'484'795'520},
      {"ResNet50_256_224_224_3_train.json", 38'059'356'160}};
  for (const auto& [name, peak] : known) {
    if (!std::filesystem::exists(folder + name)) SKIP("no folder shared/moccasin");
    CAPTURE(name);
    const auto bytes = read_file(folder + name);
    REQUIRE(bytes.ok());
    const auto read = parse_moccasin(*bytes, name);
    REQUIRE(read.ok());
    CHECK(measured_peak(read->problem, read->problem.order) == peak);
  }
}

// The least increase in duration that others published for a graph and a budget (FastSA, NeurIPS
// 2023, table 1), here with half of the usual effort.
TEST_CASE("moccasin: plans are no dearer than published ones", "[partition]") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/moccasin/";
  struct Published {
    const char* name;
    int percent;
    double increase;
  };
  const Published known[] = {{"random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", 80, 0.003},
                             {"random_layered_n250_w0.43_nlv0.75_ed0.2_scd0.14.json", 70, 0.026},
                             {"random_layered_n500_w0.36_nlv0.75_ed0.2_scd0.14.json", 80, 0.023},
                             {"random_layered_n1000_w0.31_nlv0.75_ed0.2_scd0.14.json", 70, 0.074},
                             {"fcn_8_vgg_32_416_608_3_train.json", 70, 0.03},
                             {"ResNet50_256_224_224_3_train.json", 70, 0.008}};
  for (const auto& [name, percent, increase] : known) {
    if (!std::filesystem::exists(folder + name)) SKIP("no folder shared/moccasin");
    CAPTURE(name);
    const auto bytes = read_file(folder + name);
    REQUIRE(bytes.ok());
    const auto read = parse_moccasin(*bytes, name);
    REQUIRE(read.ok());
    const RematProblem& p = read->problem;
    const std::int64_t budget = peak::peak_of(p, p.order) * percent / 100;
    peak::SolveOptions options;
    options.effort = peak::default_effort(p, 0.5);
    const peak::Outcome found = peak::search(p, budget, options);
    REQUIRE(found.holds);
    CHECK(measured_peak(p, found.sequence) == found.peak);
    CHECK(found.peak <= budget);
    CHECK(static_cast<double>(found.overhead) <=
          increase * static_cast<double>(p.total_duration()));
  }
}

}  // namespace
}  // namespace recut
