// All ranks in one process: programs with other collectives than the first one's are refused.
#include "engine/runtime/local_ranks.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/text.h"
#include "engine/partition/strategy.h"
#include "engine/schedule/make_schedule.h"

namespace recut {
namespace {

struct Rank {
  Graph graph;
  Program program;
};

Rank rank_of(const std::string& calls) {
  auto graph = parse_graph_text("graph \"g\" {\n  %x = input f32[2]\n" + calls + "}\n", "test");
  REQUIRE(graph.ok());
  const KernelModel kernels(*graph);
  const auto plan = make_plan(*graph, {"default", NoBudget{}});
  REQUIRE(plan.ok());
  const auto schedule = make_schedule(*graph, kernels, plan->plan);
  REQUIRE(schedule.ok());
  ProgramOptions options;
  options.collectives = true;
  auto program = make_program(*graph, kernels, *schedule, options);
  REQUIRE(program.ok());
  return {std::move(*graph), std::move(*program)};
}

mesh::GroupTable groups() {
  mesh::GroupTable table;
  REQUIRE(table.add("tp", {{0, 1}}).ok());
  return table;
}

std::string refusal(const Rank& first, const Rank& second) {
  const auto ranks = LocalRanks::connect(
      {{&first.graph, &first.program}, {&second.graph, &second.program}}, groups());
  return ranks ? "" : ranks.diagnostics().front().message;
}

const std::string kReduce =
    "  %a = _c10d_functional.all_reduce(%x, \"sum\", \"tp\")\n"
    "  %w = _c10d_functional.wait_tensor(%a)\n";

TEST_CASE("local ranks: a collective is a start and a wait between launches", "[runtime][mesh]") {
  const Rank rank = rank_of(
      "  %y = neg(%x)\n  %a = _c10d_functional.all_reduce(%y, \"sum\", "
      "\"tp\")\n  %w = _c10d_functional.wait_tensor(%a)\n  %z = exp(%w)\n"
      "  results %z\n");
  REQUIRE(rank.program.collectives.size() == 2);
  const CollectiveStep &start = rank.program.collectives[0], &wait = rank.program.collectives[1];
  CHECK(start.before == 1);
  CHECK_FALSE(start.started);
  CHECK(start.inputs.size() == 1);
  CHECK(start.outputs.size() == 1);
  CHECK(wait.started == std::size_t{0});
  CHECK(wait.before == 1);
  CHECK(rank.program.launches.size() == 2);
  CHECK(refusal(rank, rank) == "");
}

TEST_CASE("local ranks: all ranks make the same calls", "[runtime][mesh]") {
  const Rank rank = rank_of(kReduce + "  results %w\n");
  const Rank none = rank_of("  %y = neg(%x)\n  results %y\n");
  const Rank broadcast = rank_of(
      "  %a = _c10d_functional.broadcast(%x, 0, \"tp\")\n"
      "  %w = _c10d_functional.wait_tensor(%a)\n  results %w\n");
  const Rank elsewhere = rank_of(
      "  %a = _c10d_functional.all_reduce(%x, \"sum\", \"dp\")\n"
      "  %w = _c10d_functional.wait_tensor(%a)\n  results %w\n");
  CHECK(refusal(rank, none).find("rank 1 has 0 starts") != std::string::npos);
  CHECK(refusal(rank, broadcast).find("rank 0 calls") != std::string::npos);
  CHECK(refusal(rank, elsewhere).find("group 'dp'") != std::string::npos);
  CHECK(refusal(elsewhere, elsewhere).find("no group is named 'dp'") != std::string::npos);
}

}  // namespace
}  // namespace recut
