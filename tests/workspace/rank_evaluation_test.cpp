// Graphs with collectives on all ranks of one process.
#include "engine/workspace/rank_evaluation.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/graph_file_reader.h"

namespace recut {
namespace {

Result<RankEvaluation> on_ranks(const std::string& calls, std::int64_t ranks) {
  const std::string text =
      "graph \"spmd\" {\n  %w = parameter f32[4, 3]\n  %x = input f32[2, 4]\n" + calls + "}\n";
  const auto file = read_graph_bytes(text, "spmd.recut");
  if (!file) FAIL(format(file.diagnostics()));
  RankEvaluationRequest request;
  request.ranks = ranks;
  request.seed = 1;
  return evaluate_on_ranks(file->graph, request);
}

TEST_CASE("ranks: a sum over all of them is the same on each", "[mesh]") {
  const auto evaluation = on_ranks(
      "  %y = mm(%x, %w)\n  %r = _c10d_functional.all_reduce(%y, \"sum\", \"0\")\n"
      "  %s = _c10d_functional.wait_tensor(%r)\n  results %y, %s\n",
      4);
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  REQUIRE(evaluation->outputs.size() == 2);
  CHECK_FALSE(evaluation->outputs[0].equal);
  CHECK(evaluation->outputs[1].equal);
  CHECK(evaluation->peak_bytes.size() == 4);
  CHECK(rank_evaluation_text(*evaluation).find("the same bits") != std::string::npos);
  CHECK(rank_evaluation_json(*evaluation).find("\"equal\": true") != std::string::npos);
}

TEST_CASE("ranks: two groups are refused, whose ranks nobody knows", "[mesh]") {
  const auto evaluation = on_ranks(
      "  %r = _c10d_functional.all_reduce(%x, \"sum\", \"0\")\n"
      "  %s = _c10d_functional.wait_tensor(%r)\n"
      "  %t = _c10d_functional.all_reduce(%s, \"sum\", \"3\")\n"
      "  %u = _c10d_functional.wait_tensor(%t)\n  results %u\n",
      4);
  REQUIRE_FALSE(evaluation.ok());
  CHECK(evaluation.diagnostics().front().message ==
        "the collectives name the groups 0, 3, expected one, of all ranks: the file doesn't say "
        "which ranks each has");
}

TEST_CASE("ranks: a missing input is an error of its rank without a seed", "[mesh]") {
  const auto file = read_graph_bytes(
      "graph \"one\" {\n  %x = input f32[2]\n  %y = neg(%x)\n  results %y\n}\n", "one.recut");
  REQUIRE(file.ok());
  RankEvaluationRequest request;
  request.ranks = 2;
  const auto evaluation = evaluate_on_ranks(file->graph, request);
  REQUIRE_FALSE(evaluation.ok());
  CHECK(evaluation.diagnostics().front().message ==
        "rank 0: tensor 'in.x' is missing, expected f32[2]");
}

TEST_CASE("ranks: a group of another size than the call's is refused", "[mesh]") {
  const auto evaluation = on_ranks(
      "  %g = _c10d_functional.all_gather_into_tensor(%x, 8, \"0\")\n"
      "  %s = _c10d_functional.wait_tensor(%g)\n  results %s\n",
      4);
  REQUIRE_FALSE(evaluation.ok());
  CHECK(evaluation.diagnostics().front().message ==
        "rank 0, node 'g': it is a call of 8 ranks, and its group '0' has 4");
}

}  // namespace
}  // namespace recut
